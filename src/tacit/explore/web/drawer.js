/* One document. */
function openDoc(d, marks = []) {
  const dialog = $('#drawer'), placed = d < n, g = groupOf(d), kids = [
    el('h2', { class: 'txt', id: 'dr-t', tabindex: -1, dir: 'auto', text: title(d) }),
    el('p', { class: 'ex txt', id: 'dr-ex', dir: 'auto', text: opening(d) }),
    el('p', { class: 'note', id: 'dr-note', text: wordAt(d) < 0 ? 'Its text is not on this page. The project folder holds it.' : 'Its opening. The project folder holds the whole text.' })];
  if (g) {
    const sure = A.conf[d] / 255, next = G[A.second()[d]];
    kids.push(el('h3', { class: 'minor', text: 'Group' }), el('div', { class: 'g' + g.i },
      el('button', { class: 'link txt', text: nameOf(g), on: { click: () => { dialog.close(); pickGroup(g.i); $('#groups').scrollIntoView(); } } }),
      el('div', { class: 'sure', role: 'img', 'aria-label': `In this group in ${pct(sure)} of the repeats` }, el('i', { css: { width: pct(sure) } })),
      el('p', { class: 'note txt', text: `It is in this group in ${pct(sure)} of ${M.repeats} repeats.${next ? ` The next best group: ${nameOf(next)}.` : ''}` })));
  }
  const facts = [['Name', docId(d)]];
  if (placed) facts.push(...M.fields.map((f, i) => [f.name, f.values[A.field[i]()[d]]]), ['Words', N(A.length()[d])]);
  kids.push(el('h3', { class: 'minor', text: 'About this document' }), el('dl', {}, ...facts.flatMap(([a, b]) => [el('dt', { class: 'txt', text: a }), el('dd', { class: 'txt', dir: 'auto', text: b })])));
  if (placed && M.themes) {
    const mix = themesOf(d), box = el('div', { class: 'cw' });
    for (const [t, v] of mix) box.append(el('span', { class: 'txt', dir: 'auto', text: themeName(t, 3) }), el('span', { class: 'b', 'aria-hidden': 'true' }, el('i', { css: { width: pct(v) } })), el('span', { class: 'v', text: pct(v) }));
    if (mix.length) kids.push(el('h3', { class: 'minor', text: 'Themes' }), box);
  }
  if (placed && sc) {
    kids.push(el('div', { class: 'rowbtns' }, button('Find on the map', () => { dialog.close(); toMap(); fly({ x: P[2 * d], y: P[2 * d + 1], s: 5 }); setTimeout(() => hoverAt(d), 520); })));
    const at = wordAt(d), near = at < 0 ? [] : [...Array(M.near).keys()].map(j => [A.near()[M.near * at + j], A.nearSim()[M.near * at + j] / 255]).filter(([q]) => q !== d);
    if (near.length) kids.push(el('div', { id: 'dr-near' }, el('h3', { class: 'minor', text: 'Most similar documents' }), el('ul', { class: 'docs' }, ...near.map(([q, s]) => docItem(q, `Similarity ${s.toFixed(2)}${groupOf(q) ? `, in the group ${groupOf(q).name[0]}` : ''}`)))));
  }
  $('#dr-in').replaceChildren(...kids);
  $('#dr-id').textContent = docId(d);
  if (dialog.open) $('#dr-t').focus(); else dialog.showModal();
  dialog.scrollTop = 0;
  for (const more of extras.drawer) more(d, marks);
}
