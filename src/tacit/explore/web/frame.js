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
readTheme();
if ($('#stage')) {
  setupMap(); render(); panel();
  addEventListener('beforeprint', () => { printMap(); printGroups(); });
  addEventListener('afterprint', () => $('#printgroups')?.remove());
  $('#picture').onclick = copyPoster;
}
nav(); themeButton();
requestAnimationFrame(() => {
  for (const section of sections) section.start();
  addEventListener('resize', debounce(() => { for (const section of sections) section.resize?.(); }, 120));
  for (const more of extras.start) more();
  setupAddress();
  document.documentElement.dataset.ready = '1';
});
