/* Names of one's own, given to documents by click and kept in the project. */
let labeled = { names: [], rows: new Map(), spread: null, undo: 0, version: 0 };
const labelOfRow = row => labeled.rows.get(row) || null;
/* A label keeps its color in this tab, whatever is labeled, renamed, deleted or loaded again. */
const SLOTS_KEPT = `tacit-label-colors:${location.pathname}`;
const slotOfLabel = new Map(JSON.parse(sessionStorage.getItem(SLOTS_KEPT) || '[]'));
function labelSlot(name) {
  if (!labeled.names.some(l => l.name === name)) return -1;
  if (!slotOfLabel.has(name)) {
    const used = new Set(labeled.names.map(l => slotOfLabel.get(l.name)));
    let s = 0;
    while (used.has(s) && s < M.nslots) s++;
    slotOfLabel.set(name, s < M.nslots ? s : slotOfLabel.size % M.nslots);
    sessionStorage.setItem(SLOTS_KEPT, JSON.stringify([...slotOfLabel]));
  }
  return slotOfLabel.get(name);
}
const CHANGED = 'The project has changed since this page was loaded. Load it again first.';
const MOST_ROWS = 100000; // of one request

/** Labels as the server tells them, after one was renamed (from, to) or deleted (from, null). */
function takeLabels(result, from, to) {
  if (to && slotOfLabel.has(from) && !slotOfLabel.has(to)) { slotOfLabel.set(to, slotOfLabel.get(from)); slotOfLabel.delete(from); }
  labeled = { names: result.names, rows: new Map(Object.entries(result.rows).map(([row, name]) => [+row, name])), spread: result.spread, undo: result.undo, away: result.away || 0, version: labeled.version + 1 };
  kindsCache.clear();
  drawLabels(); drawSpread(); mendSides(from, to);
  for (const [id, there] of [['#labopt', labeled.names.length > 0], ['#spreadopt', !!labeled.spread]]) { const o = $(id); if (o) o.hidden = o.disabled = !there; }
  if (sc) {
    if (/^(label|spread)$/.test(state.color)) { if ($(`#color option[value=${state.color}]`).disabled) { state.color = M.grouped ? 'group' : 'length'; $('#color').value = state.color; } paint(); if (!state.sel) panel(); }
  }
}
async function loadLabels() {
  try { takeLabels(await ask('labels', { waiting: text => $('#labellist').replaceChildren(waitLine(text)) })); } catch (e) { $('#labellist').replaceChildren(faultLine(e)); }
}
/** Give documents a label, or none; then tell everybody. */
async function giveLabel(rows, name) {
  name = name === null ? null : name.trim();
  if (name === '' || !rows.length) return false;
  if (rows.length > MOST_ROWS) { toast(`At most ${N(MOST_ROWS)} documents at once`); return false; }
  try {
    if ((await ask('project')).run !== M.run) throw new Refusal(409, CHANGED); // rows may be others by now
    takeLabels(await ask('labels', { body: { rows, name } }));
    const said = name === null ? `Took the label from ${plural(rows.length, 'document')}` : `Labelled ${plural(rows.length, 'document')} “${name}”`;
    toast(said); say(said);
    return true;
  } catch (e) { toast(e.message); say(e.message); return false; }
}
async function undoLabel() {
  try { takeLabels(await ask('labels/undo', { body: {} })); toast('Undone'); say('The last change of labels was undone'); } catch (e) { toast(e.message); say(e.message); }
  refreshLabelBoxes();
}
/** A field and buttons that label some documents; rows() says which. Keeps itself up to date. */
function labelBox(rows, what) {
  const id = `lab${labelBox.count = (labelBox.count || 0) + 1}`, box = el('form', { class: 'labelbox' });
  const field = el('input', { class: 'field', id, list: 'labelnames', autocomplete: 'off', maxlength: 100, placeholder: 'Name of a label' });
  const quick = el('div', { class: 'chips' }), state = el('p', { class: 'note txt' });
  const give = async name => { if (await giveLabel(rows(), name)) { field.value = ''; refreshLabelBoxes(); } };
  box.addEventListener('submit', e => { e.preventDefault(); if (!field.value.trim()) { field.focus(); toast('Type a name first'); return; } give(field.value); });
  box.append(el('label', { class: 'minor', for: id, text: `Label ${what}` }), el('div', { class: 'ask' }, field, el('button', { class: 'btn', text: 'Give label' })), quick, state);
  box.refresh = () => {
    const all = rows(), by = new Map();
    for (const r of all) { const l = labelOfRow(r); if (l) by.set(l, (by.get(l) || 0) + 1); }
    const some = [...by.values()].reduce((a, b) => a + b, 0);
    quick.replaceChildren(...labeled.names.slice(0, 12).map(l => el('button', { class: 'chip', type: 'button', 'aria-pressed': String(by.get(l.name) === all.length), on: { click: () => give(l.name) } }, el('i', { class: `sw p${labelSlot(l.name)}` }), el('span', { class: 'txt', dir: 'auto', text: l.name }))));
    if (some) quick.append(linkButton('Remove label', () => give(null)));
    if (labeled.undo) quick.append(linkButton('Undo', undoLabel));
    state.textContent = !some ? '' : all.length === 1 ? '' : `${N(some)} of ${N(all.length)} have a label: ${[...by].map(([l, c]) => `${l} ${N(c)}`).join(', ')}.`;
  };
  box.refresh();
  return box;
}
const refreshLabelBoxes = () => $$('.labelbox').forEach(box => box.refresh());
function drawLabels() {
  const focused = $('#labellist').contains(document.activeElement) ? document.activeElement : null;
  if (editing && !labelNamed(editing.name)) editing = null;
  showLabels();
  const same = b => b.textContent === focused.textContent && b.getAttribute('aria-label') === focused.getAttribute('aria-label');
  if (focused) (focused.isConnected ? focused : $$('#labellist button').find(same))?.focus({ preventScroll: true }); // drawn again
}
function showLabels() {
  const count = labeled.names.reduce((a, l) => a + l.count, 0);
  $('#h-labels').textContent = count ? `${plural(count, 'document')} ${count === 1 ? 'carries' : 'carry'} ${labeled.names.length === 1 ? 'the label' : `one of ${labeled.names.length} labels`}${labeled.names.length === 1 ? ` “${labeled.names[0].name}”` : ''}` : 'No document has a label yet';
  $('#labelnames').replaceChildren(...labeled.names.map(l => el('option', { value: l.name })));
  const undo = button('Undo the last', undoLabel, { id: 'labundo', disabled: !labeled.undo });
  if (!count) {
    $('#labellist').replaceChildren(notice(sc ? 'Draw around documents on the map, or click a group, and give the selection a name in the panel beside it.' : 'Open a document and give it a name.'), labeled.undo ? el('div', { class: 'rowbtns' }, undo) : '');
    return;
  }
  const list = el('ul', { class: 'lablist' });
  for (const l of labeled.names) {
    const rows = () => [...labeled.rows].filter(([, name]) => name === l.name).map(([row]) => row), docs = M.grouped ? mappedOf(rows()) : [];
    list.append(el('li', {}, el('i', { class: `sw p${labelSlot(l.name)}` }), el('b', { class: 'txt', dir: 'auto', text: l.name }), el('span', { class: 'num note', text: plural(l.count, 'document') }), editButton(l), openEdit(l), docs.length ? el('div', { class: 'mixed' }, mixture(docs)) : null,
      el('div', { class: 'rowbtns' }, sc ? button('Show on the map', () => selectRows(rows(), `Label: ${l.name}`), { 'aria-label': `Show on the map: ${l.name}` }) : null,
        ...['A', 'B'].map(side => button(`Set as ${side}`, () => setSide(side, { label: `Label ${l.name}`, spec: { label: l.name }, count: l.count }), { 'aria-label': `Set as ${side}: ${l.name}` })))));
  }
  $('#labellist').replaceChildren(list, el('div', { class: 'rowbtns' }, sc ? button('Color the map by label', () => colorBy('label')) : '', undo));
  if (labeled.away) $('#labellist').append(notice(`${plural(labeled.away, 'label')} more ${labeled.away === 1 ? 'belongs' : 'belong'} to documents that are gone or have changed.`, 'note'));
}
function colorBy(value) { state.color = value; state.k = null; syncK(); if (state.sel) select(null); else { paint(); panel(); } home(); toMap(); }

