/* Searching every word of the documents on the map: words that begin so, "phrases", spelling help. */
const searchWords = lazy(() => indexWords);
/** The words of every document by number: ids in one array, where documents begin in another. */
const searchRows = lazy(() => {
  const b = indexBytes, sets = M.search.kind === 'words', edges = new Uint32Array(n + 1), ids = new Uint32Array(b.length);
  let i = 0, m = 0;
  const next = () => { let v = 0, shift = 0, byte; do { byte = b[i++]; v += (byte & 127) * 2 ** shift; shift += 7; } while (byte & 128); return v; };
  for (let d = 0; d < n; d++) {
    let at = 0;
    for (let left = next(); left > 0; left--) { const v = next(); at = sets ? at + v : v; ids[m++] = at; }
    edges[d + 1] = m;
  }
  return { edges, ids: ids.subarray(0, m) };
});
/** Documents with one of these words, given as flags by number. */
function docsWithAny(wanted) {
  const { edges, ids } = searchRows(), out = new Set();
  for (let d = 0; d < n; d++) for (let j = edges[d]; j < edges[d + 1]; j++) if (wanted[ids[j]]) { out.add(d); break; }
  return out;
}
function docsWithPhrase(numbers) {
  const { edges, ids } = searchRows(), out = new Set(), m = numbers.length;
  for (let d = 0; d < n; d++) {
    for (let j = edges[d]; j + m <= edges[d + 1]; j++) {
      let k = 0;
      while (k < m && ids[j + k] === numbers[k]) k++;
      if (k === m) { out.add(d); break; }
    }
  }
  return out;
}
const numberOf = lazy(() => new Map(searchWords().map((w, i) => [w, i])));
/** Slips between two words: letters added, left out, changed or swapped; 3 for more than two. */
function slips(a, b) {
  if (Math.abs(a.length - b.length) > 2) return 3;
  let before = null, last = [...Array(b.length + 1).keys()];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      row[j] = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) row[j] = Math.min(row[j], before[j - 2] + 1);
    }
    before = last; last = row;
  }
  return Math.min(3, last[b.length]);
}
/** Words of the documents that one or two slips make of this one, the nearest and most frequent first. */
function spelledLike(w, most = 4) {
  const allowed = w.length < 5 ? 1 : 2, found = [];
  if (w.length < 3) return [];
  searchWords().forEach((word, i) => { const s = slips(w, word); if (s <= allowed) found.push([s, i, word]); });
  return found.sort((a, b) => a[0] - b[0] || a[1] - b[1]).slice(0, most).map(f => f[2]);
}
/** "exact phrases" and words; marks around words do not count. */
function parseQuery(query) {
  const clean = s => s.split(/\s+/).map(w => w.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '')).filter(Boolean), out = [];
  query.replace(/[“”]/g, '"').split('"').forEach((part, i) => { const words = clean(part); if (i % 2 && words.length > 1) out.push(words); else out.push(...words.map(w => [w])); });
  return out;
}
function search(query) {
  $('#qx').hidden = !query.trim();
  const found = searchFilter(query);
  if (!found) { dropFilter('search', { reason: 'search' }); return; }
  filters.delete('search'); // the same words again are no reason to take them back
  narrow(found, { nofly: true, reason: 'search' });
}
/** The documents that a query finds; null where it has no word. */
function searchFilter(query) {
  query = query.trim().toLowerCase();
  const parts = parseQuery(query);
  if (!parts.length) return null;
  const lower = search.lower ||= [texts.t, texts.s].map(list => list.map(s => s.toLowerCase())), whole = M.search.kind !== 'none', unknown = [], notes = [];
  let found = null, loose = false;
  for (const part of parts) {
    let hit;
    const exact = whole ? part.map(w => numberOf().get(w) ?? -1) : [];
    if (whole && part.length > 1) {
      if (exact.includes(-1)) { unknown.push(...part.filter((_, j) => exact[j] < 0)); hit = new Set(); }
      else if (M.search.kind === 'text') hit = docsWithPhrase(exact);
      else { loose = true; hit = exact.map(i => { const flag = new Uint8Array(searchWords().length); flag[i] = 1; return docsWithAny(flag); }).reduce((a, b) => new Set([...a].filter(d => b.has(d)))); }
    } else if (whole) {
      const flag = new Uint8Array(searchWords().length);
      let any = false;
      searchWords().forEach((w, i) => { if (w.startsWith(part[0])) { flag[i] = 1; any = true; } });
      if (!any) unknown.push(part[0]);
      hit = any ? docsWithAny(flag) : new Set();
    } else {
      hit = new Set();
      M.terms.forEach((term, t) => { if (term.startsWith(part[0])) for (const d of docsWith(t)) hit.add(d); });
      for (let j = 0; j < worded; j++) if (lower[0][j].includes(part.join(' ')) || lower[1][j].includes(part.join(' '))) hit.add(docAt(j));
    }
    found = found ? new Set([...found].filter(d => hit.has(d))) : hit;
  }
  const words = parts.flat(), inTitle = d => { const j = wordAt(d); return j >= 0 && words.every(p => lower[0][j].includes(p)) ? 256 : 0; };
  if (whole) notes.push(`Every word of ${n < M.total ? `the ${N(n)} documents on this page` : `all ${N(n)} documents`} was searched; words that begin like yours count${M.search.kind === 'text' ? ', and "quotes" find phrases' : ''}.`);
  if (loose) notes.push('The order of words is not on this page: these documents have all words of the phrase.');
  const some = !whole ? `Only in the ${N(M.terms.length)} most widespread words, titles and openings of ${N(worded)} documents: ` : n < M.total ? `In the ${N(n)} of ${N(M.total)} documents on this page: ` : loose ? 'At most ' : '';
  return { kind: 'search', code: ['q', query], chip: `Search: “${query.length > 40 ? query.slice(0, 39) + '…' : query}”`, q: words, before: some, meant: unknown.map(w => [w, spelledLike(w)]), label: `“${query}”`, docs: [...found].sort((a, b) => a - b), rank: d => inTitle(d) + A.conf[d], note: notes.join(' ') };
}
/** "Did you mean": a button for every word spelled like one that is not there. */
function meantBox(meant) {
  return meant.map(([w, like]) => el('p', { class: 'sub txt' }, `“${w}” is in no document${M.search.kind === 'none' ? ' searched' : ''}.`, like.length ? ' Did you mean ' : '', ...like.flatMap((s, i) => [i ? ', ' : '', el('button', { class: 'link', type: 'button', text: s, on: { click: () => { const q = $('#q'); q.value = q.value.toLowerCase().replace(w, s); search(q.value); q.focus(); } } })]), like.length ? '?' : ''));
}
