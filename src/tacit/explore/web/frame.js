/* The page as a whole: where one is, light and dark, printing, and the order of drawing. */
function nav() {
  const links = $$('.bar nav a'), sections = links.map(a => $(a.getAttribute('href'))), bar = $('.bar nav');
  const update = () => {
    // The section that begins lowest above a third of the window; at the end of the page the last.
    let here = 0, lowest = -Infinity;
    const end = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
    sections.forEach((s, i) => { const top = s.getBoundingClientRect().top; if ((end ? top < innerHeight : top < innerHeight * .35) && top >= lowest) { here = i; lowest = top; } });
    links.forEach((a, i) => {
      if (i !== here) { a.removeAttribute('aria-current'); return; }
      if (a.hasAttribute('aria-current')) return;
      a.setAttribute('aria-current', 'true');
      if (bar.scrollWidth > bar.clientWidth) bar.scrollLeft = a.offsetLeft - bar.offsetLeft - 40;
    });
  };
  let waiting = false;
  addEventListener('scroll', () => { if (!waiting) { waiting = true; requestAnimationFrame(() => { waiting = false; update(); }); } }, { passive: true });
  update();
  $('#drawer').addEventListener('click', e => { if (e.target === e.currentTarget) e.currentTarget.close(); });
  $('#drx').onclick = () => $('#drawer').close();
  $$('[data-group]').forEach(a => a.addEventListener('click', () => pickGroup(+a.dataset.group)));
}
function themeButton() {
  const root = document.documentElement, modes = ['auto', 'light', 'dark'], b = $('#theme');
  const set = m => {
    if (m === 'auto') delete root.dataset.theme; else root.dataset.theme = m;
    b.setAttribute('aria-label', `Theme: ${m}. Change`); b.title = `Theme: ${m}`;
    retheme();
  };
  b.onclick = () => { const next = modes[(modes.indexOf(root.dataset.theme || 'auto') + 1) % 3]; set(next); toast(`Theme: ${next}`); };
  if (modes.includes(asked.get('theme'))) set(asked.get('theme'));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', retheme);
}
function retheme() { readTheme(); if (sc) { labels = []; paint(false); } }
/** A canvas may come out blank on paper; the map goes there as an image. */
function printMap() {
  const root = document.documentElement, before = root.dataset.theme;
  root.dataset.theme = 'light'; readTheme(); paint(false); // paper is light
  const c = document.createElement('canvas'), o = document.createElement('canvas'), b = sc.box, keep = { w: sc.w, h: sc.h, r: sc.r, base: sc.base, view: sc.view };
  sc.w = 1000; sc.h = 840; sc.base = Math.min(940 / (b[1] - b[0]), 790 / (b[3] - b[2])); sc.view = sc.home;
  c.width = o.width = 2000; c.height = o.height = 1680; state.hover = -1;
  const x = c.getContext('2d'), y = o.getContext('2d');
  for (const layer of [land, (...a) => sc.draw2d(...a), overlay]) { y.setTransform(1, 0, 0, 1, 0, 0); y.clearRect(0, 0, 2000, 1680); layer(y, 2); x.drawImage(o, 0, 0); }
  $('#printmap').src = c.toDataURL('image/png');
  Object.assign(sc, keep);
  if (before) root.dataset.theme = before; else delete root.dataset.theme;
  retheme();
}
readTheme();
if ($('#stage')) {
  setupMap(); render(); panel();
  addEventListener('beforeprint', printMap);
}
nav(); themeButton();
requestAnimationFrame(() => {
  for (const section of sections) section.start();
  addEventListener('resize', debounce(() => { for (const section of sections) section.resize?.(); }, 120));
  for (const more of extras.start) more();
  document.documentElement.dataset.ready = '1';
});
