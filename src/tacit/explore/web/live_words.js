/* Any word of the collection, not only those that came with the page. */
extras.word.push(w => [button('In context', () => contextFor(w)), button('Search', () => findFor(w))]);

let wordPlace = null;
extras.known = () => wordPlace?.stop();
extras.unknown = w => {
  wordPlace ||= answersIn($('#nb'));
  wordPlace.ask('neighbors', { query: { q: w, top: 12 } }, result => {
    $('#sugs').replaceChildren();
    if (result.suggest?.length) $('#sugs').replaceChildren('Did you mean', ...result.suggest.map(s => linkButton(s, () => lookup(s))));
    if (!result.documents) return [notice(`“${w}” is in no document.`)];
    const out = [el('p', { class: 'note txt', text: `“${result.word}” is in ${plural(result.documents, 'document')} (${pct(result.documents / M.total, 1)}).${result.documents < 20 ? ' Few documents: treat its neighbors as hints.' : ''}` })];
    if (result.near.length) {
      const box = el('div', { class: 'nbs live' });
      for (const [word, alike] of result.near) box.append(el('button', { class: 'txt', type: 'button', text: word, on: { click: () => lookup(word) } }), el('span', { class: 'b', 'aria-hidden': 'true' }, el('i', { css: { width: pct(clamp(alike, 0, 1)) } })), el('span', { class: 'v', text: alike.toFixed(2) }));
      out.push(el('h3', { class: 'minor', text: 'Used in similar contexts' }), box);
    }
    if (M.grouped && result.groups?.length) {
      const by = new Map(result.groups);
      out.push(...groupBars(G.map(g => (by.get(g.number) || 0) / Math.max(1, g.n))));
    }
    if (result.note) out.push(notice(result.note, 'note'));
    out.push(el('div', { class: 'rowbtns' }, ...extras.word.flatMap(more => more(w))));
    return out;
  });
};
