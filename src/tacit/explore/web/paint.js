/* The picture of the map: land, points, names, and the lines to true neighbors. */
const P = new Float32Array(n * 2);
{ const q = n ? array('xy') : []; for (let i = 0; i < 2 * n; i++) P[i] = q[i] / 65535; }
let sc, ov, bg, stage, captionSize = [400, 20], covered = [], labels = [], lassoPath = null, dirty = false, kbd = false;

function paint(animate = true) {
  const s = scheme(), B = sc.colB, old = sc.colA, base = n > 30000 ? .5 : .86;
  old.set(B);
  for (let i = 0; i < n; i++) {
    const on = sc.flag[i];
    let a = base;
    if (state.fade && s.sure) a *= .3 + .7 * s.sure(i);
    else if (state.fade && s.what === 'group' && !s.k && M.grouped) a *= .3 + .7 * A.conf[i] / 255;
    const odd = A.odd && A.odd[i] && s.what === 'group';
    if (odd) a = base;
    const q = !on ? css.dim : odd ? css.odd : s.value ? rampAt(s.value(i)) : css.pal[s.slots[s.cat(i)]] || (s.slots[s.cat(i)] === -2 ? css.odd : css.dim);
    B[4 * i] = q[0]; B[4 * i + 1] = q[1]; B[4 * i + 2] = q[2];
    B[4 * i + 3] = Math.round(255 * (on ? (sc.any ? Math.max(a, .7) : a) : .42));
  }
  if (!paint.first) { old.set(B); paint.first = true; animate = false; }
  sc.upload();
  if (animate && !calm.matches && sc.gl) {
    const t0 = performance.now(), step = t => { sc.t = clamp((t - t0) / 240, 0, 1); frame(); if (sc.t < 1) requestAnimationFrame(step); };
    sc.t = 0; requestAnimationFrame(step);
  } else sc.t = 1;
  frame();
}
function flags(docs) {
  sc.any = !!docs;
  if (!docs) { sc.boost = 1; sc.flag.fill(1); return; }
  sc.boost = docs.length < 700 ? 1.35 : 1;
  sc.flag.fill(0);
  for (const d of docs) sc.flag[d] = 1;
}
let lastMove = 0, slow = 0, settle;
function moving() { // thin only if frames are measured to be slow
  const t = performance.now(), dt = t - lastMove;
  lastMove = t;
  if (dt < 200) slow = slow * .8 + dt * .2;
  if (slow > 27) sc.thin = true;
  clearTimeout(settle); settle = setTimeout(() => { if (sc.thin) { sc.thin = false; frame(); } }, 160);
  frame();
}
function frame() { keepView(); if (!dirty) { dirty = true; requestAnimationFrame(() => { dirty = false; render(); }); } }
function render() { land(); sc.draw(); overlay(); }

