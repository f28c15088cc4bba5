/* One question, three answers side by side. */
const WAYS = [
  ['boolean', 'Boolean', 'Exactly the documents that fit: AND, OR, NOT, “a phrase”, ( ).'],
  ['ranked', 'Ranked', 'Any of the words, the most fitting documents first (BM25).'],
  ['meaning', 'By meaning', 'Documents that speak of the same, also in other words.'],
];
const SHOWN = 10, MAPPED = 500, PAGE = 100; // documents listed at first, put on the map at most, asked for at once
let asking = '';

function find() {
  const form = $('#ff');
  form.addEventListener('submit', e => { e.preventDefault(); findNow($('#fq').value); });
  $('#fq').addEventListener('search', () => { if (!$('#fq').value) findNow(''); });
}
function findNow(text) {
  const q = asking = text.trim(), box = $('#found');
  $('#fq').value = text;
  box.hidden = !q;
  if (!q) { box.replaceChildren(); return; }
  const totals = [];
  box.replaceChildren(...WAYS.map(([way, name, note]) => {
    const count = el('span', { class: 'total num' }), place = el('div', { class: 'answers' }), tools = el('div', { class: 'rowbtns' });
    const at = answersIn(place);
    at.ask('search', { query: { q, way, top: SHOWN, start: 0 } }, result => {
      const list = el('ul', { class: 'docs' }), marks = marksOf(result, q);
      const counted = way !== 'meaning'; // where a likeness ends is no finding
      if (counted) { count.textContent = N(result.total); count.title = plural(result.total, 'document'); }
      totals.push(counted ? `${name} ${N(result.total)}` : `${name} the nearest first`);
      if (totals.length === WAYS.length) say(`Found: ${totals.join(', ')}`);
      if (!result.total) return [notice(way === 'boolean' ? 'No document fits. Fewer words, or OR between them, find more.' : 'Nothing was found.'), result.note ? notice(result.note, 'note') : null, ...meantWords(result)];
      const most = Math.min(result.total, MAPPED), all = most === result.total, called = `“${q}”, ${name.toLowerCase()}`;
      tools.replaceChildren(...[
        sc ? button(all ? 'Show on the map' : `Show the first ${N(most)} on the map`, async e => { const rows = await rowsFound(q, way, most, e.currentTarget); if (rows) selectRows(rows, called, all ? '' : `The first ${N(most)} of ${N(result.total)}.`); }) : null,
        ...abButtons(async () => { const rows = await rowsFound(q, way, most); return rows && { label: called, spec: { rows }, count: rows.length }; }),
      ].filter(Boolean));
      add(result.hits);
      let start = result.hits.length;
      function add(hits) { for (const h of hits) list.append(hitItem(h, way === 'boolean' ? '' : `score ${Number(h.score).toFixed(2)}`, marks)); }
      const more = linkButton('', async () => {
        more.disabled = true;
        try { const next = await ask('search', { query: { q, way, top: 20, start } }); if (asking !== q) return; add(next.hits); start += next.hits.length; if (!next.hits.length) start = result.total; label(); } catch (e) { more.replaceWith(faultLine(e)); }
        more.disabled = false;
      });
      const label = () => { more.hidden = start >= result.total; more.textContent = counted ? moreOf(20, result.total - start) : 'Show more'; };
      label();
      return [result.note ? notice(result.note, 'note') : null, ...meantWords(result), tools, list, more];
    });
    return el('section', { class: 'way', 'aria-label': `${name} search` }, el('div', { class: 'wayhead' }, el('h3', { class: 'sub3', text: name }), count), el('p', { class: 'note', text: note }), place);
  }));
}
const marksOf = (result, q) => [...new Set(result.hits.flatMap(h => (h.snippet || []).filter(p => p[1]).map(p => String(p[0]).toLowerCase())))].slice(0, 40);
/** Every row a question finds, up to so many. */
async function rowsFound(q, way, most, from) {
  const rows = [];
  if (from) { from.disabled = true; from.setAttribute('aria-busy', 'true'); }
  try {
    while (rows.length < most) {
      const result = await ask('search', { query: { q, way, top: Math.min(PAGE, most - rows.length), start: rows.length } });
      if (!result.hits.length) break;
      rows.push(...result.hits.map(h => h.row));
    }
    return rows;
  } catch (e) { toast(e.message); say(e.message); return null; } finally { if (from) { from.disabled = false; from.removeAttribute('aria-busy'); } }
}
/** Search for a text from elsewhere on the page. */
function findFor(text) { findNow(text); $('#find').scrollIntoView(); $('#fq').focus({ preventScroll: true }); }
/** For words of few documents or none: words spelled like them. */
const meantWords = result => Object.entries(result.suggest || {}).map(([w, like]) => el('p', { class: 'note txt' }, `Instead of “${w}”, did you mean `, ...linksOf(like, findFor), '?'));
