/* Dividing anew with another number of groups or effort; the page then loads what was found. */
const DONE = 'tacit-done';
let divideJob = null;
function divide() {
  const form = $('#df');
  if (!form) return;
  divideJob = jobIn($('#dividejob'), { name: 'Dividing anew', end: told => { $('.go', form).disabled = false; if (told.ok) { sessionStorage.setItem(DONE, told.message || 'This is the new result'); location.hash = 'howmany'; location.reload(); } } });
  $('#de').value = M.effort || 'normal';
  form.addEventListener('submit', e => {
    e.preventDefault();
    const k = $('#dk').value.trim();
    $('.go', form).disabled = true;
    divideJob.start({ kind: 'explore', k: k ? +k : null, effort: $('#de').value });
  });
  const done = sessionStorage.getItem(DONE);
  if (done) { sessionStorage.removeItem(DONE); $('#dividejob').replaceChildren(notice(done)); toast('New result'); say(done); }
}
/** The index and the language model are made when the server first opens a project. */
const prepareJob = () => jobIn($('#preparing'), { name: 'Preparing search', quiet: true, end: told => { if (told.ok) $('#preparing').replaceChildren(); } });
/** Work that was under way when the page was opened. */
async function resumeJobs() {
  try {
    const told = await ask('jobs');
    for (const job of told) {
      if (job.state !== 'running') continue;
      const at = { spread: spreadJob, explore: divideJob, prepare: prepareJob() }[job.kind];
      if (at && !at.running) at.follow(job.job);
    }
  } catch { /* the labels say what is wrong */ }
}
