/* Small charts: a measure by the number of groups; a curve on logarithmic axes. */
const label = (s, x, y, anchor, t, cls) => s.append(svg('text', { x, y, 'text-anchor': anchor, class: cls, text: t }));
function steps(lo, hi) { // round numbers between the two
  const raw = (hi - lo) / 4.6 || 1, mag = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 5, 10].map(f => f * mag).find(f => f >= raw), out = [];
  for (let v = Math.ceil(lo / step) * step; v <= hi + 1e-9; v += step) out.push(v);
  return [out, Math.max(0, -Math.floor(Math.log10(step) + 1e-9))];
}
/** series: {k: [value, error]}; chance: {k: value}, what data without groups reaches. */
function kChart(host, name, series, chance) {
  const ks = M.ks.filter(k => series[k]), W = host.clientWidth || 320, H = 190, m = { l: 42, r: 14, t: 22, b: 26 };
  if (ks.length < 2) { host.replaceChildren(el('p', { class: 'note', text: 'Not measured.' })); return; }
  const values = ks.flatMap(k => [series[k][0] - series[k][1], series[k][0] + series[k][1]]).concat(Object.values(chance));
  const lo = Math.min(...values), hi = Math.max(...values), pad = (hi - lo) * .06 || .05, last = ks.at(-1), first = ks[0];
  const x = k => m.l + (k - first) / (last - first) * (W - m.l - m.r), y = v => H - m.b - (v - lo + pad) / (hi - lo + 2 * pad) * (H - m.t - m.b);
  const said = k => (series[k] ? `${series[k][0].toFixed(2)} at ${k}` : ''), alt = [...new Set([first, K, last])].map(said).filter(Boolean).join(', ');
  const s = svg('svg', { class: 'ch', viewBox: `0 0 ${W} ${H}`, width: W, height: H, role: 'img', 'aria-label': `${name} by number of groups: ${alt}` });
  const [marks, digits] = steps(lo, hi);
  for (const v of marks) { s.append(svg('path', { class: 'g', d: `M${m.l} ${y(v)}H${W - m.r}` })); label(s, m.l - 7, y(v) + 4, 'end', v.toFixed(digits).replace('-', '−')); }
  const every = [1, 2, 5, 10, 20].find(f => (last - first) / f <= 8) || 50;
  for (let k = first; k <= last; k++) if (k === first || k % every === 0) label(s, x(k), H - 6, 'middle', k);
  const line = f => ks.map(k => `${x(k).toFixed(1)} ${y(f(k)).toFixed(1)}`);
  s.append(svg('path', { class: 'bd', d: 'M' + line(k => series[k][0] + series[k][1]).join('L') + 'L' + line(k => series[k][0] - series[k][1]).reverse().join('L') + 'Z' }));
  const by = ks.filter(k => chance[k] != null);
  if (by.length > 1) s.append(svg('path', { class: 'fit', d: 'M' + by.map(k => `${x(k).toFixed(1)} ${y(chance[k]).toFixed(1)}`).join('L') }));
  s.append(svg('path', { class: 'ln', d: 'M' + line(k => series[k][0]).join('L') }));
  const mark = (k, rule, dot, word) => {
    if (!series[k]) return;
    s.append(svg('path', { class: rule, d: `M${x(k)} ${m.t - 4}V${H - m.b}` }), svg('circle', { class: dot, cx: x(k), cy: y(series[k][0]), r: 4.5 }));
    label(s, clamp(x(k), m.l + 8, W - 16), 11, 'middle', k, word);
  };
  if (wk !== K) mark(wk, 'wi', 'ptw', 'w');
  mark(K, 'rec', 'ptr', 'b');
  host.replaceChildren(s);
}
/** points: [x, y]; slope: of the line that fits, or null; scale: 'log' on both axes. */
function logChart(host, points, slope, xName, alt) {
  if (points.length < 2) { host.replaceChildren(el('p', { class: 'note', text: 'Too few words to draw.' })); return; }
  const W = host.clientWidth || 320, H = 210, m = { l: 46, r: 14, t: 10, b: 34 }, lx = points.map(p => Math.log10(Math.max(1, p[0]))), ly = points.map(p => Math.log10(Math.max(1, p[1])));
  const x0 = Math.min(...lx), x1 = Math.max(...lx, x0 + .1), y0 = Math.min(...ly), y1 = Math.max(...ly, y0 + .1);
  const x = v => m.l + (v - x0) / (x1 - x0) * (W - m.l - m.r), y = v => H - m.b - (v - y0) / (y1 - y0) * (H - m.t - m.b);
  const s = svg('svg', { class: 'ch', viewBox: `0 0 ${W} ${H}`, width: W, height: H, role: 'img', 'aria-label': alt }), short = v => (v >= 1e6 ? v / 1e6 + 'M' : v >= 1e3 ? v / 1e3 + 'k' : v);
  for (let e = Math.ceil(y0); e <= y1; e++) { s.append(svg('path', { class: 'g', d: `M${m.l} ${y(e)}H${W - m.r}` })); label(s, m.l - 7, y(e) + 4, 'end', short(10 ** e)); }
  for (let e = Math.ceil(x0); e <= x1; e++) label(s, x(e), H - m.b + 17, 'middle', short(10 ** e));
  if (slope != null) {
    const k = points.length * .45 | 0, b = ly[k] - slope * lx[k], end = v => clamp((v - b) / slope, x0, x1), [a0, a1] = !slope ? [x0, x1] : slope < 0 ? [end(y1), end(y0)] : [end(y0), end(y1)];
    s.append(svg('path', { class: 'fit', d: `M${x(a0)} ${y(slope * a0 + b)}L${x(a1)} ${y(slope * a1 + b)}` }));
  }
  s.append(svg('path', { class: 'ln', d: 'M' + points.map((_, i) => `${x(lx[i]).toFixed(1)} ${y(ly[i]).toFixed(1)}`).join('L') }));
  label(s, W - m.r, H - 2, 'end', xName);
  host.replaceChildren(s);
}
