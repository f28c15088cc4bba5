/* Every group: its stability, its contrast words, typical and borderline documents. */
let curG = 0;
function overlaps(g) { // a tick for each repeat, the median as a dot
  const w = 136, x = v => 4 + v * (w - 8);
  const s = svg('svg', { viewBox: `0 0 ${w} 22`, role: 'img', 'aria-label': `Median overlap ${g.med.toFixed(2)}, range ${g.jac[0].toFixed(2)} to ${g.jac.at(-1).toFixed(2)}` });
  s.append(svg('path', { class: 'stx', d: `M${x(0)} 11H${x(1)}M${x(.5)} 7v8M${x(.75)} 7v8` }));
  for (const v of g.jac) s.append(svg('path', { class: 'stk', d: `M${x(v).toFixed(1)} 5v12` }));
  s.append(svg('circle', { class: 'stm', cx: x(g.med), cy: 11, r: 4.2 }));
  return s;
}
function groups() {
  if (!$('#gt')) return;
  const body = $('#gt tbody'), axis = svg('svg', { viewBox: '0 0 136 22', 'aria-hidden': 'true' });
  for (const [v, anchor, t] of [[0, 'start', '0'], [.5, 'middle', '.5'], [.75, 'middle', '.75'], [1, 'end', '1']]) axis.append(svg('text', { class: 'axt', x: 4 + v * 128, y: 18, 'text-anchor': anchor, text: t }));
  $('#gt .axis').append(axis);
  G.forEach((g, i) => {
    const more = g.words.map(w => w[0]).filter(w => !g.name.some(p => p.toLowerCase().split(' ').some(q => alike(q, w) || q === w))).slice(0, 2), row = el('tr', { 'data-g': i });
    if (!i) row.append(el('td', { class: 'dend', rowspan: K, 'aria-hidden': 'true' }));
    row.append(
      el('td', { class: 'nm' }, el('button', { 'aria-expanded': 'false', 'aria-controls': 'gd', on: { click: () => pickGroup(i, true) } },
        el('i', { class: 'sw g' + i }), el('span', { class: 'w txt' }, el('b', { text: g.name[0] }), [...g.name.slice(1), ...more].map(w => ' · ' + w).join('')))),
      el('td', { class: 'sz' }, el('span', { class: 'szbar g' + i })),
      el('td', { class: 'st' }, overlaps(g)),
      el('td', { class: 'cf' }, el('span', {}, sureIcon(g.lvl), el('span', { class: 't', text: LEVEL[g.lvl] }))));
    body.append(row);
  });
  groupSizes(); followers.push(groupSizes, () => { const g = filteredGroup(); if (g != null && g !== curG) pickGroup(g); });
  tree(body);
  insideGroups();
  new ResizeObserver(debounce(() => { place(); tree(body); }, 80)).observe($('#gt'));
  pickGroup(M.firstG);
}
/** The group that the filters name, of those in the table. */
const filteredGroup = () => { const s = filters.get('group'); return s?.code?.[0] === 'g' ? +s.code[1] : null; };
/** The size of every group, or how many of its documents pass the filters. */
function groupSizes() {
  const on = passing('group'), most = Math.max(...G.map(g => g.n));
  $$('#gt tr[data-g]').forEach((row, i) => {
    const g = G[i], inside = on ? g.docs.reduce((a, d) => a + on[d], 0) : g.n, size = on ? g.docs.length : g.n;
    row.classList.toggle('out', !!on && !inside);
    $('.szbar', row).replaceChildren(...[el('i', { class: on && 'all', css: { width: Math.max(2, 56 * g.n / most).toFixed(1) + 'px' } }, on && inside ? el('u', { css: { width: pct(inside / size, 1) } }) : null), N(inside), on ? el('span', { class: 'vh', text: ` of ${N(size)} pass the filters` }) : null].filter(Boolean));
  });
}
function tree(body) { // drawn to the measured rows
  const cell = $('.dend', body);
  if (!cell.offsetWidth || !M.merges.length) return;
  const W = cell.offsetWidth - 6, top = cell.getBoundingClientRect().top, heights = M.merges.map(m => m[2]), hi = Math.max(...heights), lo = .8 * Math.min(...heights);
  const node = $$('tr[data-g]', body).map(r => { const b = r.getBoundingClientRect(); return [W, b.top + b.height / 2 - top]; });
  let d = '';
  M.merges.forEach((m, j) => {
    const a = node[m[0]], b = node[m[1]], x = W - (W - 4) * (m[2] - lo) / (hi - lo || 1);
    d += `M${a[0].toFixed(1)} ${a[1].toFixed(1)}H${x.toFixed(1)}V${b[1].toFixed(1)}H${b[0].toFixed(1)}`;
    node[K + j] = [x, (a[1] + b[1]) / 2];
  });
  cell.replaceChildren(svg('svg', { width: W + 6, height: cell.offsetHeight }, svg('path', { d })));
}
/** Broad groups, the groups shown and what is inside them as a list of lists, opened down to the groups shown. */
function insideGroups() {
  const host = $('#gtl');
  if (!host) return;
  const below = M.nodes.map(() => []), top = [], broad = new Set(M.broad == null ? [] : M.levels[M.broad]);
  const leads = M.nodes.map(() => false), first = M.nodes.map(node => node.group ?? Infinity); // leads to a group that is shown, and to which first
  for (let i = M.nodes.length - 1; i >= 0; i--) {
    const up = M.nodes[i].up;
    if (up >= 0 && first[i] < Infinity) { leads[up] = true; first[up] = Math.min(first[up], first[i]); }
  }
  const listed = M.nodes.map((_, i) => !leads[i] || broad.has(i)); // other levels above the groups shown are on the slider
  M.nodes.forEach((node, i) => {
    let up = node.up;
    while (up >= 0 && !listed[up]) up = M.nodes[up].up;
    if (listed[i]) (up < 0 ? top : below[up]).push(i);
  });
  for (const items of [top, ...below]) items.sort((a, b) => first[a] - first[b] || a - b); // as in the table
  const show = i => {
    const g = M.nodes[i], cut = M.levels.findIndex(level => level.includes(i));
    setLevel(cut);
    const s = scheme();
    select(kindFilter(s, s.nodes ? M.levels[cut].indexOf(i) : g.group));
    toMap();
  };
  const list = items => el('ul', { class: 'gtree' }, ...items.map(i => {
    const g = M.nodes[i], inner = below[i].length ? list(below[i]) : null, name = nameOf(g);
    const toggle = inner && el('button', { class: 'twist', 'aria-expanded': String(leads[i]), 'aria-label': `Groups inside ${name}`, on: { click: () => { inner.hidden = !inner.hidden; toggle.setAttribute('aria-expanded', !inner.hidden); } } });
    if (inner) inner.hidden = !leads[i];
    return el('li', {}, el('div', { class: 'row' + (g.group != null ? ' here g' + g.group : '') }, toggle || el('span', { class: 'twist' }),
      el('button', { class: 'nm', title: 'Show on the map', on: { click: () => show(i) } }, g.group != null ? el('i', { class: 'sw' }) : null, el('span', { class: 'txt', dir: 'auto', text: name })),
      el('span', { class: 'n', text: N(g.n) }), sureIcon(g.lvl), el('span', { class: 'vh', text: LEVEL[g.lvl] })), inner);
  }));
  host.replaceChildren(list(top));
}
function pickGroup(i, user) {
  if (!$('#gd')) return;
  curG = i;
  if (user) keepAddress('group');
  const g = G[i], d = $('#gd');
  d.className = 'detail g' + i;
  $$('#gt tr[data-g]').forEach((r, j) => { r.classList.toggle('on', j === i); $('button', r).setAttribute('aria-expanded', j === i); });
  d.replaceChildren(...groupDetail(g));
  place(user);
}
function groupDetail(g) {
  const i = g.i, verdict = {
    firm: `Firm. In a typical repeat, the most similar group overlaps with this one by ${pct(g.med)}.`,
    tentative: `Tentative. Most repeats find it, with other documents at its edges (typical overlap ${pct(g.med)}).`,
    loose: `Loose. It falls apart in most repeats (typical overlap ${pct(g.med)}). Do not rely on it as a group of its own.`,
  }[g.lvl];
  const near = g.near.length ? [` Closest ${g.near.length > 1 ? 'groups' : 'group'}: `, ...g.near.slice(0, 2).flatMap((j, q) => [q ? '; ' : '', el('bdi', { text: shortName(G[j]) })]), '.'] : [];
  const list = (head, items) => (items.length ? [el('h4', { text: head }), el('ul', { class: 'docs' }, ...items)] : []);
  return [
    el('h3', { class: 'txt', text: nameOf(g) }),
    ...(g.title ? [el('p', { class: 'sub txt', dir: 'auto' }, 'Most typical: ', el('q', { text: g.title }))] : []),
    g.edited ? el('p', { class: 'sub' }, el('b', { text: { merged: 'Merged by hand.', split: 'Split off by hand.', pinned: 'Pinned: its documents stay together in later runs.' }[g.edited] || '' })) : null,
    el('p', { class: 'sub' }, sureIcon(g.lvl), ' ' + verdict),
    el('p', { class: 'sub txt' }, `${plural(g.n, 'document')}, ${pct(g.n / M.total, 1)} of the collection.`, ...near),
    el('div', { class: 'rowbtns' }, button('Show on the map', () => { state.color = 'group'; state.k = null; state.level = M.level; syncK(); syncLevel(); select(kindFilter(scheme(), i)); toMap(); }), ...extras.group.flatMap(more => more(g))),
    el('h4', { text: 'Contrast words' }), wordBars(g.words.slice(0, 8).map(w => ({ w: w[0], p: w[1], q: w[2] }))),
    ...M.fields.flatMap((f, j) => [el('h4', { class: 'txt', text: f.name }), fieldBars(g, j)]),
    ...list('Most typical', g.typ.slice(0, 3).map(q => docItem(q))),
    ...list('Borderline', g.bord.slice(0, 3).map(([q, j]) => docItem(q, `nearly ${shortName(G[j])}`)))].filter(Boolean);
}
/** Which values of a column a group has more of than the others: bar = frequency here, tick = elsewhere. */
function fieldBars(g, j) {
  const f = M.fields[j], kinds = A.field[j](), inside = new Uint32Array(f.values.length), all = new Uint32Array(f.values.length), size = g.docs.length, box = el('div', { class: 'cw' });
  for (let i = 0; i < n; i++) all[kinds[i]]++;
  for (const d of g.docs) inside[kinds[d]]++;
  const top = [...inside.keys()].filter(v => inside[v]).sort((a, b) => inside[b] - inside[a]).slice(0, 4);
  for (const v of top) {
    const p = inside[v] / size, q = (all[v] - inside[v]) / Math.max(1, n - size);
    box.append(el('button', { class: 'txt', dir: 'auto', title: `Only ${f.name}: ${f.values[v]}`, text: f.values[v], on: { click: () => narrow(kindFilter(fieldScheme(j), v)) } }), el('span', { class: 'b', 'aria-hidden': 'true' }, el('i', { css: { width: pct(p, 1) } }), el('u', { css: { left: pct(Math.min(1, q), 1) } })), el('span', { class: 'v', text: `${pctS(p)} / ${pctS(q)}` }));
  }
  return box;
}
function place(user) { // beside the table, or under its row where there is no room
  const d = $('#gd'), small = matchMedia('(max-width:860px)').matches;
  if (small) {
    const row = $(`#gt tr[data-g="${curG}"]`);
    if (row.nextSibling?.classList?.contains('idr') && row.nextSibling.contains(d)) return;
    const cell = el('td', { class: 'indet', colspan: 6 }, d);
    $('#gt .idr')?.remove();
    row.after(el('tr', { class: 'idr' }, cell));
    if (user) row.scrollIntoView({ block: 'start' });
    return;
  }
  if (d.parentNode !== $('#ggrid')) $('#ggrid').append(d);
  $('#gt .idr')?.remove();
}
sections.push({ start: groups });
