/* Beside the map: the legend, or what is selected. One selection at a time, whatever filters made it. */
function clearSel() { select(null); home(); $('#side').focus({ preventScroll: true }); }
const peek = debounce((s, c) => {
  if (state.sel) return;
  const docs = [];
  if (s) for (let i = 0; i < n; i++) if (s.cat(i) === c) docs.push(i);
  flags(s ? docs : null); paint();
}, 60);

function docItem(d, extra) {
  const g = groupOf(d), note = typeof extra === 'string' ? extra : extra && g ? nameOf(g) : '';
  return el('li', {}, el('button', { on: { click: () => openDoc(d) } },
    el('b', { class: 'txt', dir: 'auto', text: title(d) }),
    opening(d) ? el('span', { class: 's txt', dir: 'auto', text: opening(d) }) : null,
    note ? el('span', { class: 'mm' + (g ? ' g' + g.i : '') }, g ? el('i', { class: 'sw' }) : null, el('span', { class: 'txt', text: note })) : null));
}
const moreOf = (step, left) => (step < left ? `Show ${N(step)} more of ${N(left)}` : `Show ${N(left)} more`);
/** A list that shows some, and more on demand. */
function longList(list, things, item, step) {
  const more = el('button', { class: 'link' });
  let k = 0;
  const add = () => {
    for (const stop = Math.min(things.length, k + step); k < stop; k++) list.append(item(things[k]));
    more.hidden = k >= things.length;
    more.textContent = moreOf(step, things.length - k);
  };
  more.onclick = add; add();
  return el('div', {}, list, more);
}
const docList = (docs, extra, step = 30) => longList(el('ul', { class: 'docs' }), docs, d => docItem(d, typeof extra === 'function' ? extra(d) : extra), step);
function wordBars(list) {
  const box = el('div', { class: 'cw' }), most = Math.max(.05, ...list.map(o => o.p));
  for (const o of list) {
    box.append(
      el('button', { class: 'txt', text: o.w, title: `Look up “${o.w}”`, on: { click: () => lookup(o.w, true) } }),
      el('span', { class: 'b', 'aria-hidden': 'true' }, el('i', { css: { width: pct(o.p / most, 1) } }), el('u', { css: { left: pct(Math.min(1, o.q / most), 1) } })),
      el('span', { class: 'v' }, el('span', { text: pctS(o.p) }), el('span', { class: 'vh', text: ' of these, ' }), el('span', { text: ' / ' + pctS(o.q) }), el('span', { class: 'vh', text: ' elsewhere' })));
  }
  return box;
}
function panel() { if (!state.sel && sc?.any) peek(null); const box = $('#side'); box.scrollTop = 0; box.replaceChildren(...(state.sel ? [sideTabs(), ...(state.side === 'legend' ? legend() : selected(state.sel))] : legend()).filter(Boolean)); }
/** While something is selected, the legend is one click away: it narrows the selection further. */
function sideTabs() {
  const tab = (side, text) => el('button', { class: 'btn', 'aria-pressed': String(state.side === side), text, on: { click: () => { state.side = side; panel(); $(`.sidetabs [data-side=${side}]`).focus({ preventScroll: true }); } }, 'data-side': side });
  return el('div', { class: 'sidetabs', role: 'group', 'aria-label': 'What to show here' }, tab('selection', 'Selection'), tab('legend', 'Legend'));
}

