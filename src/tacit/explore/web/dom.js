/* Making elements and saying numbers. Every string of a document enters the page through
   textContent; nothing here parses HTML or sets a style attribute. */
const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
const SVG = 'http://www.w3.org/2000/svg';

/** el('p', {class, text, on: {click}, css: {width}}, child, child) */
function el(tag, props = {}, ...kids) {
  const e = put(document.createElement(tag), props);
  e.append(...kids.filter(kid => kid != null && kid !== false));
  return e;
}
function svg(tag, props = {}, ...kids) {
  const e = put(document.createElementNS(SVG, tag), props);
  e.append(...kids.filter(kid => kid != null && kid !== false));
  return e;
}
function put(e, props) {
  for (const [key, value] of Object.entries(props)) {
    if (value == null || value === false) continue;
    if (key === 'text') e.textContent = value;
    else if (key === 'on') for (const [name, f] of Object.entries(value)) e.addEventListener(name, f);
    else if (key === 'css') for (const [name, v] of Object.entries(value)) e.style.setProperty(name, v);
    else e.setAttribute(key, value === true ? '' : value);
  }
  return e;
}
const button = (text, click, props = {}) => el('button', { class: 'btn', type: 'button', text, on: { click }, ...props });
const linkButton = (text, click, props = {}) => el('button', { class: 'link', type: 'button', text, on: { click }, ...props });
/** Texts as links, with commas between. */
const linksOf = (list, act) => list.flatMap((text, i) => [i ? ', ' : '', linkButton(text, () => act(text))]);
const fmt = new Intl.NumberFormat('en-GB'), N = x => fmt.format(x);
const pct = (x, digits = 0) => (100 * x).toFixed(digits) + '%';
const pctS = x => (x > 0 && x < .005 ? '<1%' : pct(x));
const plural = (count, word) => `${N(count)} ${word}${count === 1 ? '' : 's'}`;
/** At most so many characters, ending at a word where there are several. */
function cutAt(text, most) {
  if (text.length <= most) return text;
  const part = text.slice(0, most - 1), end = part.search(/[\s·,]+\S*$/u);
  return (end > most / 3 ? part.slice(0, end) : part) + '…';
}
const clamp = (x, a, b) => Math.max(a, Math.min(b, x));
const debounce = (f, ms) => { let t; return (...a) => { clearTimeout(t); t = setTimeout(() => f(...a), ms); }; };
const lazy = f => { let v; return () => (v === undefined ? (v = f()) : v); };
/* What every section draws at the start, and again when the window changes its size. */
const sections = [];
/* What the live page adds to this one; in a report that stands alone these stay empty. */
const extras = { schemes: [], selection: [], group: [], drawer: [], word: [], known: null, unknown: null, start: [] };
const calm = matchMedia('(prefers-reduced-motion: reduce)');
const asked = new URLSearchParams(location.search);
const say = debounce(s => { $('#live').textContent = s; }, 250);
function toast(s) {
  const t = $('#toast');
  t.textContent = s; t.classList.add('on');
  clearTimeout(toast.t); toast.t = setTimeout(() => t.classList.remove('on'), 2200);
}
