/* Words: what is used like what, where, and how words are distributed. */
let looked = null; // the word looked up last, until another is typed: what was suggested for it stays
function lookup(w, scroll) {
  if (!$('#w')) return;
  w = looked = w.trim().toLowerCase();
  const t = termAt().get(w), sug = $('#sugs');
  $('#w').value = w; sug.replaceChildren();
  if (scroll) { if ($('#drawer').open) $('#drawer').close(); if (max) setMax(false); $('#words').scrollIntoView(); }
  extras.known?.(); // an answer about another word comes too late
  if (t == null) { if (w && extras.unknown) extras.unknown(w); else suggest(w); return; }
  const count = M.termDf[t], near = M.wordNear, box = el('div', { class: 'nbs' });
  for (let j = 0; j < near; j++) {
    const q = A.wordNear()[near * t + j], s = A.wordSim()[near * t + j] / 255;
    if (q === t) continue; // left out of the page
    box.append(el('button', { class: 'txt', text: M.terms[q], on: { click: () => lookup(M.terms[q]) } }), el('span', { class: 'b', 'aria-hidden': 'true' }, el('i', { css: { width: pct(s) } })), el('span', { class: 'v', text: s.toFixed(2) }), el('span', { class: 'd', text: plural(M.termDf[q], 'document') }));
  }
  const few = count < 20 ? ' Few documents: treat its neighbors as hints.' : '';
  const out = [el('p', { class: 'note txt', text: `“${w}” is in ${plural(count, 'document')} (${pct(count / M.total, 1)}), ${plural(M.termTf[t], 'use')}.${few}` }), el('h3', { class: 'minor', text: 'Used in similar contexts' }), box];
  if (M.grouped && !M.redacted) {
    const by = new Uint32Array(K);
    for (const d of docsWith(t)) by[A.cluster[d]]++;
    out.push(...groupBars(G.map((g, i) => by[i] / Math.max(1, g.worded))));
  }
  out.push(el('div', { class: 'rowbtns' }, sc && !M.redacted ? button('Show on the map', () => { $('#q').value = w; search(w); toMap(); }) : null, ...extras.word.flatMap(more => more(w))));
  $('#nb').replaceChildren(...out);
}
/** In what part of the documents of each group a word is, in the order of the tree. */
function groupBars(parts) {
  const most = Math.max(...parts, 1e-9), best = nameOf(G[parts.indexOf(Math.max(...parts))]), bars = el('div', { class: 'spread', role: 'img', 'aria-label': `Most common in ${best}, ${pctS(most)} of documents` });
  parts.forEach((v, i) => bars.append(el('i', { class: 'g' + i, title: `${nameOf(G[i])}: ${pctS(v)} of documents`, css: { height: pct(v / most, 1) } })));
  return [el('h3', { class: 'minor', text: 'Where it is used' }), bars, el('p', { class: 'note txt', text: `Percentage of each group’s documents, groups in tree order. Highest: ${best}, ${pctS(most)}.` })];
}
function suggest(w) {
  const some = w ? M.terms.filter(x => x.startsWith(w)).slice(0, 8) : [];
  if (some.length) $('#sugs').replaceChildren('Did you mean', ...some.map(p => linkButton(p, () => lookup(p))));
  else $('#sugs').textContent = w ? `“${w}” is not among the ${N(M.terms.length)} most widespread words.` : 'Type a word, or click any word in this report.';
}
function words() {
  const input = $('#w');
  if (input) {
    $('#wf').addEventListener('submit', e => { e.preventDefault(); lookup(input.value); });
    input.addEventListener('input', debounce(() => { const w = input.value.trim().toLowerCase(); if (w === looked) return; looked = null; if (termAt().has(w)) lookup(w); else suggest(w); }, 90));
    lookup(M.word0);
  }
  const ul = $('#wd');
  if (ul) for (const [w, g, a, t] of M.distinct) ul.append(el('li', { class: 'g' + g }, el('i', { class: 'sw', title: nameOf(G[g]) }), el('button', { class: 'txt', text: w, on: { click: () => lookup(w, true) } }), el('span', { class: 'v', text: `${N(a)} of ${N(t)}` })));
  const top = $('#topwords');
  if (top) for (const [w, uses, docs] of M.top) top.append(el('li', {}, el('i'), el('span', { class: 'txt', text: w }), el('span', { class: 'v', text: `${plural(uses, 'use')}, ${plural(docs, 'document')}` })));
  $('#about')?.addEventListener('toggle', drawW);
  drawW();
}
function drawW() {
  if (!$('#zipf')) return;
  logChart($('#zipf'), M.zipf, M.zipfSlope, 'rank of the word', 'How often words occur, by rank, both on logarithmic axes');
  logChart($('#heaps'), M.heaps, M.heapsSlope, 'words read so far', 'Different words seen, by words read so far, both on logarithmic axes');
}
sections.push({ start: words, resize: drawW });
