/* Time: documents in every period, the groups among them, and words that rise or fall. */
function timeSection() {
  if (!$('#time')) return;
  const T = M.time;
  if (T.groups) $('#timegroups').replaceChildren(...timeGroups(T)); else $('.timegrid').classList.add('one');
  for (const [id, list, none] of [['rising', T.rising, 'No word rises significantly.'], ['falling', T.falling, 'No word falls significantly.']])
    $('#' + id).replaceChildren(list.length ? el('div', { class: 'tw' }, ...list.flatMap(o => trendWord(o, T))) : el('p', { class: 'note', text: none }));
  drawTime();
  followers.push(drawTime);
}
/** Two charts on one axis: how many documents, and the fraction of each group. */
function drawTime() {
  const host = $('#timechart');
  if (!host) return;
  const T = passingTime(), P = T.periods.length, W = host.clientWidth || 700, m = { l: 46, r: 8, t: 10, b: 26 }, top = 120, gap = 26, low = T.groups ? 250 : 0, H = m.t + top + (low ? gap + low : 0) + m.b;
  const step = (W - m.l - m.r) / P, wide = clamp(step - (step > 6 ? 2 : .6), 1, 84), x = i => m.l + i * step + (step - wide) / 2, most = Math.max(...(T.totals || T.sizes), 1);
  const peak = T.sizes.indexOf(Math.max(...T.sizes));
  const s = svg('svg', { class: 'ch', viewBox: `0 0 ${W} ${H}`, width: W, height: H, role: 'img', 'aria-label': `Documents by ${T.unit}, ${T.periods[0]} to ${T.periods.at(-1)}; most, ${N(T.sizes[peak])}, in ${T.periods[peak]}${T.groups ? '. Below, the percentage of each group.' : ''}` });
  const y = v => m.t + top * (1 - v / most), [marks] = steps(0, most);
  for (const v of marks.filter(v => v === Math.round(v))) { s.append(svg('path', { class: 'g', d: `M${m.l} ${y(v)}H${W - m.r}` })); label(s, m.l - 7, y(v) + 4, 'end', v >= 10000 ? v / 1000 + 'k' : N(v)); }
  if (T.totals) T.totals.forEach((v, i) => s.append(svg('rect', { class: 'tw0', x: x(i), y: y(v), width: wide, height: m.t + top - y(v) })));
  T.sizes.forEach((v, i) => s.append(svg('rect', { class: i >= T.from && i <= T.to ? 'tb on' : 'tb', x: x(i), y: y(v), width: wide, height: Math.max(v ? 1 : 0, m.t + top - y(v)) }, svg('title', { text: `${T.periods[i]}: ${plural(v, 'document')}` }))));
  if (low) {
    const y0 = m.t + top + gap, sum = T.sizes.map((_, i) => T.groups.reduce((a, row) => a + row[i], 0));
    for (const v of [0, .5, 1]) { s.append(svg('path', { class: 'g', d: `M${m.l} ${y0 + low * (1 - v)}H${W - m.r}` })); label(s, m.l - 7, y0 + low * (1 - v) + 4, 'end', pct(v)); }
    for (let i = 0; i < P; i++) {
      let at = y0;
      const few = sum[i] < 10;
      if (sum[i]) T.groups.forEach((row, g) => {
        const h = low * row[i] / sum[i];
        if (h > 0) s.append(svg('rect', { class: `ts g${g}${few ? ' few' : ''}`, 'data-g': g, x: x(i), y: at, width: wide, height: h }, svg('title', { text: `${nameOf(G[g])}, ${T.periods[i]}: ${pctS(row[i] / sum[i])} (${N(row[i])} of ${N(sum[i])})` })));
        at += h;
      });
    }
  }
  const room = Math.max(1, Math.ceil((Math.max(...T.periods.map(p => p.length)) * 6.6 + 14) / step));
  for (let i = 0; i < P; i += room) if (x(i) + wide / 2 + T.periods[i].length * 3.3 < W) label(s, x(i) + wide / 2, H - 6, 'middle', T.periods[i]);
  host.replaceChildren(s, periodButtons(T, i => m.l + i * step, step, H));
}
/** Over every bar a button, one of them in the order of tabs: the arrows move, Shift takes the periods between. */
function periodButtons(T, x, step, H) {
  const row = el('div', { class: 'periods', role: 'group', 'aria-label': `Only one ${T.unit}: arrow keys move, Enter chooses, Shift and Enter chooses all between` }), focused = periodButtons.last;
  if (!sc) return row;
  const choose = (i, more) => { periodButtons.last = i; const now = filters.get('time'); narrow(more && now ? timeFilter(i < now.from ? now.to : now.from, i) : timeFilter(i)); };
  T.periods.forEach((name, i) => row.append(el('button', { 'aria-label': `${name}: ${plural(T.sizes[i], 'document')}`, 'aria-pressed': String(i >= T.from && i <= T.to), tabindex: i === (focused ?? 0) ? 0 : -1, title: `${name}: ${plural(T.sizes[i], 'document')}`, css: { left: x(i) + 'px', width: step + 'px', height: H + 'px' },
    on: { click: e => choose(i, e.shiftKey), keydown: e => {
      const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: T.periods.length - 1 }[e.key];
      if (to == null || !row.children[to]) return;
      e.preventDefault(); e.currentTarget.tabIndex = -1; row.children[to].tabIndex = 0; periodButtons.last = to; row.children[to].focus();
    } } })));
  if (focused != null && (document.activeElement?.closest?.('.periods'))) requestAnimationFrame(() => row.children[focused]?.focus({ preventScroll: true }));
  return row;
}
/** Sizes and groups of every period over the documents that pass the other filters; from and to are the periods chosen. */
function passingTime() {
  const T = M.time, on = sc ? passing('time') : null, now = filters.get('time'), chosen = { from: now ? now.from : Infinity, to: now ? now.to : -1 };
  if (!on) return { ...T, ...chosen };
  const at = A.period(), sizes = T.periods.map(() => 0), totals = sizes.slice(), groups = T.groups && G.map(() => sizes.slice());
  for (let i = 0; i < n; i++) if (at[i]) { totals[at[i] - 1]++; if (on[i]) { sizes[at[i] - 1]++; if (groups) groups[A.cluster[i]][at[i] - 1]++; } }
  return { ...T, ...chosen, sizes, totals, groups };
}
function timeGroups(T) {
  const order = [...G.keys()].sort((a, b) => (Math.abs(T.moves[b]) - Math.abs(T.moves[a])) || Math.abs(T.late[b] - T.early[b]) - Math.abs(T.late[a] - T.early[a]));
  const light = g => $$('#timechart .ts').forEach(r => { r.classList.toggle('dim', g != null && +r.dataset.g !== g); });
  const item = g => el('li', { class: 'g' + g }, el('button', { on: { click: () => { pickGroup(g); $('#groups').scrollIntoView(); }, mouseenter: () => light(g), mouseleave: () => light(null), focus: () => light(g), blur: () => light(null) } },
    el('i', { class: 'sw' }), el('span', { class: 'w txt', text: nameOf(G[g]) }), el('span', { class: 'v', text: `${pctS(T.early[g])} → ${pctS(T.late[g])}` }), el('span', { class: 'mv', text: T.moves[g] > 0 ? '▲' : T.moves[g] < 0 ? '▼' : '–', title: T.moves[g] > 0 ? 'grows' : T.moves[g] < 0 ? 'shrinks' : 'no significant change' }), el('span', { class: 'vh', text: T.moves[g] > 0 ? 'grows' : T.moves[g] < 0 ? 'shrinks' : 'no significant change' })));
  return [el('h3', { class: 'minor', text: 'Groups, first to last third of the documents' }), el('p', { class: 'note', text: 'The arrow is given where the change is more than chance. Faint bars: fewer than ten documents.' }), el('ul', { class: 'tg' }, ...order.map(item))];
}
/** A word, the part of the documents that has it in every period, and at either end. */
function trendWord(o, T) {
  const W = 220, H = 26, most = Math.max(...o.shares.filter((_, i) => T.sizes[i] >= 10), .01);
  const shown = o.shares.map((v, i) => [i, v]).filter(([i]) => T.sizes[i] >= 10), some = shown.length > 1 ? shown : o.shares.map((v, i) => [i, v]);
  const first = some[0][0], x = i => 4 + (W - 8) * (i - first) / Math.max(1, some.at(-1)[0] - first), y = v => H - 3 - (H - 6) * Math.min(1, v / most), [last] = some.slice(-1);
  const s = svg('svg', { class: 'ch tsp', viewBox: `0 0 ${W} ${H}`, role: 'img', 'aria-label': `From ${pctS(o.early)} to ${pctS(o.late)} of the documents` },
    svg('path', { class: 'g', d: `M0 ${H - 3}H${W}` }), svg('path', { class: 'ln', d: 'M' + some.map(([i, v]) => `${x(i).toFixed(1)} ${y(v).toFixed(1)}`).join('L') }), svg('circle', { class: 'pt', cx: x(last[0]), cy: y(last[1]), r: 2.6 }));
  return [el('button', { class: 'txt', text: o.word, title: `Look up “${o.word}”`, on: { click: () => lookup(o.word, true) } }), s, el('span', { class: 'v', text: `${pctS(o.early)} → ${pctS(o.late)}` })];
}
sections.push({ start: timeSection, resize: drawTime });
