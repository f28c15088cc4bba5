/* Merging, splitting and pinning groups. The server does it as a job; the page then loads the new groups. */
function groupEditBox(g) {
  const host = el('div', { class: 'grpjob' }), near = [...g.near, ...G.map(o => o.i)].filter((j, at, all) => j !== g.i && all.indexOf(j) === at);
  const job = jobIn(host, { name: 'Changing the groups', end: result => { for (const b of all) b.inert = false; if (result.ok) { sessionStorage.setItem(EDITED, result.message); history.replaceState(null, '', '#groups'); location.reload(); } } });
  const start = (edit, groups) => { for (const b of all) b.inert = true; job.start({ kind: 'edit', edit, groups }); };
  const other = el('select', { class: 'field', 'aria-label': `Merge ${nameOf(g)} with` }, ...near.map(j => el('option', { value: j, text: nameOf(G[j]).slice(0, 60) })));
  const form = el('form', { class: 'grpedit', hidden: true, on: { submit: e => { e.preventDefault(); start('merge', [g.number, G[other.value].number]); } } }, el('div', { class: 'ask' }, other, el('button', { class: 'btn go', text: 'Merge' })), el('p', { class: 'note', text: 'The closest groups come first.' }));
  const open = button('Merge…', () => { form.hidden = !form.hidden; open.setAttribute('aria-expanded', String(!form.hidden)); if (!form.hidden) other.focus(); }, { 'aria-expanded': 'false' });
  const all = [K > 2 ? open : null, button('Split', () => start('split', [g.number])), g.edited === 'pinned' ? null : button('Pin', () => start('pin', [g.number]), { title: 'Keep its documents together in later runs' }), M.edits ? button('Undo the last edit', () => start('undo', [])) : null, form].filter(Boolean);
  return [...all, host];
}
const EDITED = 'tacit-edited';
extras.group.push(groupEditBox);
extras.start.push(() => {
  const said = sessionStorage.getItem(EDITED);
  if (said) { sessionStorage.removeItem(EDITED); toast(said); say(said); }
});
