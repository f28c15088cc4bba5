/* Copies, documents unlike all others, documents with nothing to compare. */
function oddities() {
  const list = $('#dups');
  if (list) {
    const kinds = M.copies.filter(kind => kind.pairs.length), tabs = $('#duptabs');
    const draw = kind => {
      $$('button', tabs).forEach((b, i) => b.setAttribute('aria-pressed', kinds[i] === kind));
      list.replaceChildren(longList(el('div'), kind.pairs, pairOf, 5));
      if (kind.count > kind.pairs.length) list.append(el('p', { class: 'note', text: `${N(kind.pairs.length)} of ${N(kind.count)} are listed here.` }));
    };
    for (const kind of kinds) tabs.append(el('button', { class: 'btn', text: `${kind.name} ${N(kind.count)}`, on: { click: () => draw(kind) } }));
    if (kinds.length) draw(kinds[0]);
  }
  const odd = new Map(M.outliers.map(([d, score, why]) => [d, `${score.toFixed(1)} times the limit: ${why}`]));
  if ($('#outl')) $('#outl').append(docList([...odd.keys()], d => odd.get(d), 6));
  if ($('#pairs')) $('#pairs').append(longList(el('div'), M.closest, pairOf, 6));
  const blank = $('#empt');
  if (blank) blank.parentNode.append(longList(blank, M.blanks, ([d, count]) => el('li', {}, el('span', { class: 'txt', dir: 'auto', text: texts.t[wordAt(d)] || docId(d) }), el('span', { text: count ? plural(count, 'word') : 'empty' })), 6));
}
function pairOf([a, b, share]) {
  const known = new Map();
  const side = (x, y) => {
    const others = known.get(y) || known.set(y, new Set(opening(y).toLowerCase().split(/\s+/))).get(y), p = el('span', { class: 's txt', dir: 'auto' });
    for (const w of opening(x).split(/(\s+)/)) p.append(/\S/.test(w) && !w.endsWith('…') && !others.has(w.toLowerCase()) && share != null ? el('mark', { text: w }) : w);
    return el('div', {}, el('button', { class: 'd', on: { click: () => openDoc(x) } }, el('b', { class: 'txt', dir: 'auto', text: title(x) })), p);
  };
  const head = share == null ? null : el('div', { class: 'ph' }, el('span', { class: 'meter', 'aria-hidden': 'true' }, el('i', { css: { width: pct(share) } })), el('span', { text: `${pct(share)} of four-word sequences in common` }));
  return el('div', { class: 'pair' }, head, side(a, b), side(b, a));
}
sections.push({ start: oddities });
