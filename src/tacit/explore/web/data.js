/* What the writer put into the file: numbers, arrays in base64, and packed texts. */
const core = JSON.parse($('#d-core').textContent), M = core.meta, n = M.n, K = M.K;
const TYPES = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array };
function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const binary = atob(text), bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
const array = name => { const [type, text] = core.arrays[name]; return new TYPES[type](bytesOf(text).buffer); };
async function inflated(text) {
  const stream = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
const unpacked = async text => JSON.parse(new TextDecoder().decode(await inflated(text)));
const A = {
  cluster: array('cluster'), conf: array('conf'), second: lazy(() => array('second')), leaf: lazy(() => array('leaf')),
  length: lazy(() => array('length')), near: lazy(() => array('near')), nearSim: lazy(() => array('nearSim')),
  themes: lazy(() => array('themes')), themeShare: lazy(() => array('themeShare')),
  period: lazy(() => array('period')), // 0 for no date, else 1 + the period
  copy: lazy(() => (core.arrays.copy ? array('copy') : null)), copySet: lazy(() => array('copySet')), // 1 for a document that repeats an earlier one; 0 or 1 + its set of copies
  odd: core.arrays.odd ? array('odd') : null, // 1 for documents unlike all others
  field: M.fields.map((_, i) => lazy(() => array('field' + i))), whatif: lazy(() => array('whatif')),
  wordNear: lazy(() => array('wordNear')), wordSim: lazy(() => array('wordSim')),
};
const indexWords = M.search.kind === 'none' ? [] : await unpacked($('#d-words').textContent.trim());
const indexBytes = M.search.kind === 'none' ? null : await inflated($('#d-index').textContent.trim());
const texts = await unpacked($('#d-text').textContent.trim());
/* Of a large collection only some documents have their texts and words here: wordAt says where, -1 for nowhere. */
const titled = core.arrays.titled ? array('titled') : null, rowsHere = core.arrays.row ? array('row') : null;
const wordAt = (() => {
  if (!titled) return d => d;
  const at = new Int32Array(titled.length ? titled.at(-1) + 1 : 0).fill(-1);
  titled.forEach((d, j) => { at[d] = j; });
  return d => (d < at.length ? at[d] : -1);
})();
const worded = M.worded ?? n, docAt = j => (titled ? titled[j] : j); // the first of those with words are on the map
const title = d => { const j = wordAt(d); return j < 0 ? `Document ${N(rowsHere[d] + 1)}` : texts.t[j] || '(no title)'; };
const opening = d => texts.s[wordAt(d)] || '', docId = d => texts.id[wordAt(d)] ?? `row ${rowsHere[d] + 1}`;

/** Numbers of each document, from a stream of 7 bits a byte: how many, then the gaps between them, or the numbers in order. Where each begins, and all of them. */
function listsOf(b, inOrder = false) {
  const edges = [0], ids = new Uint32Array(b.length);
  let i = 0, m = 0;
  const next = () => { let v = 0, shift = 0, byte; do { byte = b[i++]; v += (byte & 127) * 2 ** shift; shift += 7; } while (byte & 128); return v; };
  while (i < b.length) {
    let at = 0;
    for (let left = next(); left > 0; left--) { const v = next(); at = inOrder ? v : at + v; ids[m++] = at; }
    edges.push(m);
  }
  return { edges, ids: ids.subarray(0, m), size: edges.length - 1 };
}
/* The most widespread words of each document with words here, and the documents of each word. */
const rows = lazy(() => {
  const { edges: ptr, ids: idx } = listsOf(array('post'));
  while (ptr.length <= worded) ptr.push(idx.length);
  return { ptr, idx };
});
const inverse = lazy(() => {
  const { ptr, idx } = rows(), V = M.terms.length, p = new Uint32Array(V + 1);
  for (const t of idx) p[t + 1]++;
  for (let t = 0; t < V; t++) p[t + 1] += p[t];
  const next = p.slice(), out = new Uint32Array(idx.length);
  for (let s = 0; s < worded; s++) for (let j = ptr[s]; j < ptr[s + 1]; j++) out[next[idx[j]]++] = docAt(s);
  return { p, out };
});
const docsWith = t => { const { p, out } = inverse(); return out.subarray(p[t], p[t + 1]); };
const termAt = lazy(() => new Map(M.terms.map((t, i) => [t, i])));
const alike = (a, b) => {
  const m = Math.min(a.length, b.length), k = Math.max(4, m - 2);
  return (m >= 4 && a.slice(0, k) === b.slice(0, k)) || (m >= 3 && (a === b + 's' || b === a + 's'));
};
const unnamed = lazy(() => new Set(M.unnamed));
/** Words that these documents use more than the others: frequency here times a capped log-ratio, over document counts. Those of a name are no function words. */
function contrast(docs, top = 12, named = false) {
  const { ptr, idx } = rows(), { p: edge } = inverse(), V = M.terms.length;
  const known = Array.from(docs, d => wordAt(d)).filter(s => s >= 0), here = new Uint32Array(V), size = known.length, others = worded - size, words = [];
  for (const d of known) for (let j = ptr[d]; j < ptr[d + 1]; j++) here[idx[j]]++;
  for (let t = 0; t < V; t++) {
    const a = here[t], all = edge[t + 1] - edge[t];
    if (a < Math.max(2, Math.min(4, size * .05)) || (named && unnamed().has(t))) continue;
    const p = (a + .5) / (size + 1), q = (all - a + .5) / (others + 1);
    const score = p * Math.min(4, Math.log2(p / q)) - .15 * Math.sqrt(p * (1 - p) / size);
    if (score > 0) words.push({ t, w: M.terms[t], score, p: a / size, q: others ? (all - a) / others : 0 });
  }
  words.sort((x, y) => y.score - x.score);
  const keep = [];
  for (const o of words) {
    if (keep.some(k => alike(k.w, o.w))) continue;
    keep.push(o);
    if (keep.length === top) break;
  }
  return keep;
}
/* Groups stand in the order of the tree. Where none were found there is one of all documents. */
const G = M.groups.map((g, i) => ({ ...g, i, docs: [], worded: 0 }));
for (let d = 0; d < n; d++) { const g = G[A.cluster[d]]; g.docs.push(d); if (wordAt(d) >= 0) g.worded++; }
const LEVEL = { firm: 'Firm', tentative: 'Tentative', loose: 'Loose' };
const nameOf = g => g.name.join(' · '), shortName = g => g.name.slice(0, 2).join(' · ');
const groupOf = d => (M.grouped && d < n ? G[A.cluster[d]] : null);
function sureIcon(level) {
  const s = svg('svg', { class: 'conf ' + level, viewBox: '0 0 14 14', 'aria-hidden': 'true' }, svg('circle', { cx: 7, cy: 7, r: 5.2 }));
  if (level === 'firm') s.append(svg('circle', { cx: 7, cy: 7, r: 5.9, class: 'f' }));
  if (level === 'tentative') s.append(svg('path', { d: 'M7 1.8a5.2 5.2 0 0 1 0 10.4z', class: 'f' }));
  return s;
}
