/* Work the server does in the background: a bar of its stages, how long it has run, and cancel. */
const seconds = ms => { const s = Math.round(ms / 1000); return s < 60 ? `${s} s` : `${Math.floor(s / 60)} min ${s % 60} s`; };

/** Start a job, or follow one that runs, in a host; end({ok, message}) when it is over. A quiet one has no cancel. */
function jobIn(host, { name, end, quiet = false }) {
  let source = null, clock = 0, busy = false;
  const stop = () => { busy = false; source?.close(); source = null; clearInterval(clock); host.removeAttribute('aria-busy'); };
  function follow(id, asked = false) {
    busy = true;
    const began = performance.now(), bar = el('div', { class: 'stages', role: 'progressbar', 'aria-label': name, 'aria-valuemin': 0, 'aria-valuemax': 100 }), title = el('span', { class: 'txt', text: 'Starting…' }), spent = el('span', { class: 'num' });
    let last = 0;
    const cancel = button('Cancel', async () => {
      cancel.disabled = true; title.textContent = 'Stopping…';
      try { await ask(`jobs/${encodeURIComponent(id)}/cancel`, { body: {} }); } catch (e) { if (source) { cancel.disabled = false; title.textContent = e.message; } }
    });
    host.setAttribute('aria-busy', 'true');
    host.replaceChildren(el('div', { class: 'job' }, bar, el('div', { class: 'jobline' }, title, spent, quiet ? '' : cancel)));
    if (asked && !quiet) cancel.focus({ preventScroll: true });
    let until = null; // when the server expects to be done
    clock = setInterval(() => { const left = until == null ? 0 : until - performance.now(); spent.textContent = seconds(performance.now() - began) + (left > 2000 ? `, about ${seconds(left)} left` : ''); }, 500);
    source = new EventSource(`/api/jobs/${encodeURIComponent(id)}/events`);
    source.addEventListener('progress', e => {
      const p = JSON.parse(e.data);
      const most = Math.max(1, p.most || 1), at = clamp(p.number || 0, 0, most), inside = p.done ? 1 : clamp(p.part || 0, 0, 1), done = clamp((Math.max(0, at - 1) + inside) / most, 0, 1);
      if (bar.childElementCount !== most) bar.replaceChildren(...Array.from({ length: most }, () => el('i', {}, el('u'))));
      [...bar.children].forEach((step, i) => { step.classList.toggle('busy', i === at - 1 && !p.done && p.part == null); step.firstChild.style.setProperty('width', pct(i < at - 1 ? 1 : i === at - 1 ? inside : 0)); });
      bar.setAttribute('aria-valuenow', Math.round(100 * done)); bar.setAttribute('aria-valuetext', `${p.title || p.stage || ''}, ${at} of ${most}`);
      if (!cancel.disabled) title.textContent = `${p.title || p.stage || 'Working'}${most > 1 ? ` (${at} of ${most})` : ''}`;
      if (at !== last || p.done) until = p.left == null ? null : performance.now() + 1000 * p.left;
      if (at !== last) { last = at; say(title.textContent); }
    });
    source.addEventListener('end', e => {
      const result = JSON.parse(e.data);
      stop();
      host.replaceChildren(result.ok ? notice(result.message || 'Done.') : notice(result.message || 'It was stopped.', 'state fault'));
      say(result.message || (result.ok ? 'Done' : 'Stopped'));
      end(result);
    });
    source.onerror = () => { if (source && source.readyState === EventSource.CLOSED) { stop(); host.replaceChildren(notice(SILENT, 'state fault')); end({ ok: false, message: SILENT }); } };
  }
  return {
    host, follow, stop,
    get running() { return busy; },
    async start(body) {
      busy = true;
      host.setAttribute('aria-busy', 'true'); host.replaceChildren(waitLine('Starting…'));
      try { follow((await ask('jobs', { body, waiting: text => host.replaceChildren(waitLine(text)) })).job, true); } catch (e) {
        busy = false; host.removeAttribute('aria-busy'); host.replaceChildren(faultLine(e));
        end({ ok: false, message: e.message });
      }
    },
  };
}
