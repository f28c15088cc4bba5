/* Asking the server this page came from. Answers are JSON; whatever is in them enters the page
   as text. A place for answers says that it waits, shows what came, or says why nothing did. */
const BUILDING = 'The server is still preparing this, which takes a moment the first time. It will show here.';
const SILENT = 'The server does not answer. Is tacit serve still running?';
const LOCKED = 'The server does not know this page any more. Open the address that tacit serve printed again.';
const AGAIN = 1200; // milliseconds until a server that is not ready is asked again

class Refusal extends Error {
  constructor(status, said) { super(said); this.status = status; }
}
const pause = (ms, signal) => new Promise((done, fail) => {
  const t = setTimeout(done, ms);
  signal?.addEventListener('abort', () => { clearTimeout(t); fail(new DOMException('', 'AbortError')); });
});
/** ask('search', {query: {q}}) for what changes nothing, ask('labels', {body: {...}}) for what does. */
async function ask(path, { query, body, signal, waiting } = {}) {
  const options = { signal, credentials: 'same-origin', headers: { Accept: 'application/json' } };
  if (body !== undefined) Object.assign(options, { method: 'POST', body: JSON.stringify(body), headers: { ...options.headers, 'Content-Type': 'application/json', 'X-Tacit': '1' } });
  for (;;) {
    let answer, result;
    try { answer = await fetch(`/api/${path}${query ? '?' + new URLSearchParams(query) : ''}`, options); result = await answer.json(); } catch (e) {
      if (e.name === 'AbortError') throw e;
      throw new Refusal(0, answer ? `The server gave an answer that cannot be read (${answer.status}).` : SILENT);
    }
    if (answer.ok) return result;
    if (answer.status !== 503) throw new Refusal(answer.status, answer.status === 401 ? LOCKED : String(result.error || `The server refused (${answer.status}).`));
    waiting?.(String(result.error || BUILDING));
    await pause(AGAIN, signal);
  }
}
const notice = (text, cls = 'state') => el('p', { class: `${cls} txt`, dir: 'auto', text });
const waitLine = text => el('p', { class: 'state wait' }, el('i', { class: 'spin', 'aria-hidden': 'true' }), el('span', { class: 'txt', text }));
function faultLine(e) {
  const said = e instanceof Refusal ? e.message : 'Something on this page went wrong.';
  if (!(e instanceof Refusal)) console.error(e);
  say(said);
  return el('p', { class: 'state fault txt', dir: 'auto', text: said });
}
/** A host element that shows one question at a time; the latest wins. draw(answer) gives what to show. */
function answersIn(host) {
  let current = null;
  const show = (...kids) => host.replaceChildren(...kids.flat().filter(Boolean));
  return {
    host, show,
    stop() { current?.abort(); current = null; host.removeAttribute('aria-busy'); },
    clear() { this.stop(); show(); },
    async ask(path, options, draw) {
      current?.abort();
      const control = current = new AbortController(), slow = setTimeout(() => show(waitLine($('#preparing')?.hasAttribute('aria-busy') ? BUILDING : 'Asking…')), 250);
      host.setAttribute('aria-busy', 'true');
      try {
        const result = await ask(path, { ...options, signal: control.signal, waiting: text => { clearTimeout(slow); show(waitLine(text)); say(text); } });
        clearTimeout(slow);
        if (current === control) show(draw(result));
        return result;
      } catch (e) {
        clearTimeout(slow);
        if (e.name !== 'AbortError' && current === control) show(faultLine(e));
        return null;
      } finally {
        clearTimeout(slow);
        if (current === control) { current = null; host.removeAttribute('aria-busy'); }
      }
    },
  };
}
/* Documents: the server speaks of rows of the collection, the page of places of its own. */
const placeOfRow = lazy(() => { const at = new Map(); rowsHere.forEach((row, place) => at.set(row, place)); return at; });
const placesOf = rows => rows.map(r => placeOfRow().get(r)).filter(d => d != null);
const mappedOf = rows => placesOf(rows).filter(d => d < n).sort((a, b) => a - b);
const rowsOf = docs => Array.from(docs, d => rowsHere[d]);
const groupOfRow = row => { const d = placeOfRow().get(row); return d == null ? null : groupOf(d); };
/** Text with its hits marked: [[text, is it a hit], ...]. */
function marked(parts, props = {}) {
  const line = el('span', { dir: 'auto', ...props });
  for (const [text, hit] of parts || []) line.append(hit ? el('mark', { text }) : String(text));
  return line;
}
/** A document the server found: opens in the drawer. */
function hitItem(hit, extra, marks) {
  const g = groupOfRow(hit.row), lab = labelOfRow(hit.row), notes = [g ? shortName(g) : '', lab ? `labeled ${lab}` : '', extra || ''].filter(Boolean).join(', ');
  return el('li', {}, el('button', { type: 'button', on: { click: () => openRow(hit.row, marks) } },
    el('b', { class: 'txt', dir: 'auto', text: hit.title || hit.id }),
    hit.snippet?.length ? marked(hit.snippet, { class: 's txt' }) : null,
    notes ? el('span', { class: 'mm' + (g ? ' g' + g.i : '') }, g ? el('i', { class: 'sw' }) : null, el('span', { class: 'txt', text: notes })) : null));
}
/** Show rows of the collection on the map, as a selection like any other. */
function selectRows(rows, label, note) {
  const docs = mappedOf(rows), off = rows.length - docs.length;
  if (!sc) { toast('There is no map to show them on'); return; }
  const said = off ? `${plural(off, 'document')} of these ${off === 1 ? 'is' : 'are'} not on the map.` : '';
  if ($('#drawer').open) $('#drawer').close();
  select({ kind: 'find', label, docs, note: [note, said].filter(Boolean).join(' ') });
  toMap(); $('#side').focus({ preventScroll: true });
}
