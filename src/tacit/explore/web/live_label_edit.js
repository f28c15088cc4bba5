/* Changing a label as a whole: another name, one label made of two, or none. How many documents
   that changes is said before it is done; merging and deleting are asked about. */
let editing = null; // {name, form} of the label whose form is open
const oneSpace = text => text.trim().replace(/\s+/g, ' ');
const labelNamed = name => labeled.names.find(l => l.name === name);
const focusEdit = name => $$('#labellist .edit').find(b => b.dataset.label === name)?.focus();
/** “3 documents”, and those that are not here at the moment but change as well. */
const reach = l => plural(l.count, 'document') + (l.away ? ` here and ${N(l.away)} gone or changed` : '');
const verb = (l, one, many) => (l.count + l.away === 1 ? one : many);

function editButton(l) {
  const open = editing?.name === l.name;
  return linkButton('Edit', () => (open ? stopEdit() : startEdit(l.name)), { class: 'link edit', 'data-label': l.name, 'aria-label': `Edit the label ${l.name}`, 'aria-expanded': String(open) });
}
function startEdit(name) {
  editing = { name, form: editForm(name) };
  drawLabels();
  $('#labto').focus(); $('#labto').select();
}
function stopEdit() {
  const { name } = editing;
  editing = null; drawLabels(); focusEdit(name);
}
/** The form of a label, if it is the one that is open. */
function openEdit(l) {
  if (editing?.name !== l.name) return null;
  editing.form.refresh();
  return editing.form;
}
function editForm(name) {
  const field = el('input', { class: 'field', id: 'labto', autocomplete: 'off', maxlength: 200, value: name, 'aria-describedby': 'labnote' }), note = el('p', { class: 'note txt', id: 'labnote', dir: 'auto' });
  const go = el('button', { class: 'btn go', text: 'Rename' }), fields = [el('label', { class: 'minor', for: 'labto', text: 'New name' }), el('div', { class: 'ask' }, field, go), note,
    el('div', { class: 'rowbtns' }, button('Delete label…', () => sureDelete()), button('Cancel', stopEdit))];
  const form = el('form', { class: 'labedit', 'aria-label': `Edit the label ${name}` }, ...fields), fault = e => { note.classList.add('fault'); note.textContent = e.message; say(e.message); if (!form.isConnected) toast(e.message); };
  const back = () => { form.replaceChildren(...fields); form.refresh(); field.focus(); };
  /** A question with two answers; the one that changes nothing is at hand. */
  const sure = (question, yes, act, no) => {
    const keep = button(no, back);
    form.replaceChildren(el('div', { role: 'group', 'aria-labelledby': 'labsure' }, el('p', { class: 'txt', id: 'labsure', dir: 'auto', text: question }), el('div', { class: 'rowbtns' }, button(yes, act, { class: 'btn go' }), keep)));
    keep.focus();
  };
  const sureMerge = to => {
    const l = labelNamed(name), other = labelNamed(to);
    sure(`Merge “${name}” into “${to}”? ${reach(l)} ${verb(l, 'changes', 'change')} to “${to}”, which then has ${N(l.count + other.count)}.`, `Merge ${plural(l.count + l.away, 'document')}`, () => rename(to, true), 'Keep both');
  };
  const sureDelete = () => {
    const l = labelNamed(name);
    sure(`Delete “${name}”? ${reach(l)} ${verb(l, 'loses', 'lose')} this label. The documents themselves stay.`, `Delete from ${plural(l.count + l.away, 'document')}`, () => change('labels/delete', { name }, null, result => `Deleted “${name}” from ${plural(result.changed, 'document')}`), 'Keep it');
  };
  const rename = (to, merge) => change('labels/rename', { name, to, merge }, to, result => `${merge ? 'Merged' : 'Renamed'} “${name}” ${merge ? 'into' : 'to'} “${to}”: ${plural(result.changed, 'document')}`);
  async function change(path, body, to, words) {
    form.inert = true;
    try {
      const result = await ask(path, { body });
      editing = null;
      takeLabels(result, name, to); refreshLabelBoxes();
      toast(words(result)); say(words(result));
      if (to === null) $('#labundo')?.focus(); else focusEdit(to);
    } catch (e) {
      form.inert = false;
      back();
      if (e.status === 404 || e.status === 409) await loadLabels(); // somebody was faster
      if (e.status === 409 && !body.merge && to !== null && labelNamed(to) && editing?.form === form) sureMerge(to); else fault(e);
    }
  }
  form.refresh = () => {
    const l = labelNamed(name), to = oneSpace(field.value), other = to !== name && labelNamed(to);
    note.classList.remove('fault');
    go.textContent = other ? 'Merge…' : 'Rename';
    note.textContent = !to ? 'Type a name.' : to === name ? `${reach(l)} ${verb(l, 'carries', 'carry')} this label.` : other ? `“${to}” is there already, on ${reach(other)}.` : `${reach(l)} ${verb(l, 'changes', 'change')} to “${to}”.`;
  };
  field.addEventListener('input', form.refresh);
  form.addEventListener('submit', e => {
    e.preventDefault();
    const to = oneSpace(field.value);
    if (!to || to === name) { form.refresh(); field.focus(); say(to ? 'Type another name' : 'Type a name'); } else if (labelNamed(to)) sureMerge(to); else rename(to, false);
  });
  form.addEventListener('keydown', e => { if (e.key === 'Escape') { e.stopPropagation(); stopEdit(); } });
  return form;
}
