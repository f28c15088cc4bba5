/* How long it took, and running it again. */
function method() {
  const bar = $('#tbar'), list = $('#tl'), total = M.timings.reduce((a, t) => a + t[1], 0);
  if (bar) {
    bar.setAttribute('aria-label', `In all ${total.toFixed(1)} seconds`);
    for (const [name, seconds] of M.timings) {
      const b = el('i', { title: `${name}: ${seconds.toFixed(1)} s`, css: { 'flex-grow': Math.max(seconds, total * .002) } }), a = el('span', { text: name }), c = el('span', { text: `${seconds.toFixed(1)} s` });
      for (const x of [a, b, c]) { x.addEventListener('mouseenter', () => b.classList.add('on')); x.addEventListener('mouseleave', () => b.classList.remove('on')); }
      bar.append(b); list.append(a, c);
    }
  }
  const copy = $('#copy');
  if (copy) copy.onclick = async () => {
    try { await navigator.clipboard.writeText($('#cmd').textContent); toast('Command copied'); }
    catch { const r = document.createRange(); r.selectNodeContents($('#cmd')); getSelection().removeAllRanges(); getSelection().addRange(r); toast('Selected: press Ctrl+C'); }
  };
}
sections.push({ start: method });
