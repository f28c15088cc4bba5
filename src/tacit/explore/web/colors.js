/* The colors of the page, read back from its style sheet, and what each point is colored by. */
let css = {};
const hex = h => [1, 3, 5].map(i => parseInt(h.slice(i, i + 2), 16));
function readTheme() {
  const style = getComputedStyle(document.documentElement), v = key => style.getPropertyValue(key).trim();
  const slots = [...Array(M.nslots).keys()];
  css = {
    pal: slots.map(i => hex(v('--p' + i))), txt: slots.map(i => v('--x' + i)), ramp: [0, 1, 2, 3, 4].map(i => hex(v('--r' + i))),
    ink: v('--ink'), ink2: v('--ink-2'), ink3: v('--ink-3'), map: v('--map'), accent: v('--accent'), land: v('--land'),
    dim: hex(v('--dim')), odd: hex(v('--ink-3')), sans: v('--sans'),
  };
}
function rampAt(t) {
  const x = clamp(t, 0, 1) * 4, i = Math.min(3, x | 0), f = x - i, a = css.ramp[i], b = css.ramp[i + 1];
  return a.map((c, j) => Math.round(c + (b[j] - c) * f));
}
const state = { color: M.grouped ? M.color0 : M.fields.length ? 'f0' : 'length', k: null, level: M.level, fade: true, sel: null, hover: -1, tool: 'pan', side: 'selection' };

/** {cat(i), slots, names, what} where points fall into kinds, {value(i), lo, hi} where they have a measure. */
function scheme() {
  const c = state.color;
  if (c === 'k' && state.k && state.k !== K) return whatScheme(state.k);
  for (const added of extras.schemes) { const s = added(c); if (s) return s; }
  if (c === 'confidence') return { value: i => A.conf[i] / 255, lo: 'moves between groups', hi: 'always the same group', what: c };
  if (c === 'length') {
    const w = A.length(), lo = Math.log(M.lengths[0] + 1), span = Math.log(M.lengths[1] + 1) - lo;
    return { value: i => (span ? (Math.log(w[i] + 1) - lo) / span : .6), lo: plural(M.lengths[0], 'word'), hi: plural(M.lengths[1], 'word'), what: c };
  }
  if (c[0] === 'f') return fieldScheme(+c.slice(1));
  return levelOrOwn(state.level);
}
function fieldScheme(f) {
  const kinds = A.field[f](), field = M.fields[f];
  return { cat: i => kinds[i], slots: M.slots.fields[f], names: field.values, what: 'f' + f, field, sub: field.guessed && 'Guessed from the function words of ten languages. Not used to find the groups.' };
}
const levelOrOwn = level => (level !== M.level ? levelScheme(level) : { cat: i => A.cluster[i], slots: M.slots.group, names: G.map(nameOf), what: 'group' });
/** Colors for kinds like those of the groups that each mostly comes from: from[kind][group] documents. */
function slotsFrom(from) {
  const pairs = [], slots = new Array(from.length).fill(-1), used = new Set();
  from.forEach((r, j) => r.forEach((v, g) => v && pairs.push([v, j, g])));
  pairs.sort((a, b) => b[0] - a[0]);
  for (const [, j, g] of pairs) { const s = M.slots.group[g]; if (slots[j] < 0 && !used.has(s)) { slots[j] = s; used.add(s); } }
  for (let j = 0; j < from.length; j++) if (slots[j] < 0) { let s = 0; while (used.has(s) && s < M.nslots) s++; slots[j] = s < M.nslots ? s : j % M.nslots; used.add(s); }
  return slots;
}
const levelCache = new Map();
/** The groups of a level of the tree; k is its name where other divisions have their number. */
function levelScheme(level) {
  if (levelCache.has(level)) return levelCache.get(level);
  const cut = M.levels[level], at = new Map(cut.map((node, j) => [node, j])), leaf = A.leaf();
  const place = M.nodes.map((_, i) => { while (i >= 0 && !at.has(i)) i = M.nodes[i].up; return i < 0 ? 0 : at.get(i); });
  const from = cut.map(() => new Uint32Array(G.length));
  for (let i = 0; i < n; i++) from[place[leaf[i]]][A.cluster[i]]++;
  const levels = { cat: i => place[leaf[i]], slots: slotsFrom(from), names: cut.map(i => nameOf(M.nodes[i])), what: 'group', k: `level ${level}`, level, nodes: cut.map(i => M.nodes[i]) };
  levelCache.set(level, levels);
  return levels;
}
const whatCache = new Map();
/** The groups there would be with k, colored like the groups they mostly come from. */
function whatScheme(k) {
  if (whatCache.has(k)) return whatCache.get(k);
  if (k === K) {
    const same = { cat: i => A.cluster[i], names: G.map(nameOf), sizes: G.map(g => g.docs.length), slots: M.slots.group, what: 'group', k };
    same.from = G.map((g, i) => { const u = new Uint32Array(G.length); u[i] = g.docs.length; return u; });
    whatCache.set(k, same);
    return same;
  }
  const off = M.whatks.indexOf(k) * n, labels = A.whatif(), docs = Array.from({ length: k }, () => []), from = docs.map(() => new Uint32Array(G.length));
  for (let i = 0; i < n; i++) { docs[labels[off + i]].push(i); from[labels[off + i]][A.cluster[i]]++; }
  const slots = slotsFrom(from);
  const names = docs.map((d, j) => (M.redacted ? `group ${j + 1}` : contrast(d, 3, true).map(o => o.w).join(' · ') || 'no words of its own'));
  const what = { cat: i => labels[off + i], slots, names, sizes: docs.map(d => d.length), from, what: 'group', k };
  whatCache.set(k, what);
  return what;
}