/* Land: a soft density shape under the points, so that islands read as islands. */
const landCache = {};
function landImage() {
  if (landCache[css.land]) return landCache[css.land];
  const R = 288, m = .06, k = R / (1 + 2 * m), d = new Float32Array(R * R), t = new Float32Array(R * R);
  const put = (px, py, count) => { const x = (px + m) * k | 0, y = (1 + m - py) * k | 0; if (x >= 0 && y >= 0 && x < R && y < R) d[y * R + x] += count; };
  if (M.density) array('density').forEach((count, i) => { if (count) put((i % M.density + .5) / M.density, ((i / M.density | 0) + .5) / M.density, count); });
  else for (let i = 0; i < n; i++) put(P[2 * i], P[2 * i + 1], 1);
  const blur = (a, b, r, sx, sy) => {
    for (let l = 0; l < R; l++) {
      let s = 0;
      const o = l * sy;
      for (let q = -r; q < R; q++) {
        if (q + r < R) s += a[o + (q + r) * sx];
        if (q - r - 1 >= 0) s -= a[o + (q - r - 1) * sx];
        if (q >= 0) b[o + q * sx] = s / (2 * r + 1);
      }
    }
  };
  for (let q = 0; q < 3; q++) { blur(d, t, 3, 1, R); blur(t, d, 3, R, 1); }
  const c = document.createElement('canvas');
  c.width = c.height = R;
  const x = c.getContext('2d'), im = x.createImageData(R, R), [r, g, b] = hex(css.land), u = clamp((M.density ? M.total : n) / 8000, .06, M.density ? 1e9 : 8), levels = [.045 * u, .3 * u, u];
  for (let i = 0; i < R * R; i++) {
    let a = 0;
    for (const v of levels) { const e = clamp((d[i] - v * .8) / (v * .4), 0, 1); a += e * e * (3 - 2 * e) / 3; }
    im.data.set([r, g, b, a * 255], i * 4);
  }
  x.putImageData(im, 0, 0);
  return landCache[css.land] = { c, m };
}
function land(c = bg, ratio = sc.r) {
  const { c: image, m } = landImage(), s = sc.scale;
  c.setTransform(ratio, 0, 0, ratio, 0, 0); c.clearRect(0, 0, sc.w, sc.h);
  c.globalAlpha = clamp(1.25 - sc.view.s / 9, .25, 1); c.imageSmoothingQuality = 'high';
  c.drawImage(image, sc.sx(-m), sc.sy(1 + m), s * (1 + 2 * m), s * (1 + 2 * m));
  c.globalAlpha = 1;
}
function halo(c, s, x, y, fill) { c.strokeText(s, x, y); c.fillStyle = fill; c.fillText(s, x, y); }
function overlay(c = ov, ratio = sc.r) {
  const { w, h } = sc, sch = scheme();
  c.setTransform(ratio, 0, 0, ratio, 0, 0); c.clearRect(0, 0, w, h);
  const [cw, ch] = captionSize, placed = labels = [...covered, ...(w > 700 ? [{ x: 14 + cw / 2, y: h - 12 - ch / 2, w: cw, h: ch }] : [])];
  c.lineJoin = 'round'; c.textAlign = 'center'; c.textBaseline = 'middle'; c.strokeStyle = css.map;
  if (state.hover >= 0) neighborLines(c, state.hover);
  const clash = (x, y, tw, th) => placed.some(b => Math.abs(b.x - x) * 2 < b.w + tw + 8 && Math.abs(b.y - y) * 2 < b.h + th + 3);
  if (!sch.value && (sch.what !== 'group' || M.grouped || sch.k)) kindLabels(c, sch, placed, clash);
  const shown = clamp((sc.view.s - 1.7) / .6, 0, 1);
  if (shown > 0 && !sc.any) {
    c.font = `450 12px ${css.sans}`; c.lineWidth = 3.5; c.strokeStyle = css.map;
    for (const m of finerLabels(sch, sc.view.s) || localLabels()) {
      const x = sc.sx(m.x), y = sc.sy(m.y), tw = m.tw || (m.tw = c.measureText(m.t).width);
      if (x < tw / 2 + 4 || y < 12 || x > w - tw / 2 - 4 || y > h - 12 || clash(x, y, tw, 15)) continue;
      c.globalAlpha = shown * .95; halo(c, m.t, x, y, css.ink2); placed.push({ x, y, w: tw, h: 15 });
    }
    c.globalAlpha = 1;
  }
  if (lassoPath && lassoPath.length > 3) {
    c.beginPath();
    for (let j = 0; j < lassoPath.length; j += 2) c.lineTo(sc.sx(lassoPath[j]), sc.sy(lassoPath[j + 1]));
    c.closePath();
    c.globalAlpha = .09; c.fillStyle = css.accent; c.fill(); c.globalAlpha = 1;
    c.lineWidth = 1.6; c.setLineDash([5, 4]); c.strokeStyle = css.accent; c.stroke(); c.setLineDash([]);
  }
  if (kbd) { c.strokeStyle = css.ink; c.lineWidth = 1.2; c.beginPath(); c.moveTo(w / 2 - 9, h / 2); c.lineTo(w / 2 + 9, h / 2); c.moveTo(w / 2, h / 2 - 9); c.lineTo(w / 2, h / 2 + 9); c.stroke(); }
}
/** Where the closest documents of this one really are. */
function neighborLines(c, i) {
  const near = A.near(), w = M.near, at = wordAt(i), x = sc.sx(P[2 * i]), y = sc.sy(P[2 * i + 1]);
  c.lineWidth = 1; c.strokeStyle = css.ink2; c.globalAlpha = .55; c.beginPath();
  if (at >= 0) for (let j = 0; j < w; j++) { const q = near[w * at + j]; c.moveTo(x, y); c.lineTo(sc.sx(P[2 * q]), sc.sy(P[2 * q + 1])); }
  c.stroke(); c.globalAlpha = 1;
  c.lineWidth = 2; c.strokeStyle = css.ink; c.beginPath(); c.arc(x, y, sc.radius + 3.5, 0, 6.3); c.stroke();
  c.strokeStyle = css.map;
}
/** Names of kinds, the largest first, each at the first of eleven places where it overlaps no other. */
function kindLabels(c, sch, placed, clash) {
  const { w, h } = sc, size = w < 560 ? 12.5 : 14.5, lit = litKinds(sch);
  for (const L of anchorsFor(sch)) {
    if (sch.slots[L.i] < 0) continue; // of no kind
    const font = `${L.lvl === 'loose' ? 'italic 500' : '650'} ${size}px ${css.sans}`;
    c.font = font;
    if (L.font !== font) { L.tw = c.measureText(L.t).width; L.font = font; }
    const bx = sc.sx(L.x), by = sc.sy(L.y), th = size + 4, t = L.tw;
    if (bx < -40 || by < -20 || bx > w + 40 || by > h + 20) continue;
    for (const [ox, oy] of [[0, 0], [0, -20], [0, 20], [-t * .55, 0], [t * .55, 0], [0, -38], [0, 38], [-t * .5, -20], [t * .5, -20], [-t * .5, 20], [t * .5, 20]]) {
      const x = clamp(bx + ox, t / 2 + 6, w - t / 2 - 6), y = clamp(by + oy, 14, h - 14);
      if (clash(x, y, t, th)) continue;
      c.globalAlpha = lit && !lit.has(L.i) ? .3 : 1; c.lineWidth = 6; c.strokeStyle = css.map;
      halo(c, L.t, x, y, css.txt[sch.slots[L.i]]);
      c.globalAlpha = 1; placed.push({ x, y, w: t, h: th, i: L.i, main: true });
      break;
    }
  }
}
/** Kinds that the selection really touches; the names of the others step back. */
function litKinds(s) {
  const q = state.sel, key = s.what + (s.k || '');
  if (!q) return null;
  if (q.litKey === key) return q.lit;
  const c = new Float64Array(s.names.length), all = new Float64Array(s.names.length);
  for (let i = 0; i < n; i++) all[s.cat(i)]++;
  for (const d of q.docs) c[s.cat(d)]++;
  q.litKey = key;
  return q.lit = new Set([...c.keys()].filter(i => c[i] > .12 * all[i] || c[i] > .08 * q.docs.length));
}
const anchorCache = new Map();
function anchorsFor(s) { // the densest cell of a coarse grid for each kind
  const key = s.what + (s.k || '');
  if (anchorCache.has(key)) return anchorCache.get(key);
  const m = s.names.length, R = 40, cells = new Uint32Array(m * R * R), total = new Uint32Array(m), out = [];
  const at = v => clamp(v * R | 0, 0, R - 1);
  for (let i = 0; i < n; i++) { const c = s.cat(i); total[c]++; cells[c * R * R + at(P[2 * i + 1]) * R + at(P[2 * i])]++; }
  for (let c = 0; c < m; c++) {
    let most = 0, where = -1;
    for (let j = 0; j < R * R; j++) {
      let v = 2 * cells[c * R * R + j];
      for (const o of [-1, 1, -R, R]) v += cells[c * R * R + clamp(j + o, 0, R * R - 1)];
      if (v > most) { most = v; where = j; }
    }
    if (where < 0) continue;
    const group = s.nodes ? s.nodes[c] : s.what === 'group' && !s.k ? G[c] : null;
    const parts = s.what === 'group' ? s.names[c].split(' · ').slice(0, 2) : [s.names[c]], both = parts.join(', '), t = cutAt(both.length > 30 ? parts[0] : both, 30);
    out.push({ i: c, x: (where % R + .5) / R, y: ((where / R | 0) + .5) / R, t, n: total[c], lvl: group?.lvl });
  }
  out.sort((a, b) => b.n - a.n);
  anchorCache.set(key, out);
  return out;
}
/** Names of the groups inside those shown, of finer levels the closer one comes; then words of places. */
function finerLabels(sch, zoom) {
  const level = sch.what !== 'group' || !M.levels.length ? M.levels.length : sch.nodes ? sch.level : sch.k ? M.levels.length : M.level;
  if (level + 1 >= M.levels.length) return null;
  let finer = level + 1;
  while (finer + 1 < M.levels.length && M.levels[finer + 1].length <= zoom * M.levels[level].length) finer++;
  const words = zoom > PLACES, key = `${level}.${finer}.${words}`;
  if (!finerCache.has(key)) {
    const here = new Set(M.levels[level]), cut = M.levels[finer];
    finerCache.set(key, [...anchorsFor(levelScheme(finer)).filter(a => !here.has(cut[a.i])).map(a => ({ x: a.x, y: a.y, t: a.t })), ...(words ? localLabels() : [])]);
  }
  return finerCache.get(key);
}
const PLACES = 3; // zoom from which words of places are shown besides
const finerCache = new Map();
/** Words of small places of the map, for those who come close. */
const localLabels = lazy(() => {
  const R = 16, cells = new Map(), out = [];
  if (n < 60 || !M.terms.length) return out;
  for (let i = 0; i < n; i++) { const key = (P[2 * i + 1] * R | 0) * 99 + (P[2 * i] * R | 0); if (!cells.has(key)) cells.set(key, []); cells.get(key).push(i); }
  const large = [...cells.values()].filter(c => c.length >= 5).sort((a, b) => b.length - a.length).slice(0, 96);
  for (const docs of large) {
    const words = contrast(docs, 2, true).map(o => o.w);
    if (!words.length) continue;
    let x = 0, y = 0;
    for (const d of docs) { x += P[2 * d]; y += P[2 * d + 1]; }
    out.push({ x: x / docs.length, y: y / docs.length, t: words.join(', ').slice(0, 40) });
  }
  return out;
});
