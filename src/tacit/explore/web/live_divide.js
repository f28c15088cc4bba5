/* Grouping again with another number or effort; the page then loads the new result. */
const DONE = 'tacit-done';
let divideJob = null;
function divide() {
  const form = $('#df');
  if (!form) return;
  divideJob = jobIn($('#dividejob'), { name: 'Grouping again', end: result => { $('.go', form).disabled = false; if (result.ok) { sessionStorage.setItem(DONE, result.message || 'This is the new result'); location.hash = 'howmany'; location.reload(); } } });
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
const prepareJob = () => jobIn($('#preparing'), { name: 'Preparing search', quiet: true, end: result => { if (result.ok) $('#preparing').replaceChildren(); } });
/** Work that was under way when the page was opened. */
async function resumeJobs() {
  try {
    const result = await ask('jobs');
    for (const job of result) {
      if (job.state !== 'running') continue;
      const at = { spread: spreadJob, explore: divideJob, prepare: prepareJob() }[job.kind];
      if (at && !at.running) at.follow(job.job);
    }
  } catch { /* the labels say what is wrong */ }
}
