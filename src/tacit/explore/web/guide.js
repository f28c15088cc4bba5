/* A guided start: three things to try, in the page above the map, so that it covers nothing. Who closes it, or has tried all
   three, does not see it on this page again. */
const GUIDE = `tacit-guide:${location.pathname}`;
const remembered = () => { try { return localStorage.getItem(GUIDE); } catch { return null; } };
function forgetGuide() { try { localStorage.setItem(GUIDE, 'done'); } catch { /* then it comes back */ } }
/** The value of a column that most documents have. */
function commonest(f) {
  const by = M.fields[f].values.map(() => 0);
  for (const kind of A.field[f]()) if (M.fields[f].values[kind] !== '(none)') by[kind]++;
  return by.indexOf(Math.max(...by));
}
function guide() {
  const host = $('#guide');
  if (!host || !sc || remembered()) return;
  const largest = M.grouped ? G.reduce((a, b) => (b.n > a.n ? b : a)) : null, steps = [];
  if (largest) steps.push(['Pick a group', `Every color is a group of documents. Click a name on the map or in the list beside it.`, 'Show the largest', () => select(kindFilter(levelOrOwn(M.level), largest.i))]);
  else steps.push(['Open a document', 'Every dot is a document; near ones use the same words. Click a dot to read it.', 'Open one', () => openDoc(0)]);
  const value = M.fields.findIndex(f => !f.guessed), kind = value >= 0 ? commonest(value) : 0, narrowing = M.grouped && G.some(g => g.lvl === 'firm') && G.some(g => g.lvl !== 'firm') ? ['Keep firm groups', () => narrow(verdictFilter('firm'))] : value >= 0 ? [`Keep ${M.fields[value].name.slice(0, 24)}: ${M.fields[value].values[kind].slice(0, 24)}`, () => narrow(kindFilter(fieldScheme(value), kind))] : null;
  if (narrowing) steps.push(['Narrow it down', 'Click a value, a period or a verdict anywhere on this page. Filters add up, and everything follows.', ...narrowing]);
  else steps.push(['Move about', 'Drag to move, click and turn the wheel to zoom, or use the arrow keys, plus and minus.', 'Zoom in', () => $('#zin').click()]);
  if (!M.redacted) steps.push(['Search and share', 'Find documents by word, or draw around some. The address keeps what you see: copy it to share the view.', 'Search', () => { $('#q').focus(); }]);
  else steps.push(['Select and share', 'Draw around documents. The address keeps what you see: copy it to share the view.', 'Draw', () => { setTool('lasso'); $('#gl').focus(); }]);
  const tried = new Set(), close = () => { forgetGuide(); host.hidden = true; };
  host.hidden = false;
  host.replaceChildren(el('h3', { class: 'vh', text: 'Three things to try' }), el('ol', {}, ...steps.map(([head, text, act, f], i) => {
    const item = el('li', {}, el('b', { text: head }), el('p', { text }), linkButton(act, () => { tried.add(i); item.classList.add('tried'); if (tried.size === steps.length) forgetGuide(); f(); }));
    return item;
  })), el('button', { class: 'iconbtn', type: 'button', 'aria-label': 'Close the guide', on: { click: () => { close(); $('#q').focus({ preventScroll: true }); } } }, svg('svg', { viewBox: '0 0 20 20', 'aria-hidden': 'true' }, svg('path', { d: 'M5 5l10 10M15 5L5 15' }))));
  host.addEventListener('keydown', e => { if (e.key === 'Escape') { e.stopPropagation(); close(); $('#gl').focus({ preventScroll: true }); } });
}
sections.push({ start: guide });
