/* Columns that came along: the words of every value, and the groups its documents are in. */
let curColumn = 0, saidColumn = -1;
function fieldSection() {
  const tabs = $('#fieldtabs');
  if (!tabs) return;
  const best = M.columns.map((c, i) => [c.adjusted ?? -1, -i]).sort((a, b) => b[0] - a[0] || b[1] - a[1])[0];
  if (M.columns.length > 1) M.columns.forEach((c, i) => tabs.append(el('button', { class: 'btn txt', 'aria-pressed': 'false', text: c.name, on: { click: () => showColumn(i) } })));
  else tabs.hidden = true;
  showColumn(best ? -best[1] : 0);
  followers.push(() => showColumn(curColumn));
}
function showColumn(i) {
  curColumn = i;
  const c = passingColumn(M.columns[i]), grouped = M.grouped && c.table, total = c.sizes.reduce((a, b) => a + b, 0);
  $$('#fieldtabs button').forEach((b, j) => b.setAttribute('aria-pressed', j === i));
  const sizes = c.sizes, most = Math.max(...sizes, 1), order = [...c.values.keys()].filter(v => c.values[v] !== '(none)' || M.columns[i].sizes[v]).sort((a, b) => (c.values[a] === '(none)') - (c.values[b] === '(none)') || sizes[b] - sizes[a] || a - b);
  if (saidColumn !== i) { saidColumn = i; $('#fieldsaid').replaceChildren(...columnSaid(c)); }
  const field = M.fields.findIndex(f => f.name === c.name && !f.guessed), heads = [el('th', { scope: 'col', text: c.name, class: 'txt' }), el('th', { scope: 'col', class: 'fsz', text: 'Documents' }), el('th', { scope: 'col', text: 'Words that distinguish it' })];
  if (grouped) heads.push(el('th', { scope: 'col', class: 'fh' }, el('span', { text: 'Groups' }), el('span', { class: 'cells', 'aria-hidden': 'true' }, ...G.map((g, j) => el('i', { class: 'g' + j, title: nameOf(g) })))), el('th', { scope: 'col', class: 'fm', text: 'Mostly in' }));
  const body = el('tbody');
  for (const v of order) body.append(columnRow(c, v, { grouped, most, total, field }));
  const focused = document.activeElement?.closest?.('#fieldtable') && document.activeElement.textContent;
  $('#fieldtable').replaceChildren(el('table', { class: 'ft' }, el('thead', {}, el('tr', {}, ...heads)), body));
  if (focused) $$('#fieldtable th button').find(b => b.textContent === focused)?.focus({ preventScroll: true }); // drawn again
}
/** A column with the documents that pass the filters, where the page has its values. */
function passingColumn(c) {
  const f = M.fields.findIndex(f => f.name === c.name && !f.guessed), on = f < 0 || c.several ? null : passing('f' + f);
  if (!on) return c;
  const kinds = A.field[f](), at = M.fields[f].values.map(v => c.values.indexOf(v)), sizes = c.values.map(() => 0), table = c.table && c.values.map(() => G.map(() => 0));
  for (let i = 0; i < n; i++) if (on[i] && at[kinds[i]] >= 0) { sizes[at[kinds[i]]]++; if (table) table[at[kinds[i]]][A.cluster[i]]++; }
  return { ...c, sizes, table };
}
function columnRow(c, v, { grouped, most, total, field }) {
  const size = c.sizes[v], name = c.values[v], kind = field >= 0 && sc ? M.fields[field].values.indexOf(name) : -1;
  const now = filters.get('f' + field);
  const label = kind >= 0 ? el('button', { class: 'txt', dir: 'auto', title: `Only ${name}`, 'aria-pressed': String(now?.code[1] === name), text: name, on: { click: () => narrow(kindFilter(fieldScheme(field), kind)) } }) : el('span', { class: 'txt', dir: 'auto', text: name });
  const words = c.words[v], cells = [el('th', { scope: 'row' }, label), el('td', { class: 'fsz' }, el('span', { class: 'szbar', title: pct(size / total, 1) }, el('i', { css: { width: Math.max(1, 46 * size / most) + 'px' } }), N(size)))];
  const none = name === '(none)' ? 'no value' : size < 5 ? 'too few documents to tell' : 'none that chance could not explain';
  cells.push(el('td', { class: 'fw' }, words.length ? el('span', {}, ...words.slice(0, 6).flatMap((w, j) => [j ? ' · ' : null, el('button', { class: 'txt', text: w[0], title: `${pctS(w[1])} of these, ${pctS(w[2])} elsewhere`, on: { click: () => lookup(w[0], true) } })])) : el('span', { class: 'note', text: none })));
  if (grouped) {
    const row = c.table[v], sum = row.reduce((a, b) => a + b, 0), part = row.map(x => (sum ? x / sum : 0)), best = part.indexOf(Math.max(...part));
    const said = sum ? part.map((p, j) => [p, j]).filter(([p]) => p >= .05).sort((a, b) => b[0] - a[0]).slice(0, 4).map(([p, j]) => `${shortName(G[j])} ${pct(p)}`).join(', ') : 'in no group';
    cells.push(el('td', { class: 'fh' }, el('span', { class: 'cells', role: 'img', 'aria-label': said }, ...part.map((p, j) => el('i', { class: 'g' + j, title: `${nameOf(G[j])}: ${pctS(p)} of ${name}`, css: { '--a': pct(p ** .7, 1) } })))));
    cells.push(el('td', { class: 'fm' }, sum ? el('span', { class: 'g' + best }, el('i', { class: 'sw' }), el('span', { class: 'txt w', title: said, text: shortName(G[best]) }), el('b', { text: pctS(part[best]) })) : el('span', { class: 'note', text: '–' })));
  }
  return el('tr', { class: filters.size && !size && 'out' }, ...cells);
}
/** How well groups and the column predict each other, in a sentence or two. */
function columnSaid(c) {
  const out = [], some = c.words.filter(w => w.length).length, known = c.values.filter(v => v !== '(none)').length;
  if (c.v != null) {
    out.push(c.how ? `The groups follow this column ${c.how}: ` : 'The groups have nothing to do with this column: ', el('b', { text: `V-measure ${c.v.toFixed(2)}` }),
      `. Homogeneity ${c.homogeneity.toFixed(2)} (1: no group mixes values), completeness ${c.completeness.toFixed(2)} (1: no value is spread over groups), mutual information adjusted for chance ${(+c.adjusted.toFixed(2) || 0).toFixed(2).replace('-', '−')}. `);
  }
  out.push(some === 0 ? 'No word distinguishes one of its values more than chance would.' : some === known ? 'Every value has words of its own.' : `${N(some)} of ${plural(known, 'value')} ${some === 1 ? 'has words of its own' : 'have words of their own'}.`);
  return out;
}
sections.push({ start: fieldSection });
