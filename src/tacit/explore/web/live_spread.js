/* Spreading labels to the rest: a job, how well it did on documents it had not seen, and which
   documents would teach it most. */
let spreadJob = null;
const NEXT = 12; // documents to label next
const NONE = -2; // instead of a label: like none of the labeled documents
const spreadOf = row => {
  const s = labeled.spread;
  return s && s.names[row] != null && s.names[row] >= 0 ? { kind: s.names[row], name: s.classes[s.names[row]], sure: s.sure[row] } : null;
};
function setupSpread() {
  spreadJob = jobIn(el('div', { id: 'spreadjob' }), { name: 'Spreading labels', end: async result => { if (result.ok) { await loadLabels(); if (sc && labeled.spread) toast('Labels spread. The map can be colored by them'); } else drawSpread(true); } });
}
function drawSpread(keep) {
  const box = $('#spreadbox'), s = labeled.spread, kinds = labeled.names.length, count = labeled.names.reduce((a, l) => a + l.count, 0);
  const go = button(s ? 'Spread again' : 'Spread to the rest', () => { spreadJob.start({ kind: 'spread' }); drawSpread(true); }, { disabled: kinds < 2 || spreadJob.running, class: 'btn go' });
  const kids = [];
  if (kinds < 2) kids.push(notice(kinds ? 'One label is not enough: give some documents a second one, so that there is something to tell apart.' : 'Two labels or more are needed, each on a few documents.'));
  else if (!s) kids.push(notice(`A classifier learns from the ${plural(count, 'document')} you labeled and guesses for all others.`));
  else kids.push(...spreadWords(s));
  kids.push(el('div', { class: 'rowbtns' }, go, s && sc ? button('Color the map by it', () => colorBy('spread')) : null));
  if (!keep && !spreadJob.running) spreadJob.host.replaceChildren();
  box.replaceChildren(...kids, spreadJob.host);
  drawNext();
}
/** How sure the spread is, in words: {score, low, high} of documents it had not seen. */
function spreadWords(s) {
  const by = new Uint32Array(s.classes.length), out = [];
  let sure = 0, all = 0;
  s.names.forEach((k, row) => { if (k >= 0 && !labeled.rows.has(row)) { by[k]++; all++; if (s.sure[row] >= .8) sure++; } });
  if (s.check) out.push(el('p', { class: 'txt', text: checkWords(s.check) }));
  if (s.none) out.push(el('p', { class: 'note', text: `${plural(s.none, 'document')} ${s.none === 1 ? 'is' : 'are'} like none of those you labeled, and ${s.none === 1 ? 'gets' : 'get'} none of these labels.` }));
  if (all) out.push(el('p', { class: 'note', text: `${plural(all, 'document')} got a guess; ${N(sure)} (${pct(sure / Math.max(1, all))}) of them are sure, with four chances in five or more.` }));
  const most = Math.max(1, s.none || 0, ...by), bars = el('div', { class: 'cw' });
  s.classes.forEach((name, i) => bars.append(el('span', { class: 'txt', dir: 'auto', text: name }), el('span', { class: `b p${Math.max(0, labelSlot(name))}`, 'aria-hidden': 'true' }, el('i', { class: 'own', css: { width: pct(by[i] / most, 1) } })), el('span', { class: 'v', text: N(by[i]) })));
  if (s.none) bars.append(el('span', { text: 'None of these' }), el('span', { class: 'b podd', 'aria-hidden': 'true' }, el('i', { class: 'own', css: { width: pct(Math.min(1, s.none / most), 1) } })), el('span', { class: 'v', text: N(s.none) }));
  out.push(bars);
  if (s.none) out.push(el('div', { class: 'rowbtns' }, button('Show those with none of these labels', () => selectRows(s.names.flatMap((k, row) => (k === NONE ? [row] : [])), 'None of these labels'))));
  if (s.stale) out.push(notice('Labels have changed since. Spread again to take that in.', 'note'));
  if (s.note) out.push(notice(s.note, 'note'));
  return out;
}
function checkWords(check) {
  if (check.accuracy == null) return check.note || 'There are too few labels to check how well it does.';
  const [low, high] = check.interval || [], digits = low != null && pct(low) === pct(high) ? 1 : 0, range = low == null ? '' : ` (likely between ${pct(low, digits)} and ${pct(high, digits)})`;
  return `For documents like those you labeled: checked on labeled documents it had not seen, it was right in ${pct(check.accuracy, digits)} of ${N(check.labeled)}${range}.`;
}
/** Documents whose labels would teach it most, and labels it would have given otherwise. */
function drawNext() {
  const s = labeled.spread, item = (row, note) => hitItem({ row, ...nameOfRow(row) }, note), box = $('#next');
  const open = (s?.doubtful || []).filter(d => !labeled.rows.has(d.row)).slice(0, NEXT), odd = (s?.reconsider || []).filter(d => labeled.rows.get(d.row) === d.label).slice(0, NEXT), kids = [];
  if (open.length) kids.push(el('div', { class: 'block' }, el('h3', { class: 'sub3', text: 'What to label next' }), el('p', { class: 'note', text: 'The documents it is least sure of. Their labels teach it most.' }),
    longList(el('ul', { class: 'docs' }), open, d => item(d.row, `${d.name} or ${d.other}? ${pct(d.sure)} sure`), 6)));
  const strange = (s?.strangers || []).filter(row => !labeled.rows.has(row)).slice(0, NEXT);
  if (strange.length) kids.push(el('div', { class: 'block' }, el('h3', { class: 'sub3', text: 'Like none of these' }), el('p', { class: 'note', text: 'Perhaps they need a label of their own.' }),
    longList(el('ul', { class: 'docs' }), strange, row => item(row, ''), 6)));
  if (odd.length) kids.push(el('div', { class: 'block' }, el('h3', { class: 'sub3', text: 'Labels to look at again' }), el('p', { class: 'note', text: 'Without their label it would have guessed another.' }),
    longList(el('ul', { class: 'docs' }), odd, d => item(d.row, `would have said ${d.other}`), 6)));
  box.replaceChildren(...kids);
}
const nameOfRow = row => { const d = placeOfRow().get(row); return d == null ? { title: `Document ${N(row + 1)}` } : { title: title(d), snippet: opening(d) ? [[opening(d), false]] : null }; };