/* Labels as something to color by: those given, and those spread to the rest. */
const kindsCache = new Map();
extras.schemes.push(c => {
  if (c !== 'label' && c !== 'spread') return null;
  if (kindsCache.has(c)) return kindsCache.get(c);
  const spread = c === 'spread' && labeled.spread, names = spread ? labeled.spread.classes : labeled.names.map(l => l.name), at = new Map(names.map((name, i) => [name, i])), kinds = new Uint16Array(n), sure = spread ? new Float32Array(n) : null;
  for (let d = 0; d < n; d++) {
    const row = rowsHere[d], labelAt = at.get(labeled.rows.get(row));
    kinds[d] = labelAt ?? (spread ? spreadOf(row)?.kind ?? (labeled.spread.names[row] === NONE ? names.length : names.length + 1) : names.length);
    if (sure) sure[d] = labelAt != null ? 1 : spreadOf(row)?.sure ?? 0;
  }
  const kind = { cat: i => kinds[i], names: [...names, ...(spread ? ['None of these'] : []), 'No label'], slots: [...names.map(labelSlot).map((s, i) => (s < 0 ? i % M.nslots : s)), ...(spread ? [-2] : []), -1], what: `${c}${labeled.version}`, field: { name: spread ? 'Labels, spread to the rest' : 'Labels' },
    sub: spread ? 'Given by you, or guessed from those given. Fainter dots are less sure.' : 'Given by you.', sure: sure && (i => sure[i]) };
  kindsCache.set(c, kind);
  return kind;
});
extras.selection.push(s => [labelBox(() => rowsOf(s.docs), 'these documents'), el('div', { class: 'rowbtns' }, ...abButtons(() => ({ label: s.label, spec: { rows: rowsOf(s.docs) }, count: s.docs.length })))]);
/** A name of the user's own for a group; the page is made again with it. */
function renameBox(g) {
  const field = el('input', { class: 'field', autocomplete: 'off', maxlength: 200, value: nameOf(g), 'aria-label': 'New name of the group' }), note = el('p', { class: 'note txt', dir: 'auto' });
  const send = async name => {
    form.inert = true;
    try { await ask('groups/rename', { body: { group: g.number, name } }); location.hash = 'groups'; location.reload(); } catch (e) { form.inert = false; note.classList.add('fault'); note.textContent = e.message; say(e.message); }
  };
  const form = el('form', { class: 'grpedit', hidden: true, on: { submit: e => { e.preventDefault(); const name = oneSpace(field.value); if (name) send(name); } } }, el('div', { class: 'ask' }, field, el('button', { class: 'btn go', text: 'Rename' })), g.renamed ? el('div', { class: 'rowbtns' }, button('Use the name that was found', () => send(null))) : null, note);
  const open = button('Rename…', () => { form.hidden = !form.hidden; open.setAttribute('aria-expanded', String(!form.hidden)); if (!form.hidden) { field.focus(); field.select(); } }, { 'aria-expanded': 'false' });
  return [open, form];
}
extras.group.push(g => abButtons(() => ({ label: nameOf(g), spec: { group: g.number }, count: g.n })));
extras.group.push(renameBox);
