/* Two selections side by side: which words each uses more. */
const FIRST = 15; // words shown at first
const sides = { A: null, B: null };
let contrastPlace = null;

/** Buttons that make something A or B; what() gives {label, spec, count} or nothing. */
function abButtons(what) {
  return ['A', 'B'].map(side => button(`Set as ${side}`, async () => { const choice = await what(); if (choice) setSide(side, choice); }));
}
function setSide(side, choice) {
  sides[side] = choice;
  toast(`${choice.label} is ${side}`); say(`${choice.label} is ${side}`);
  drawSides(); compareNow();
}
function compare() { contrastPlace = answersIn($('#contrast')); drawSides(); compareNow(); }
function choices() { // whatever can be compared, by name
  const out = [];
  if (state.sel && state.sel.docs.length) out.push(['Selection', [{ label: state.sel.label, spec: { rows: rowsOf(state.sel.docs) }, count: state.sel.docs.length }]]);
  if (M.grouped) out.push(['Groups', G.map(g => ({ label: nameOf(g), spec: { group: g.number }, count: g.n }))]);
  if (labeled.names.length) out.push(['Labels', labeled.names.map(l => ({ label: l.name, spec: { label: l.name }, count: l.count }))]);
  out.push(['All others', [{ label: 'Everything else', spec: { rest: true } }]]);
  return out;
}
function drawSides() {
  const box = (side, other) => {
    const chosen = sides[side], options = choices(), pick = el('select', { class: 'field', id: `pick${side}`, on: { change: () => { const [a, b] = pick.value.split(','); if (b != null) { setSide(side, options[a][1][b]); $(`#pick${side}`).focus(); } } } }, el('option', { value: '', text: chosen ? 'Choose another…' : 'Choose…' }));
    options.forEach(([name, list], a) => pick.append(el('optgroup', { label: name }, ...list.map((c, b) => el('option', { value: `${a},${b}`, text: c.label + (c.count == null ? '' : ` (${N(c.count)})`) })))));
    return el('div', { class: 'abside' }, el('span', { class: 'letter', 'aria-hidden': 'true', text: side }), el('div', { class: 'abwhat' },
      el('b', { class: 'txt', dir: 'auto', text: chosen ? chosen.label : 'Not chosen yet' }),
      chosen?.count != null ? el('span', { class: 'note num', text: plural(chosen.count, 'document') }) : null,
      el('label', { class: 'vh', for: `pick${side}`, text: `What ${side} is` }), pick));
  };
  $('#ab').replaceChildren(box('A'), box('B'), button('Swap', () => { [sides.A, sides.B] = [sides.B, sides.A]; drawSides(); compareNow(); }, { disabled: !sides.A && !sides.B }));
}
/** Sides that are labels follow them: to another name, to other documents, or away. */
function mendSides(from, to) {
  let mended = false;
  for (const [side, chosen] of Object.entries(sides)) {
    const name = chosen?.spec.label, now = labelNamed(name === from ? to : name);
    if (name == null || (now && now.name === name && now.count === chosen.count)) continue;
    sides[side] = now ? { label: `Label ${now.name}`, spec: { label: now.name }, count: now.count } : null;
    mended = true;
  }
  drawSides();
  if (mended) compareNow();
}
/** Bars of the first words, and of all on demand. */
function longBars(list) {
  const box = el('div', {}, wordBars(list.slice(0, FIRST)));
  if (list.length > FIRST) box.append(linkButton(`Show ${list.length - FIRST} more`, () => box.replaceChildren(wordBars(list))));
  return box;
}
function compareNow() {
  const { A: a, B: b } = sides, head = $('#h-compare');
  head.textContent = 'Which words set two selections apart';
  if (!a || !b) { contrastPlace.clear(); contrastPlace.show(notice(a || b ? `Choose ${a ? 'B' : 'A'} as well to see the words.` : 'Nothing is chosen yet. Every selection, group, label and search has buttons “Set as A” and “Set as B”.')); return; }
  contrastPlace.ask('compare', { body: { a: a.spec, b: b.spec } }, result => {
    const [na, nb] = result.sizes, more = { a: result.words.filter(w => w.score > 0), b: result.words.filter(w => w.score < 0) };
    const column = (side, name, size, list, here, there) => el('div', {}, el('h3', { class: 'sub3 txt', dir: 'auto', text: `More in ${side}` }), el('p', { class: 'note txt', text: `${name}, ${plural(size, 'document')}` }),
      list.length ? longBars(list.map(w => ({ w: w.word, p: w[here], q: w[there] }))) : notice('No word stands out.'));
    const telling = w => /\p{L}{3}/u.test(w.word), top = list => [...list.filter(telling), ...list].slice(0, 2).map(w => `“${w.word}”`).join(' and ');
    if (more.a.length && more.b.length) head.textContent = `A says ${top(more.a)}, B says ${top(more.b)}`;
    say(`Compared ${plural(na, 'document')} with ${plural(nb, 'document')}`);
    return [el('div', { class: 'two' }, column('A', a.label, na, more.a, 'a', 'b'), column('B', b.label, nb, more.b, 'b', 'a')),
      el('p', { class: 'note', text: 'Percentage of documents with the word on this side / on the other. The tick marks the other.' }), result.note ? notice(result.note, 'note') : null];
  });
}
