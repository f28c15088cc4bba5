/* Copies, documents unlike all others, documents with nothing to compare. */
function oddities() {
  const list = $('#dups');
  if (list) {
    const sets = M.sets.length ? [{ name: 'Sets of three or more', count: M.sets.length, sets: M.sets, pairs: [] }] : [], kinds = [...sets, ...M.copies.filter(kind => kind.pairs.length)], tabs = $('#duptabs');
    let shown = kinds[0];
    const draw = kind => {
      const on = passing();
      shown = kind;
      $$('button', tabs).forEach((b, i) => b.setAttribute('aria-pressed', kinds[i] === kind));
      const all = kind.sets || kind.pairs, some = !on ? all : kind.sets ? all.filter(s => s.docs.some(d => on[d])) : all.filter(([a, b]) => on[a] || on[b]);
      list.replaceChildren(some.length ? longList(el('div'), some, kind.sets ? setOf : pairOf, 5) : el('p', { class: 'note', text: 'None of these passes the filters.' }));
      if (kind.sets) return;
      if (kind.count > kind.pairs.length) list.append(el('p', { class: 'note', text: `${N(kind.pairs.length)} of ${N(kind.count)} are listed here.` }));
    };
    for (const kind of kinds) tabs.append(button(`${kind.name} ${N(kind.count)}`, () => draw(kind)));
    if (sc && A.copy()) $('#aside').replaceChildren(el('button', { class: 'btn', text: `Set ${M.redundant === 1 ? 'the copy' : `${N(M.redundant)} copies`} aside`, title: 'On this page, count every text once', on: { click: () => narrow(onceFilter(), { nofly: true }) } }));
    if (kinds.length) { draw(kinds[0]); followers.push(() => draw(shown)); }
  }
  const odd = new Map(M.outliers.map(([d, score, why]) => [d, `${score.toFixed(1)} times the limit: ${why}`]));
  const drawOdd = () => { const on = passing(), docs = [...odd.keys()].filter(d => !on || on[d]); $('#outl').replaceChildren(docs.length ? docList(docs, d => odd.get(d), 6) : el('p', { class: 'note', text: 'None of these passes the filters.' })); };
  if ($('#outl')) { drawOdd(); followers.push(drawOdd); if (M.unlike > odd.size) $('#outl').after(el('p', { class: 'note', text: `The ${N(odd.size)} furthest of ${N(M.unlike)} are listed here.` })); }
  if ($('#pairs')) $('#pairs').append(longList(el('div'), M.closest, pairOf, 6));
  const blank = $('#empt');
  if (blank) blank.parentNode.append(longList(blank, M.blanks, ([d, count]) => el('li', {}, el('span', { class: 'txt', dir: 'auto', text: texts.t[wordAt(d)] || docId(d) }), el('span', { text: count ? plural(count, 'word') : 'empty' })), 6));
}
/** Documents with the same text, listed once. */
function setOf(s) {
  const d = s.docs[0], inside = () => { const docs = [], all = A.copySet()[d]; for (let i = 0; i < n; i++) if (A.copySet()[i] === all) docs.push(i); return docs; };
  return el('div', { class: 'pair one' }, el('div', { class: 'ph' }, el('b', { text: plural(s.n, 'document') }), el('span', { text: s.exact ? 'share this text, word for word' : 'share most of this text' })),
    el('div', {}, el('button', { class: 'd', on: { click: () => openDoc(d) } }, el('b', { class: 'txt', dir: 'auto', text: title(d) })), el('span', { class: 's txt', dir: 'auto', text: opening(d) }),
      sc && d < n ? el('div', { class: 'rowbtns' }, button('Show them on the map', () => { select({ kind: 'set', label: `Copies of “${title(d).slice(0, 40)}”`, docs: inside() }); toMap(); })) : null));
}
/** Every text once: without the documents that repeat an earlier one. */
function onceFilter() {
  const docs = [], again = A.copy();
  for (let i = 0; i < n; i++) if (!again?.[i]) docs.push(i);
  return { kind: 'once', label: 'Without copies', docs, code: ['once', '1'] };
}
function pairOf([a, b, overlap]) {
  const known = new Map();
  const side = (x, y) => {
    const others = known.get(y) || known.set(y, new Set(opening(y).toLowerCase().split(/\s+/))).get(y), p = el('span', { class: 's txt', dir: 'auto' });
    for (const w of opening(x).split(/(\s+)/)) p.append(/\S/.test(w) && !w.endsWith('…') && !others.has(w.toLowerCase()) && overlap != null ? el('mark', { text: w }) : w);
    return el('div', {}, el('button', { class: 'd', on: { click: () => openDoc(x) } }, el('b', { class: 'txt', dir: 'auto', text: title(x) })), p);
  };
  const head = overlap == null ? null : el('div', { class: 'ph' }, el('span', { class: 'meter', 'aria-hidden': 'true' }, el('i', { css: { width: pct(overlap) } })), el('span', { text: `${pct(overlap)} of four-word sequences in common` }));
  return el('div', { class: 'pair' }, head, side(a, b), side(b, a));
}
sections.push({ start: oddities });