function legend() {
  const s = scheme(), out = [];
  if (s.value) {
    const sure = s.what === 'confidence';
    out.push(el('h3', { text: sure ? 'How sure each placement is' : 'Length of each document' }),
      el('p', { class: 'sub', text: sure ? `In what part of ${M.repeats} repeats each document was in its group. ${plural(M.unsure, 'document')} ${M.unsure === 1 ? 'was' : 'were'} there in fewer than half.` : 'Words in the document. Logarithmic scale; the ends hold all shorter and all longer ones.' }),
      el('div', { class: 'ramp', role: 'img', 'aria-label': `Color scale from ${s.lo} to ${s.hi}` }),
      el('div', { class: 'ramplbl' }, el('span', { text: s.lo }), el('span', { text: s.hi })));
    if (sure) out.push(el('h4', { text: 'Least certain documents' }), docList([...Array(n).keys()].sort((a, b) => A.conf[a] - A.conf[b]).slice(0, 30), true, 10));
    else if (n <= 60) out.push(el('h4', { text: 'All documents' }), docList([...Array(n).keys()], false, 30));
    return out;
  }
  const count = new Uint32Array(s.names.length), dim = s.what === 'group' ? 'group' : s.what[0] === 'f' && s.field ? s.what : 'label', on = passing(dim), now = filters.get(dim);
  for (let i = 0; i < n; i++) if (!on || on[i]) count[s.cat(i)]++;
  const order = [...count.keys()], groups = s.what === 'group' && !s.k, ul = el('ul', { class: 'legend' });
  if (!groups) order.sort((a, b) => count[b] - count[a]);
  for (const c of order) {
    const g = groups ? G[c] : s.nodes ? s.nodes[c] : null;
    ul.append(el('li', {}, el('button', {
      class: on && !count[c] && 'out', 'aria-pressed': filters.size ? String(!!now && sameFilter(now, kindCode(s, c))) : null,
      title: g ? `${LEVEL[g.lvl]}: median overlap ${g.med.toFixed(2)} in the repeats` : s.names[c],
      on: { click: () => narrow(kindFilter(s, c)), mouseenter: () => peek(s, c), mouseleave: () => peek(null), focus: () => peek(s, c), blur: () => peek(null) },
    }, el('i', { class: 'sw ' + (s.slots[c] === -2 ? 'podd' : s.slots[c] < 0 ? 'pnone' : 'p' + s.slots[c]) }), el('span', { class: 'w txt', dir: 'auto', text: s.names[c] }), el('span', { class: 'n', text: N(g && !on ? g.n : count[c]) }),
    g ? sureIcon(g.lvl) : el('span'), g ? el('span', { class: 'vh', text: LEVEL[g.lvl] }) : null)));
  }
  const head = s.field ? s.field.name : s.nodes ? levelName(s.level) : s.k ? `If there were ${s.k} groups` : `${K} groups`;
  const sub = s.sub ? s.sub : s.field ? 'Supplied with the documents. Not used to find the groups.' : s.nodes ? 'A level of the tree of groups. A name sets a group apart inside the larger group that it is part of.' : s.k ? 'Colors follow the group that each one mostly came from.' : 'Named by their most contrasting words. Neighbors in this list are alike.';
  out.push(el('h3', { class: 'txt', text: head }), el('p', { class: 'sub', text: sub }), ul);
  if (s.more) out.push(...s.more());
  if (groups || s.nodes) out.push(el('div', { class: 'note key' }, ...['firm', 'tentative', 'loose'].map(l => (groups && G.some(g => g.lvl === l) ? verdictButton(l, [sureIcon(l), l]) : el('span', {}, sureIcon(l), l)))));
  if (s.what === 'group' && A.odd) out.push(oddKey());
  if (s.k) out.push(el('div', { class: 'rowbtns' }, button(M.grouped ? `Back to ${K} groups` : 'Back', () => (s.nodes ? setLevel(M.level) : setK(K)))));
  return out;
}
/** The gray points: documents unlike all others, whatever group is nearest to them. */
function oddKey() {
  const on = passing('odd'), docs = [...Array(n).keys()].filter(i => A.odd[i] && (!on || on[i]));
  return el('ul', { class: 'legend apart' }, el('li', {}, el('button', { on: { click: () => narrow(oddFilter()) } },
    el('i', { class: 'sw podd' }), el('span', { class: 'w', text: 'Unlike all others' }), el('span', { class: 'n', text: N(docs.length) }), el('span'))));
}
function selected(s) {
  const m = s.docs.length, search = s.kind === 'search', off = search ? s.off : [];
  const out = [el('h3', { class: 'txt' }, search ? `${s.before || ''}${plural(m + off.length, 'document')} matching ${s.label}` : plural(m, 'document')), search ? null : s.kind === 'several' ? el('ul', { class: 'chips', 'aria-label': 'Active filters' }, ...[...filters.values()].map(each => chipOf(each, () => $('#side').focus({ preventScroll: true })))) : el('p', { class: 'sub txt', text: s.label })];
  if (search && s.meant?.length) out.push(...meantBox(s.meant));
  if (off.length) out.push(...offMapBox(off));
  if (!m) return [...out, el('p', { class: 'sub', text: s.note || 'Nothing here.' }), el('div', { class: 'rowbtns' }, button('Clear', clearSel))];
  if (M.grouped) out.push(mixture(s.docs));
  if (M.redacted) out.push(el('p', { class: 'note', text: 'Which words these documents use was left out of this page.' }));
  else if (m < 5) out.push(el('p', { class: 'note', text: 'Fewer than five documents: contrast words would be noise, so none are shown.' }));
  else if (m === n) out.push(el('p', { class: 'note', text: 'This is the whole collection: there is nothing to contrast it with.' }));
  else {
    const named = contrast(s.docs, 16, true), words = (named.length ? named : contrast(s.docs, 16)).filter(o => !s.q || !s.q.some(q => o.w.startsWith(q))).slice(0, 12);
    out.push(el('h4', { text: 'Words used more here than elsewhere' }), el('div', {}, wordBars(words)), el('p', { class: 'note', text: 'Percentage of the documents here / of all others. The tick marks the others.' }));
  }
  out.push(el('div', { class: 'rowbtns' },
    button('Clear', clearSel),
    button('Zoom to fit', () => fit(s.docs)),
    button('Save CSV', () => csv(s))));
  out.push(...extras.selection.flatMap(more => more(s)));
  const rank = s.rank || (d => A.conf[d]), sorted = [...s.docs].sort((a, b) => rank(b) - rank(a) || a - b);
  out.push(el('h4', { text: 'Documents' }), docList(sorted, true, 25));
  if (s.note) out.push(el('p', { class: 'note txt', text: s.note }));
  return out;
}
/** Which groups a selection is made of. */
function mixture(docs) {
  const by = new Uint32Array(K), m = docs.length, strip = el('div', { class: 'mini', role: 'img' });
  let unsure = 0;
  for (const d of docs) { by[A.cluster[d]]++; if (A.conf[d] < 128) unsure++; }
  const parts = [...by.keys()].filter(g => by[g]).sort((a, b) => by[b] - by[a]), said = k => parts.slice(0, k).map(g => `${shortName(G[g])} ${pct(by[g] / m)}`).join('; ');
  strip.setAttribute('aria-label', 'Groups: ' + said(5));
  for (const g of parts) strip.append(el('i', { class: 'g' + g, title: `${nameOf(G[g])}: ${by[g]}`, css: { 'flex-grow': by[g] } }));
  const others = parts.length > 3 ? `; ${plural(parts.length - 3, 'more group')}` : '';
  return el('div', {}, strip, el('p', { class: 'note txt', text: `Groups: ${said(3)}${others}. Uncertain placements: ${pct(unsure / m)}.` }));
}
function csv(s) {
  const safe = v => { v = String(v); if (/^[=+\-@\t\r]/.test(v)) v = "'" + v; return '"' + v.replace(/"/g, '""') + '"'; };
  const lines = [M.grouped ? 'id,title,group,group_name,support' : 'id,title'];
  for (const d of s.docs) {
    const g = groupOf(d);
    lines.push([safe(docId(d)), safe(title(d)), ...(g ? [g.number, safe(nameOf(g)), (A.conf[d] / 255).toFixed(2)] : [])].join(','));
  }
  const a = el('a', { download: 'selection.csv', href: URL.createObjectURL(new Blob(['\ufeff' + lines.join('\r\n')], { type: 'text/csv' })) });
  a.click(); setTimeout(() => URL.revokeObjectURL(a.href), 4000);
  toast(`Saved ${plural(s.docs.length, 'row')}`);
}
