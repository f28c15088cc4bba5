/* Searching every word of the documents: words that begin so, "phrases", spelling help. */
const searchWords = lazy(() => indexWords);
/** The words of every document by number, first those of the documents of this page. */
const searchRows = lazy(() => listsOf(indexBytes, M.search.kind === 'text'));
/** Documents with one of these words, given as flags by number. */
function docsWithAny(wanted) {
  const { edges, ids, size } = searchRows(), out = new Set();
  for (let d = 0; d < size; d++) for (let j = edges[d]; j < edges[d + 1]; j++) if (wanted[ids[j]]) { out.add(d); break; }
  return out;
}
function docsWithPhrase(numbers) {
  const { edges, ids, size } = searchRows(), out = new Set(), m = numbers.length;
  for (let d = 0; d < size; d++) {
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
/** In how many documents each word is. */
const spreads = lazy(() => {
  const { edges, ids, size } = searchRows(), last = new Int32Array(searchWords().length).fill(-1), out = new Uint32Array(last.length);
  for (let d = 0; d < size; d++) for (let j = edges[d]; j < edges[d + 1]; j++) if (last[ids[j]] !== d) { last[ids[j]] = d; out[ids[j]]++; }
  return out;
});
/** Words in enough documents that one or two slips make of this one, the nearest and most frequent first. */
function spelledLike(w, least = 0, most = 4) {
  const allowed = w.length < 5 ? 1 : 2, near = [];
  if (w.length < 2 || w.length > 40) return [];
  searchWords().slice(0, M.suggested).forEach((word, i) => { const s = slips(w, word); if (s <= allowed && (!least || spreads()[i] >= least)) near.push([s, i, word]); });
  return near.sort((a, b) => a[0] - b[0] || a[1] - b[1]).slice(0, most).map(f => f[2]);
}
/** For a word of few documents, words of many more that it may stand for: as in Python. */
const RARE = 2, TIMES = 20;
const meantFor = (w, count) => (count > RARE || (count && M.total < 100) ? [] : spelledLike(w, TIMES * count));
/* Words are those of the index (rule="plain" of tacit.text.tokenize): letters and digits, pairs of characters in scripts
   without spaces, emoji. */
const RUN = '\u0e00-\u0e4f\u0e5a-\u0ecf\u0eda-\u0eff\u1000-\u103f\u104a-\u108f\u109a-\u109f\u1780-\u17df\u17ea-\u17ff\u3005-\u3007\u3021-\u3029\u3031-\u303c\u3041-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\u{20000}-\u{3ffff}';
const WORD = new RegExp(`((?:(?=[${RUN}])[\\p{L}\\p{N}]\\p{M}*)+)|((?:(?![${RUN}])[\\p{L}\\p{N}_])(?:(?:(?![${RUN}])[\\p{L}\\p{N}_])|\\p{M}|[\\u200c\\u200d](?=(?![${RUN}])[\\p{L}\\p{N}_]))*)|(\\p{Extended_Pictographic}[\\p{EMod}\\u200d\\p{Extended_Pictographic}]*|\\p{RI}{2})`, 'gu');
function wordsIn(text) {
  const out = [];
  for (const [word, run] of text.toLowerCase().normalize('NFC').replace(/[\u00ad\ufe0e\ufe0f]/g, '').matchAll(WORD)) {
    const signs = run ? run.match(/[^\p{M}]\p{M}*/gu) : [];
    if (signs.length < 2) out.push(word);
    else for (let i = 1; i < signs.length; i++) out.push(signs[i - 1] + signs[i]);
  }
  return out;
}
/** What a query asks for: words that begin like a word, and "exact words" in a row. What becomes several words is in a row too. */
function parseQuery(query) {
  const out = [];
  query.replace(/[“”„«»]/g, '"').split('"').forEach((part, i) => {
    for (const piece of i % 2 ? [part] : part.split(/\s+/)) { const words = wordsIn(piece); if (words.length) out.push({ words, exact: i % 2 === 1 || words.length > 1 }); }
  });
  return out;
}
/** 1 for every word that begins like this one; a sign of a script without spaces may be either of a pair. */
function wordsLike(w) {
  const inside = new RegExp(`^[${RUN}]\\p{M}*$`, 'u').test(w), all = searchWords();
  return Uint8Array.from(all, inside ? v => v.includes(w) : v => v.startsWith(w));
}
function search(query) {
  $('#qx').hidden = !query.trim();
  const filter = searchFilter(query);
  if (!filter) { dropFilter('search', { reason: 'search' }); return; }
  filters.delete('search'); // the same words again are no reason to take them back
  narrow(filter, { nofly: true, reason: 'search' });
}
/** The documents that a query finds; null where it has no word. */
function searchFilter(query) {
  query = query.trim().toLowerCase();
  const parts = parseQuery(query);
  if (!parts.length) return null;
  const lower = search.lower ||= [texts.t, texts.s].map(list => list.map(s => s.toLowerCase())), indexed = M.search.kind !== 'none', unknown = [], rare = [], notes = [];
  let matches = null, loose = false;
  for (const { words, exact } of parts) {
    let hit;
    if (indexed && exact) {
      const numbers = words.map(w => numberOf().get(w) ?? -1);
      if (numbers.includes(-1)) { unknown.push(...words.filter((_, j) => numbers[j] < 0)); hit = new Set(); }
      else if (M.search.kind === 'text' || numbers.length === 1) hit = docsWithPhrase(numbers);
      else { loose = true; hit = numbers.map(i => docsWithPhrase([i])).reduce((a, b) => new Set([...a].filter(d => b.has(d)))); }
    } else if (indexed) {
      const wanted = wordsLike(words[0]);
      if (wanted.includes(1)) { hit = docsWithAny(wanted); if (hit.size <= RARE && meantFor(words[0], hit.size).length) rare.push([words[0], meantFor(words[0], hit.size), hit.size]); }
      else { unknown.push(words[0]); hit = new Set(); }
    } else {
      hit = new Set();
      if (words.length === 1) M.terms.forEach((term, t) => { if (exact ? term === words[0] : term.startsWith(words[0])) for (const d of docsWith(t)) hit.add(d); });
      for (let j = 0; j < worded; j++) if (lower[0][j].includes(words.join(' ')) || lower[1][j].includes(words.join(' '))) hit.add(docAt(j));
    }
    matches = matches ? new Set([...matches].filter(d => hit.has(d))) : hit;
  }
  const words = parts.flatMap(part => part.words), inTitle = d => { const j = wordAt(d); return j >= 0 && words.every(p => lower[0][j].includes(p)) ? 256 : 0; };
  if (indexed) notes.push(`${n < M.total ? `Every word of the ${N(n)} documents on this page` : 'Every word of every document'} was searched${M.aside ? ', except what was set aside (see the notes on the input)' : ''}; words that begin like yours count${M.search.kind === 'text' ? ', and "quotes" find exact words in a row' : ''}.`);
  if (loose) notes.push('The order of words is not on this page: these documents have all words of the phrase.');
  const some = !indexed ? `Only in ${M.terms.length ? `the ${N(M.terms.length)} most widespread words, ` : ''}titles and openings of ${N(worded)} documents: ` : n < M.total ? `In the ${N(n)} of ${N(M.total)} documents on this page: ` : loose ? 'At most ' : '';
  const all = [...matches].sort((a, b) => a - b);
  return { kind: 'search', code: ['q', query], chip: `Search: “${query.length > 40 ? query.slice(0, 39) + '…' : query}”`, q: words, before: some, meant: [...unknown.map(w => [w, spelledLike(w), 0]), ...rare], label: `“${query}”`, docs: all.filter(d => d < n), off: all.filter(d => d >= n), rank: d => inTitle(d) + A.conf[d], note: notes.join(' ') };
}
/** What was found of the documents that are not on the map; the last of them may not be on this page either. */
function offMapBox(off) {
  const here = off.filter(d => d < (rowsHere || texts.t).length), more = off.length - here.length;
  return [el('p', { class: 'sub', text: `${N(off.length)} of them ${off.length === 1 ? 'is' : 'are'} not on the map: too few words to compare by.` }), here.length ? docList(here, false, 10) : null,
    more ? el('p', { class: 'note', text: `${plural(more, 'document')} ${more === 1 ? 'is' : 'are'} not on this page. The project folder holds ${more === 1 ? 'it' : 'them'}.` }) : null];
}
/** "Did you mean": a button for every word spelled like one that is not there. */
function meantBox(meant) {
  return meant.map(([w, like, count]) => el('p', { class: 'sub txt' }, `“${w}” is in ${count ? plural(count, 'document') : 'no document'}${M.search.kind === 'none' ? ' searched' : ''}.`, like.length ? ' Did you mean ' : '', ...linksOf(like, s => { const q = $('#q'); q.value = q.value.toLowerCase().replace(w, s); search(q.value); q.focus(); }), like.length ? '?' : ''));
}
