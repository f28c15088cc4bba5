/* How documents read: a strip of quartiles for every measure, over all documents and by group. */
const READING = [
  ['words', 'Words in a document', 0, true], ['sentence_words', 'Words in a sentence', 1], ['word_letters', 'Letters in a word', 2],
  ['variety', 'Variety', 2], ['once', 'Words used once', 2], ['ease', 'Reading ease', 0],
];
const READING_NOTES = {
  words: 'Logarithmic scale.', sentence_words: 'Sentences end at . ! ? or a blank line.', word_letters: 'Mean over the words of a document.',
  variety: 'Different words among any 50 in a row, as a fraction.', once: 'Of a document’s different words, those it uses once.', ease: 'Flesch: higher is easier. English, 100 words or more.',
};
function drawReading() {
  const host = $('#readings');
  if (!host) return;
  const shown = READING.filter(([key]) => M.reading[key]), grouped = M.grouped && G.length > 1;
  const scales = new Map(shown.map(([key, , , log]) => [key, readingScale(M.reading[key], log)]));
  const head = el('tr', {}, el('th', { scope: 'col' }, el('span', { class: 'vh', text: 'Group' })), ...shown.map(([key, name]) => el('th', { scope: 'col', title: READING_NOTES[key], text: name })));
  const axis = el('tr', { class: 'rax', 'aria-hidden': 'true' }, el('td'), ...shown.map(([key, , digits]) => el('td', {}, readingAxis(scales.get(key), digits))));
  const row = (name, cls, mark, at, first) => el('tr', { class: (first ? 'rall ' : '') + cls }, el('th', { scope: 'row' }, el('span', {}, mark, el('span', { class: 'txt w', title: name, text: name }))),
    ...shown.map(([key, label, digits]) => {
      const quantiles = at(key);
      const said = quantiles ? `${label}: median ${readingNumber(quantiles[2], digits)}, half between ${readingNumber(quantiles[1], digits)} and ${readingNumber(quantiles[3], digits)}` : 'Not measured';
      return el('td', { title: said }, quantiles ? readingStrip(quantiles, scales.get(key), M.reading[key].at[2], said) : el('span', { class: 'note', text: '–' }), el('span', { class: 'rn', text: quantiles ? readingNumber(quantiles[2], digits) : '' }), el('span', { class: 'rl', text: label }));
    }));
  const body = el('tbody', {}, row('All documents', '', null, key => M.reading[key].at, true));
  if (grouped) G.forEach((g, i) => body.append(row(nameOf(g), 'g' + i, el('i', { class: 'sw' }), key => M.reading[key].groups[i])));
  host.replaceChildren(el('table', { class: 'rt' }, el('thead', {}, head), body, el('tfoot', {}, axis)));
}
const readingNumber = (v, digits) => (v < 0 ? '−' : '') + Math.abs(v).toLocaleString('en-GB', { minimumFractionDigits: digits, maximumFractionDigits: digits });
/** From a value to 0 … 100 over the range that any strip needs. */
function readingScale(measure, log) {
  const every = [measure.at, ...measure.groups.filter(Boolean)], f = log ? v => Math.log(Math.max(1, v)) : v => v;
  const lo = Math.min(...every.map(at => at[0])), hi = Math.max(...every.map(at => at[4])), a = f(lo), b = Math.max(f(hi), a + 1e-6);
  return { to: v => 3 + 94 * clamp((f(v) - a) / (b - a), 0, 1), lo, hi };
}
function readingStrip(at, scale, middle, said) {
  const x = at.map(scale.to), m = scale.to(middle), s = svg('svg', { class: 'rs', viewBox: '0 0 100 20', preserveAspectRatio: 'none', role: 'img', 'aria-label': said });
  s.append(svg('path', { class: 'rm', d: `M${m} 0V20` }), svg('path', { class: 'rw', d: `M${x[0]} 10H${x[4]}` }), svg('rect', { class: 'rb', x: x[1], y: 6, width: Math.max(.8, x[3] - x[1]), height: 8 }));
  return el('span', { class: 'rc' }, s, el('i', { class: 'rd', css: { left: x[2] + '%' } }));
}
const readingAxis = (scale, digits) => el('span', { class: 'rc ra' }, el('span', { text: readingNumber(scale.lo, digits) }), el('span', { text: readingNumber(scale.hi, digits) }));
sections.push({ start: drawReading, resize: drawReading });
