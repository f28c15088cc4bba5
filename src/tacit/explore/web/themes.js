/* Themes: every document a mixture. The slider moves from common to distinctive words. */
let relevanceWeight = .6;
const T = M.themes;
function themeRank(i) { // Sievert and Shirley's relevance
  return T.list[i].words.map(w => [...w, Math.log(w[1]) - (1 - relevanceWeight) * Math.log(w[2])]).sort((a, b) => b[5] - a[5]);
}
const themeName = (i, m = 2) => themeRank(i).slice(0, m).map(w => w[0]).join(' · ');
/** The main themes of a document: [theme, share], the largest first. */
function themesOf(d) {
  const m = T.main, out = [];
  for (let j = 0; j < m; j++) { const v = A.themeShare()[m * d + j] / 255; if (v > .05) out.push([A.themes()[m * d + j], v]); }
  return out;
}
function withTheme(i, least = .25) {
  const docs = [];
  for (let d = 0; d < n; d++) if (themesOf(d).some(([t, v]) => t === i && v >= least)) docs.push(d);
  return docs;
}
const themeFilter = i => ({ kind: 'theme', label: `Theme: ${themeName(i, 3)}`, docs: withTheme(i), code: ['theme', String(i)], note: 'Documents with a quarter or more of their text in this theme.' });
function themes() {
  if (!$('#tt')) return;
  const body = $('#tt tbody'), most = Math.max(...T.list.map(t => t.size));
  if (T.groups) G.forEach(g => $('#hh').append(el('i', { class: 'g' + g.i, title: nameOf(g) })));
  T.list.forEach((t, i) => {
    const words = el('div', { class: 'thw' }), open = el('button', { class: 'chev', 'aria-expanded': 'false', 'aria-label': `Theme ${i + 1}: ${themeName(i, 3)}` }, svg('svg', { viewBox: '0 0 12 12', 'aria-hidden': 'true' }, svg('path', { d: 'M4 2l4 4-4 4' })));
    const row = el('tr', { class: 'r' }, el('td', { class: 'ex' }, open), el('td', { class: 'wd_' }, words),
      el('td', { class: 'sh' }, el('span', { class: 'szbar' }, el('i', { css: { width: Math.max(2, 56 * t.size / most).toFixed(1) + 'px' } }), pct(t.size, 1))),
      el('td', { class: 'ts' }, el('span', { title: `Cosine with the most similar theme of a second run: ${t.stability.toFixed(2)}` }, sureIcon(t.lvl), el('span', { class: 't', text: LEVEL[t.lvl] }))),
      T.groups ? el('td', { class: 'ht' }, heatCells(i)) : null);
    const more = el('tr', { class: 'dr', hidden: true }, el('td', { colspan: T.groups ? 5 : 4 }));
    row.addEventListener('click', () => { more.hidden = !more.hidden; open.setAttribute('aria-expanded', !more.hidden); row.classList.toggle('open', !more.hidden); if (!more.hidden) more.firstChild.replaceChildren(themeDetail(i)); });
    body.append(row, more); t.words_ = words; t.more = more;
  });
  $('#lam').addEventListener('input', e => { relevanceWeight = 1 - e.target.value / 100; drawThemeWords(); });
  drawThemeWords();
}
function drawThemeWords() {
  T.list.forEach((t, i) => {
    const best = themeRank(i).slice(0, 8), most = Math.max(...best.map(w => w[1]));
    t.words_.replaceChildren(...best.map(w => el('span', { class: 'txt', dir: 'auto' }, w[0], el('i', { css: { width: Math.max(3, 54 * w[1] / most).toFixed(1) + 'px' } }))));
    if (!t.more.hidden) t.more.firstChild.replaceChildren(themeDetail(i));
  });
}
/** How much of each group belongs to a theme, groups in the order of the tree. */
function heatCells(i) {
  const values = G.map((_, g) => T.groups[g][i]), order = [...values.keys()].sort((a, b) => values[b] - values[a]).slice(0, 3);
  const s = svg('svg', { class: 'heat', viewBox: `0 0 ${K * 16} 26`, preserveAspectRatio: 'none', role: 'img', 'aria-label': `Strongest in ${order.map(g => `${shortName(G[g])} ${pct(values[g])}`).join(', ')}` });
  values.forEach((v, g) => {
    const cell = svg('rect', { x: g * 16 + 1, y: 2, width: 14, height: 22, rx: 1, 'fill-opacity': clamp(Math.pow(v / .75, .75), .05, 1).toFixed(3) });
    cell.addEventListener('mouseenter', () => { $('#heatread').textContent = `The theme ${themeName(i)} makes up ${pct(v)} of the group ${nameOf(G[g])}.`; cell.classList.add('h'); });
    cell.addEventListener('mouseleave', () => cell.classList.remove('h'));
    s.append(cell);
  });
  return s;
}
function themeDetail(i) {
  const t = T.list[i], best = themeRank(i).slice(0, 14), most = Math.max(...best.map(w => w[4])), bars = el('div', { class: 'cw' });
  for (const w of best) bars.append(el('button', { class: 'txt', dir: 'auto', text: w[0], title: `Look up “${w[0]}”`, on: { click: () => lookup(w[0], true) } }),
    el('span', { class: 'b', 'aria-hidden': 'true' }, el('i', { class: 'all', css: { width: pct(w[4] / most, 1) } }), el('i', { css: { width: pct(w[3] * w[4] / most, 1) } })), el('span', { class: 'v', text: pctS(w[3]) }));
  const left = [el('h4', { class: 'txt', text: `Words of theme ${i + 1}` }), el('p', { class: 'note', text: 'Gray: all uses in the collection. Color: uses that belong to this theme.' }), bars];
  if (T.time) left.push(el('h4', { text: 'Over time' }), themeTime(i));
  const right = [el('h4', { text: 'Representative documents' }), el('ul', { class: 'docs' }, ...t.typ.map(([d, v]) => docItem(d, `${pct(v)} this theme${groupOf(d) ? `, in the group ${nameOf(groupOf(d))}` : ''}`))),
    el('div', { class: 'rowbtns' }, button('Show on the map', () => { select(themeFilter(i)); toMap(); })),
    ...T.columns.flatMap(c => [el('h4', { class: 'txt', text: c.name }), themeColumn(i, c)]),
    el('p', { class: 'note', text: `Coherence ${t.coherence.toFixed(2)} (NPMI). Cosine with a second run ${t.stability.toFixed(2)}.${t.coherence < .05 ? ' Low coherence: these words rarely share a document.' : ''}` })];
  return el('div', { class: 'tdet' }, el('div', {}, ...left), el('div', {}, ...right));
}
/** The share of a theme in every period, as bars. */
function themeTime(i) {
  const values = T.time.map(row => row[i]), W = 420, H = 96, base = H - 18, most = Math.max(...values, .01), step = W / values.length, peak = values.indexOf(Math.max(...values));
  const s = svg('svg', { class: 'ch', viewBox: `0 0 ${W} ${H}`, role: 'img', 'aria-label': `Highest in ${T.periods[peak]}, ${pct(values[peak])} of the text` });
  values.forEach((v, j) => s.append(svg('rect', { class: 'tb', x: j * step, y: base - (base - 8) * v / most, width: Math.max(1, step - 2), height: Math.max(1, (base - 8) * v / most) }, svg('title', { text: `${T.periods[j]}: ${pctS(v)}` }))));
  label(s, 0, H - 4, 'start', T.periods[0]); label(s, W, H - 4, 'end', T.periods.at(-1));
  return s;
}
function themeColumn(i, c) {
  const box = el('div', { class: 'cw' }), order = [...c.values.keys()].sort((a, b) => c.table[b][i] - c.table[a][i]).slice(0, 5), most = Math.max(...order.map(v => c.table[v][i]), .01);
  for (const v of order) box.append(el('span', { class: 'txt', dir: 'auto', text: c.values[v] }), el('span', { class: 'b', 'aria-hidden': 'true' }, el('i', { css: { width: pct(c.table[v][i] / most, 1) } })), el('span', { class: 'v', text: pctS(c.table[v][i]) }));
  return box;
}
sections.push({ start: themes });
