/* How many groups? The measures, and what would merge or split with another number. */
let wk = M.whatIf;
function howMany() {
  if (!$('#howmany')) return;
  const slider = $('#kr');
  if (slider) slider.addEventListener('input', () => moveK(+slider.value));
  if (slider) moveK(wk); else drawK();
}
function drawK() {
  if (!$('#howmany')) return;
  kChart($('#k1'), 'Silhouette', M.measures.silhouette, M.chance.silhouette);
  kChart($('#k2'), 'Gap statistic', M.measures.gap, {});
  kChart($('#k3'), 'Repeatability', M.measures.stability, M.chance.stability);
  if (!$('#alv')) return;
  ribbons();
  const s = whatScheme(wk), same = wk === K, coarser = wk < K, small = Math.min(...s.sizes), large = Math.max(...s.sizes);
  const change = (name, digits) => {
    const a = M.measures[name][wk], b = M.measures[name][K];
    if (!a) return null;
    const v = b ? a[0] - b[0] : 0;
    return a[0].toFixed(digits) + (same || !b ? '' : ` (${!+v.toFixed(digits) ? '±' : v > 0 ? '+' : '−'}${Math.abs(v).toFixed(digits)})`);
  };
  const facts = [['Repeatability', change('stability', 2)], ['Silhouette', change('silhouette', 3)], ['Smallest group', N(small)], ['Largest group', `${N(large)} (${pct(large / n)})`]].filter(f => f[1]);
  const head = same ? (M.grouped ? `${K} groups, as shown` : 'One group, as found') : coarser ? `${wk} groups: coarser` : `${wk} groups: finer`;
  const words = same ? 'The ribbons run straight across because this is the division shown. Move the slider to see what merges or splits.' : coarser ? 'Ribbons that join show which groups would be merged.' : 'Ribbons that part show which groups would be split.';
  $('#verdict').replaceChildren(
    el('h3', { class: 'sub3', text: head }), el('p', { text: words }),
    el('dl', {}, ...facts.map(([a, b]) => el('div', {}, el('dt', { text: a }), el('dd', { text: b })))),
    el('div', { class: 'rowbtns' },
      button(same ? 'Show on the map' : `Show ${wk} groups on the map`, () => { setK(wk); toMap(); }),
      same ? null : button(M.grouped ? `Back to ${K} groups` : 'Back', () => moveK(K))));
}
/** From the groups shown to the groups there would be. */
function ribbons() {
  const host = $('#alv'), W = host.clientWidth || 600, s = whatScheme(wk), kinds = G.length, narrow = W < 520, gap = 4, H = Math.max(420, Math.max(kinds, wk) * 24), side = narrow ? 92 : 190, x0 = side, x1 = W - side;
  const unit = (H - gap * (Math.max(kinds, wk) - 1)) / n, h = v => v * unit, middle = r => { let a = 0, b = 0; r.forEach((v, g) => { a += v * g; b += v; }); return b ? a / b : 0; };
  const order = [...Array(s.names.length).keys()].sort((a, b) => middle(s.from[a]) - middle(s.from[b]));
  const stack = (sizes) => { const room = sizes.length > 1 ? (H - n * unit) / (sizes.length - 1) : 0; let y = sizes.length > 1 ? 0 : (H - n * unit) / 2; return sizes.map(v => { const at = { y, o: 0 }; y += h(v) + room; return at; }); };
  const L = stack(G.map(g => g.docs.length)), right = stack(order.map(j => s.sizes[j])), R = []; order.forEach((j, q) => { R[j] = right[q]; });
  const picture = svg('svg', { class: 'ch', viewBox: `0 0 ${W} ${H + 4}`, width: W, height: H + 4, role: 'img', 'aria-label': `How ${plural(kinds, 'group')} would become ${wk}` }), lay = svg('g');
  picture.append(lay);
  for (let g = 0; g < kinds; g++) for (const j of order) {
    const t = h(s.from[j][g]), a = L[g].y + L[g].o, b = R[j].y + R[j].o, mx = (x0 + x1) / 2;
    if (!t) continue;
    L[g].o += t; R[j].o += t;
    if (t < .5) continue;
    lay.append(svg('path', { class: `fl ${kinds > 1 ? 'g' + g : 'p' + s.slots[j]}`, 'data-l': g, 'data-r': j, d: `M${x0 + 6} ${a}C${mx} ${a} ${mx} ${b} ${x1 - 6} ${b}V${b + t}C${mx} ${b + t} ${mx} ${a + t} ${x0 + 6} ${a + t}Z` }));
  }
  const light = test => $$('.fl', lay).forEach(p => { const on = test && test(p.dataset); p.classList.toggle('hi', !!on); p.classList.toggle('dim', !!test && !on); });
  const spread = ys => {
    const o = ys.map((y, i) => [y, i]).sort((a, b) => a[0] - b[0]), out = [];
    for (let q = 0; q < 40; q++) for (let i = 1; i < o.length; i++) { const d = 14 - (o[i][0] - o[i - 1][0]); if (d > 0) { o[i - 1][0] -= d / 2; o[i][0] += d / 2; } }
    for (const [y, i] of o) out[i] = y;
    return out;
  };
  const shown = name => cutAt(narrow ? name.split(' · ')[0] : name, narrow ? 12 : 27);
  const end = (x, node, size, cls, name, y, textX, anchor, test) => {
    const t = svg('text', { x: textX, y, 'text-anchor': anchor, text: shown(name) });
    picture.append(svg('g', { on: { mouseenter: () => light(test), mouseleave: () => light(null) } }, svg('rect', { class: 'nd ' + cls, x, y: node.y, width: 6, height: Math.max(1.5, h(size)) }), t));
  };
  const ly = spread(G.map((g, i) => L[i].y + h(g.docs.length) / 2 + 4)), ry = spread(order.map(j => R[j].y + h(s.sizes[j]) / 2 + 4));
  G.forEach((g, i) => end(x0, L[i], g.docs.length, 'g' + i, nameOf(g), ly[i], x0 - 6, 'end', d => +d.l === i));
  order.forEach((j, q) => end(x1 - 6, R[j], s.sizes[j], 'p' + s.slots[j], s.names[j], ry[q], x1 + 6, 'start', d => +d.r === j));
  host.replaceChildren(picture);
}
function moveK(k) {
  if (k !== K && !M.whatks.includes(k)) k = M.whatks.reduce((a, b) => (Math.abs(b - k) < Math.abs(a - k) ? b : a), M.whatks[0]);
  wk = k;
  $('#kr').value = k; $('#ko').textContent = `${k} groups?`; $('#kr').setAttribute('aria-valuetext', `${k} groups`);
  drawK();
}
function setK(k) {
  state.k = k === K ? null : k;
  state.color = k !== K ? 'k' : M.grouped ? 'group' : M.fields.length ? 'f0' : 'length';
  state.level = M.level;
  filters.delete('group');
  syncK(); syncLevel(); applyFilters({ nofly: true, quiet: true }); home();
}
function syncK() {
  const o = $('#kopt');
  o.hidden = o.disabled = state.color !== 'k';
  if (state.color === 'k') o.textContent = `What if: ${state.k} groups`;
  $('#color').value = state.color;
}
sections.push({ start: howMany, resize: drawK });
