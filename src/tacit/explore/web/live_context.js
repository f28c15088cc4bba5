/* Concordance: every use of a word with what stands around it, the word in the middle. */
const SORTS = [['document', 'Document'], ['left', 'Before'], ['right', 'After']];
const LINES = 50;
let sortedBy = 'document', contextOf = '';
let contextPlace = null;

function context() {
  contextPlace = answersIn($('#lines'));
  const seg = $('#csort');
  for (const [value, text] of SORTS) seg.append(el('button', { class: 'btn', type: 'button', text, 'aria-pressed': String(value === sortedBy), on: { click: e => { sortedBy = value; $$('button', seg).forEach(b => b.setAttribute('aria-pressed', b === e.currentTarget)); if (contextOf) showContext(contextOf); } } }));
  $('#cf').addEventListener('submit', e => { e.preventDefault(); showContext($('#cq').value); });
}
function showContext(text) {
  const q = contextOf = text.trim(), sort = sortedBy;
  $('#cq').value = text;
  if (!q) { contextPlace.clear(); return; }
  const query = start => ({ q, sort, width: 72, top: LINES, start });
  return contextPlace.ask('concordance', { query: query(0) }, result => {
    say(`${plural(result.total, 'use')} of ${q} in ${plural(result.documents, 'document')}`);
    if (!result.total) return [notice(`“${q}” is not used in any document.`), result.note ? notice(result.note, 'note') : null];
    const body = el('tbody'), some = result.total > 1 ? 'uses' : 'use';
    const add = lines => body.append(...lines.map(l => el('tr', {},
      el('td', { class: 'l' }, el('span', { class: 'txt', dir: 'auto', text: l.left })),
      el('td', { class: 'k' }, el('button', { type: 'button', class: 'txt', text: l.key, 'aria-label': `${l.key}, open ${l.id}`, title: l.id, on: { click: () => openRow(l.row, [q.toLowerCase(), l.key.toLowerCase()]) } })),
      el('td', { class: 'r' }, el('span', { class: 'txt', dir: 'auto', text: l.right })),
      el('td', { class: 'd txt', dir: 'auto', text: l.id }))));
    let start = result.lines.length;
    const more = linkButton('', async () => {
      more.disabled = true;
      try { const next = await ask('concordance', { query: query(start) }); if (contextOf !== q || sortedBy !== sort) return; add(next.lines); fitLines(); start = next.lines.length ? start + next.lines.length : result.total; name(); } catch (e) { more.replaceWith(faultLine(e)); }
      more.disabled = false;
    });
    const name = () => { more.hidden = start >= result.total; more.textContent = moreOf(LINES, result.total - start); };
    add(result.lines); name();
    return [el('p', { class: 'note', text: `${N(result.total)} ${some} in ${plural(result.documents, 'document')}.${result.note ? ' ' + result.note : ''}` }),
      el('table', { class: 'kwic' }, el('caption', { class: 'vh', text: `Uses of ${q} in context` }), el('colgroup', {}, ...['l', 'k', 'r', 'd'].map(c => el('col', { class: c }))), el('thead', {}, el('tr', {}, ...['Before', 'Word', 'After', 'Document'].map(text => el('th', { scope: 'col' }, el('span', { class: 'vh', text }))))), body), more];
  }).then(fitLines);
}
/** Leave whole words at both edges of every line, as many as fit; the document has the others. */
function fitLines() {
  for (const cell of $$('#lines td.l, #lines td.r')) {
    const line = cell.firstChild, end = cell.classList.contains('l'), words = (cell.full ??= line.textContent).match(/\s*\S+\s*/g) || [];
    line.textContent = cell.full;
    while (words.length > 1 && line.scrollWidth > cell.clientWidth) { if (end) words.shift(); else words.pop(); line.textContent = words.join(''); }
  }
}
sections.push({ start() {}, resize: fitLines });
function contextFor(text) { if ($('#drawer').open) $('#drawer').close(); showContext(text); $('#context').scrollIntoView(); $('#cq').focus({ preventScroll: true }); }
