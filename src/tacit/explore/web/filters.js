/* Filters: what narrows the documents down. There is one filter for each dimension (groups, a column,
   time, verdicts, a search, a shape on the map), and documents pass all of them. What passes is the
   selection: the map, the legend, tables, charts and lists follow it. A filter is
   {kind, label, docs, dim, code}; code is its pair in the address. */
const filters = new Map();
const followers = []; // of sections: called when what passes has changed
const dimOf = s => s.dim || s.kind;
const sameFilter = (a, b) => !!a?.code && !!b.code && a.code.join() === b.code.join();
const chipLabel = s => s.chip || s.label;

/** These documents alone, whatever was selected before; null for all. */
function select(s, opt = {}) {
  filters.clear();
  if (s) filters.set(dimOf(s), s);
  applyFilters(opt);
}
/** These among the documents that pass the other filters. Choosing the same again takes it back. */
function narrow(s, opt = {}) {
  if (sameFilter(filters.get(dimOf(s)), s)) filters.delete(dimOf(s));
  else { filters.delete(dimOf(s)); filters.set(dimOf(s), s); }
  applyFilters(opt);
}
function dropFilter(dim, opt = {}) { if (filters.delete(dim)) applyFilters({ nofly: true, ...opt }); }
/** 1 for every document that passes, without the filter of one dimension; null where all do. */
function passing(except) {
  const list = [...filters].filter(([dim]) => dim !== except).map(([, s]) => s);
  if (!list.length) return null;
  const times = new Uint8Array(n);
  for (const s of list) for (const d of s.docs) times[d]++;
  return times.map(t => (t === list.length ? 1 : 0));
}
function selectionOf(list) {
  if (list.length < 2) return list[0] || null;
  const on = passing(), docs = [], searched = list.find(s => s.kind === 'search');
  for (let d = 0; d < n; d++) if (on[d]) docs.push(d);
  return { ...(searched ? { q: searched.q, rank: searched.rank, note: searched.note } : {}), kind: 'several', label: list.map(chipLabel).join('; '), docs };
}
function applyFilters({ nofly, quiet, reason } = {}) {
  const s = state.sel = selectionOf([...filters.values()]), q = $('#q');
  state.side = 'selection';
  flags(s && s.docs); paint(); panel(); chipRow();
  for (const follow of followers) follow();
  if (!filters.has('search') && q.value) { q.value = ''; $('#qx').hidden = true; }
  if (!quiet) say(s ? `${plural(s.docs.length, 'document')} of ${N(n)} selected: ${s.label}${s.off?.length ? `, and ${N(s.off.length)} that ${s.off.length === 1 ? 'is' : 'are'} not on the map` : ''}` : 'Selection cleared');
  if (s && !nofly && s.kind !== 'lasso') fit(s.docs);
  keepAddress(reason);
}
/* The row of what is active, under the bar of the page. */
function chipOf(s, after) {
  const text = chipLabel(s);
  return el('li', {}, el('button', { class: 'chip', title: 'Remove this filter', 'aria-label': `Remove the filter ${text}`, on: { click: () => { dropFilter(dimOf(s)); after?.(); } } },
    el('span', { class: 'txt', dir: 'auto', text }), svg('svg', { viewBox: '0 0 12 12', 'aria-hidden': 'true' }, svg('path', { d: 'M3 3l6 6M9 3l-6 6' }))));
}
function chipRow() {
  const row = $('#filters'), some = filters.size > 0, bar = $('.bar'), focused = row.contains(document.activeElement);
  row.hidden = !some;
  const refocus = () => ($('.chip', row) || $('#gl')).focus({ preventScroll: true });
  if (some) row.replaceChildren(el('div', {},
    el('b', { class: 'num', text: `${N(state.sel.docs.length)} of ${N(n)}` }), el('span', { class: 'vh', text: ' documents pass these filters' }),
    el('ul', { 'aria-label': 'Active filters' }, ...[...filters.values()].map(s => chipOf(s, refocus))),
    linkButton(filters.size > 1 ? 'Clear all' : 'Clear', clearSel),
    linkButton('Show on the map', () => { toMap(); $('#side').focus({ preventScroll: true }); })));
  else if (focused) $('#gl').focus({ preventScroll: true });
  document.documentElement.style.setProperty('--bar', bar.offsetHeight + 'px');
  const q = $('#q'), hidden = q === document.activeElement && !max ? bar.offsetHeight + 12 - q.getBoundingClientRect().top : 0;
  if (hidden > 0) scrollBy({ top: -hidden, behavior: 'instant' }); // the row came between
}
/* Filters of every dimension. */
function kindFilter(s, c) {
  const docs = [];
  for (let i = 0; i < n; i++) if (s.cat(i) === c) docs.push(i);
  const label = s.field ? `${s.field.name}: ${s.names[c]}` : s.names[c];
  return { kind: s.what, label, docs, ...kindCode(s, c), ...(s.what === 'group' ? { chip: `Group: ${shortened(label)}` } : {}) };
}
/** The dimension of a kind, and its pair in the address. */
function kindCode(s, c) {
  if (s.what[0] === 'f' && s.field) return { dim: s.what, code: [s.what, s.names[c]] };
  if (s.what !== 'group') return { dim: 'label' }; // labels may be others tomorrow
  return { dim: 'group', code: s.nodes ? ['n', String(M.levels[s.level][c])] : s.k ? ['kg', `${s.k}.${c}`] : ['g', String(c)] };
}
const shortened = name => (name.length > 44 ? name.split(' · ').slice(0, 2).join(' · ').slice(0, 44) : name);
function verdictFilter(level) {
  const docs = [];
  for (let i = 0; i < n; i++) if (G[A.cluster[i]].lvl === level) docs.push(i);
  return { kind: 'verdict', label: `${LEVEL[level]} groups`, docs, code: ['v', level] };
}
/** The documents of the periods from a to b. */
function timeFilter(a, b = a) {
  const names = M.time.periods, lo = Math.min(a, b), hi = Math.max(a, b), docs = [], at = A.period();
  for (let i = 0; i < n; i++) if (at[i] > lo && at[i] <= hi + 1) docs.push(i);
  return { kind: 'time', from: lo, to: hi, label: `Time: ${lo === hi ? names[lo] : `${names[lo]} to ${names[hi]}`}`, docs, code: ['t', lo === hi ? String(lo) : `${lo}.${hi}`] };
}
function oddFilter() {
  const docs = [];
  for (let i = 0; i < n; i++) if (A.odd?.[i]) docs.push(i);
  return { kind: 'odd', label: 'Unlike all others', docs, code: ['odd', '1'] };
}
/** What is inside a shape, given by its corners in the plane of the map. */
function shapeFilter(path, label = 'Drawn selection') {
  const step = Math.max(1, Math.ceil(path.length / 2 / 60)), corners = [];
  for (let i = 0; i < path.length; i += 2 * step) corners.push(`${Math.round(1e4 * path[i])}.${Math.round(1e4 * path[i + 1])}`);
  return { kind: 'lasso', label, docs: sc.inside(path), code: [label === 'Drawn selection' ? 'shape' : 'view', corners.join('_')] };
}
/** A button for a verdict: only the groups that have it. */
function verdictButton(level, inside) {
  const b = el('button', { class: 'vb', type: 'button', title: `Only ${LEVEL[level].toLowerCase()} groups`, on: { click: () => narrow(verdictFilter(level)) } }, ...inside);
  b.setAttribute('aria-pressed', String(filters.get('verdict')?.code[1] === level));
  return b;
}
/** The key of the summary: every verdict that some group has is a button. */
function summaryKey() {
  const key = $('.strip-cap .key'), on = passing();
  if (!key || !sc) return;
  const focused = key.contains(document.activeElement) ? document.activeElement.dataset.v : null;
  key.replaceChildren(...['firm', 'tentative', 'loose'].map(level => {
    const inside = [el('i', { class: `fill-${level}` }), level];
    if (!G.some(g => g.lvl === level)) return el('span', {}, ...inside);
    const b = verdictButton(level, inside);
    b.dataset.v = level;
    return b;
  }));
  if (focused) $(`[data-v=${focused}]`, key)?.focus({ preventScroll: true });
  $$('.strip a').forEach((a, i) => a.classList.toggle('out', !!on && !G[i].docs.some(d => on[d])));
}
followers.push(summaryKey);
sections.push({ start: summaryKey, resize: chipRow });
