/* The whole text of a document, its labels, and documents like it. */
let reading = 0;
extras.drawer.push((d, marks) => fillDrawer(rowsHere[d], marks));

/** Open a document by its row, on this page or not. */
function openRow(row, marks = []) {
  const d = placeOfRow().get(row), dialog = $('#drawer');
  if (d != null) { openDoc(d, marks); return; }
  $('#dr-in').replaceChildren(el('h2', { class: 'txt', id: 'dr-t', tabindex: -1, dir: 'auto', text: `Document ${N(row + 1)}` }), el('p', { class: 'ex txt', id: 'dr-ex', dir: 'auto' }), el('p', { class: 'note', id: 'dr-note' }), el('div', { id: 'dr-facts' }), el('div', { id: 'dr-near' }));
  $('#dr-id').textContent = '';
  if (dialog.open) $('#dr-t').focus(); else dialog.showModal();
  dialog.scrollTop = 0;
  fillDrawer(row, marks);
}
async function fillDrawer(row, marks) {
  const turn = ++reading, note = $('#dr-note'), text = $('#dr-ex'), similar = $('#dr-near') || $('#dr-in').appendChild(el('div', { id: 'dr-near' }));
  similar.tabIndex = -1;
  note.replaceChildren(waitLine('Opening the whole text…'));
  text.after(note);
  $('#dr-t').after(labelBox(() => [row], 'this document'), el('p', { class: 'jump' }, linkButton('Documents like this one', () => { similar.scrollIntoView(); similar.focus({ preventScroll: true }); })));
  const here = () => turn === reading && $('#drawer').open;
  try {
    const result = await ask('document', { query: { row }, waiting: said => { if (here()) note.replaceChildren(waitLine(said)); } });
    if (!here()) return;
    $('#dr-id').textContent = result.id;
    $('#dr-t').textContent = result.title || result.id;
    text.classList.add('whole');
    text.replaceChildren(...markedText(result.text, marks));
    note.textContent = result.cut ? `Its first ${N(result.text.length)} characters.` : result.text ? '' : 'This document is empty.';
    const facts = $('#dr-facts');
    if (facts) facts.replaceChildren(el('h3', { class: 'minor', text: 'About this document' }), el('dl', {}, ...[['Name', result.id], ...Object.entries(result.columns || {}), ['Words', result.words == null ? null : N(result.words)]].filter(([, v]) => v != null && v !== '').flatMap(([a, b]) => [el('dt', { class: 'txt', text: a }), el('dd', { class: 'txt', dir: 'auto', text: String(b) })])));
    $('mark', text)?.scrollIntoView({ block: 'center' });
  } catch (e) { if (here()) note.replaceChildren(faultLine(e)); }
  const list = answersIn(similar);
  await list.ask('similar', { query: { row, top: 10 } }, result => {
    const hits = result.hits.filter(h => h.row !== row), rows = [row, ...hits.map(h => h.row)];
    if (!hits.length) return [el('h3', { class: 'minor', text: 'Most similar documents' }), notice('None: this document has no words to compare by.')];
    return [el('h3', { class: 'minor', text: 'Most similar documents' }), el('ul', { class: 'docs' }, ...hits.map(h => hitItem({ ...h, snippet: null }, `${Number(h.score).toFixed(2)} similar`))), sc ? el('div', { class: 'rowbtns' }, button('Show them on the map', () => selectRows(rows, `Like “${$('#dr-t').textContent}”`))) : null];
  });
}
/** A text with words marked, as nodes. */
function markedText(text, marks) {
  const words = marks.filter(Boolean).map(w => w.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\s+/g, '\\s+'));
  if (!words.length) return [text];
  const parts = text.split(new RegExp(`(?<![\\p{L}\\p{N}])(${words.sort((a, b) => b.length - a.length).join('|')})(?![\\p{L}\\p{N}])`, 'giu'));
  return parts.map((part, i) => (i % 2 ? el('mark', { text: part }) : part));
}
