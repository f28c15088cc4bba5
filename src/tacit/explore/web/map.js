/* Moving about the map: pointer, wheel, fingers and keys; searching; the hover card. */
let engaged = false, max = false;
function fly(to, ms = 420) {
  const a = { ...sc.view };
  to = { s: clamp(to.s, .7, 60), x: to.x, y: to.y };
  if (calm.matches || ms === 0) { sc.view = to; frame(); return; }
  const t0 = performance.now(), id = fly.id = Symbol();
  const step = t => {
    if (fly.id !== id) return;
    let u = clamp((t - t0) / ms, 0, 1);
    u = u < .5 ? 2 * u * u : 1 - 2 * (1 - u) * (1 - u);
    const s = a.s * Math.pow(to.s / a.s, u), f = Math.abs(to.s - a.s) < 1e-6 ? u : (1 / s - 1 / a.s) / (1 / to.s - 1 / a.s);
    sc.view = { s, x: a.x + (to.x - a.x) * f, y: a.y + (to.y - a.y) * f };
    frame();
    if (u < 1) requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}
function zoomAt(px, py, f) {
  fly.id = null;
  const x = sc.dx(px), y = sc.dy(py);
  sc.view.s = clamp(sc.view.s * f, .7, 60);
  sc.view.x += x - sc.dx(px); sc.view.y += y - sc.dy(py);
  moving();
}
const home = () => fly(sc.home);
function fit(docs) {
  docs = docs.filter(d => d < n);
  if (!docs.length) return;
  const xs = [], ys = [], q = (a, p) => a[Math.round((a.length - 1) * p)];
  for (const d of docs) { xs.push(P[2 * d]); ys.push(P[2 * d + 1]); }
  xs.sort((a, b) => a - b); ys.sort((a, b) => a - b);
  const x0 = q(xs, .03), x1 = q(xs, .97), y0 = q(ys, .03), y1 = q(ys, .97);
  const s = Math.min(sc.w / ((x1 - x0) * sc.base + 90), sc.h / ((y1 - y0) * sc.base + 90));
  fly({ x: (x0 + x1) / 2, y: (y0 + y1) / 2, s: clamp(s, .9, 7) });
}
function setupMap() {
  stage = $('#stage');
  const cv = $('#gl'), o = $('#ov');
  ov = o.getContext('2d'); bg = $('#bg').getContext('2d');
  sc = new Scatter(cv, P, n); sc.onrestore = frame;
  const size = () => {
    const w = stage.clientWidth, h = stage.clientHeight, atHome = sc.view.s === 1;
    if (!w) return;
    sc.resize(w, h, max ? $('#map .tools').getBoundingClientRect().bottom : 0);
    const caption = $('.mapcap');
    captionSize = [caption.offsetWidth, caption.offsetHeight];
    const box = stage.getBoundingClientRect();
    covered = $$(max ? '#map .tools > *, #map .tools, .zoomer' : '.zoomer').map(t => t.getBoundingClientRect()).filter(t => t.width && t.bottom > box.top && t.top < box.bottom && t.left < box.right).map(t => ({ x: (t.left + t.right) / 2 - box.left, y: (t.top + t.bottom) / 2 - box.top, w: t.width + 12, h: t.height + 12 }));
    if (atHome) sc.view = sc.home;
    o.width = bg.canvas.width = cv.width; o.height = bg.canvas.height = cv.height;
  };
  size(); sc.view = sc.home;
  new ResizeObserver(() => { size(); render(); }).observe(stage);
  paint(false);
  pointers(cv); keys(cv);
  $('#zin').onclick = () => fly({ ...sc.view, s: sc.view.s * 1.6 }, 220);
  $('#zout').onclick = () => fly({ ...sc.view, s: sc.view.s / 1.6 }, 220);
  $('#zhome').onclick = home;
  $('#zmax').onclick = () => setMax(!max);
  $('#lasso').onclick = () => setTool(state.tool === 'lasso' ? 'pan' : 'lasso');
  $('#inview').onclick = selectView;
  const color = $('#color');
  color.value = state.color;
  color.onchange = () => { state.color = color.value; if (state.color !== 'k') state.k = null; syncK(); syncLevel(); paint(); if (!state.sel || state.side === 'legend') panel(); keepAddress(); };
  const level = $('#lv');
  if (level) { level.max = M.levels.length - 1; level.addEventListener('input', () => setLevel(+level.value)); syncLevel(); }
  const q = $('#q');
  q.closest('.search').hidden = M.redacted;
  q.addEventListener('input', debounce(() => search(q.value), 110));
  q.addEventListener('keydown', e => { if (e.key === 'Escape') { q.value = ''; search(''); } });
  $('#qx').onclick = () => { q.value = ''; search(''); q.focus(); };
  const fade = $('#fade');
  if (fade) fade.onchange = () => { state.fade = fade.checked; paint(); };
  addEventListener('keydown', e => {
    if (e.key === '/' && !M.redacted && !/INPUT|SELECT|TEXTAREA/.test(document.activeElement.tagName)) { e.preventDefault(); $('#map').scrollIntoView(); q.focus({ preventScroll: true }); }
    if (e.key === 'Escape' && max && !$('#drawer').open) setMax(false);
  });
}
const levelName = level => { const cut = M.levels[level], firm = cut.filter(i => M.nodes[i].lvl === 'firm').length; return `${plural(cut.length, 'group')}, ${firm} firm`; };
/** Show another level of the tree: colors, names and legend follow. */
function setLevel(level) {
  state.level = level; state.k = null; state.color = 'group';
  syncK(); syncLevel(); labels = []; filters.delete('group');
  applyFilters({ nofly: true, quiet: true, reason: 'level' });
  say(levelName(level));
}
function syncLevel() {
  const slider = $('#lv');
  if (!slider) return;
  slider.value = state.level; slider.setAttribute('aria-valuetext', levelName(state.level));
  $('#lvo').textContent = levelName(state.level);
  $('#levels').classList.toggle('off', state.color !== 'group');
}
function pointers(cv) {
  const down = new Map(), at = e => { const r = cv.getBoundingClientRect(); return [e.clientX - r.left, e.clientY - r.top]; };
  let mode = null, moved = 0, last = null;
  cv.addEventListener('pointerdown', e => {
    if (e.button) return;
    const p = at(e);
    down.set(e.pointerId, p); cv.setPointerCapture(e.pointerId); moved = 0; fly.id = null;
    if (down.size === 2) { mode = 'pinch'; lassoPath = null; return; }
    if (state.tool === 'lasso' || e.shiftKey) { mode = 'lasso'; lassoPath = [sc.dx(p[0]), sc.dy(p[1])]; hoverAt(-1); }
    else mode = e.pointerType === 'touch' && !max ? 'tap' : 'pan';
    last = p; engaged = true;
  });
  cv.addEventListener('pointermove', e => {
    const p = at(e);
    if (!down.has(e.pointerId)) { if (e.pointerType !== 'touch') hoverMove(p); return; }
    const before = down.get(e.pointerId);
    if (mode === 'pinch' && down.size === 2) {
      const middle = () => { const [a, b] = [...down.values()]; return [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2, Math.hypot(a[0] - b[0], a[1] - b[1])]; };
      const [x0, y0, d0] = middle();
      down.set(e.pointerId, p);
      const [x1, y1, d1] = middle();
      sc.view.x -= (x1 - x0) / sc.scale; sc.view.y += (y1 - y0) / sc.scale;
      zoomAt(x1, y1, d1 / Math.max(8, d0)); moved = 9;
      return;
    }
    down.set(e.pointerId, p); moved += Math.hypot(p[0] - before[0], p[1] - before[1]);
    if (mode === 'pan') {
      sc.view.x -= (p[0] - before[0]) / sc.scale; sc.view.y += (p[1] - before[1]) / sc.scale;
      if (moved > 3) { cv.classList.add('drag'); hoverAt(-1); }
      moving();
    } else if (mode === 'lasso' && Math.hypot(p[0] - last[0], p[1] - last[1]) > 3) { lassoPath.push(sc.dx(p[0]), sc.dy(p[1])); last = p; frame(); }
  });
  const up = e => {
    if (!down.delete(e.pointerId)) return;
    cv.classList.remove('drag');
    if (e.type === 'pointercancel') { lassoPath = null; mode = null; frame(); return; }
    if (mode === 'lasso') {
      const path = lassoPath, drawn = path.length > 8 ? shapeFilter(path) : null;
      lassoPath = null;
      if (drawn?.docs.length) narrow(drawn); else frame();
      setTool('pan');
    } else if (moved < 5 && mode !== 'pinch') click(at(e));
    if (!down.size) mode = null;
  };
  cv.addEventListener('pointerup', up); cv.addEventListener('pointercancel', up);
  cv.addEventListener('pointerleave', () => { hoverAt(-1); engaged = false; });
  cv.addEventListener('dblclick', e => { const [x, y] = at(e); fly({ x: sc.dx(x), y: sc.dy(y), s: sc.view.s * 2.2 }, 300); });
  cv.addEventListener('wheel', e => {
    if (!(max || engaged || e.ctrlKey || e.metaKey || document.activeElement === cv)) {
      const h = $('#hint');
      h.classList.add('on'); clearTimeout(h.t); h.t = setTimeout(() => h.classList.remove('on'), 1400);
      return;
    }
    e.preventDefault();
    const [x, y] = at(e), d = e.deltaMode === 1 ? e.deltaY * 16 : e.deltaY;
    zoomAt(x, y, Math.exp(-clamp(d, -120, 120) * (e.ctrlKey ? .01 : .0022))); hoverMove([x, y]);
  }, { passive: false });
}
function keys(cv) {
  const center = debounce(() => {
    if (!kbd) return;
    const i = sc.near(sc.w / 2, sc.h / 2, 60);
    hoverAt(i);
    if (i >= 0) say(title(i) + (groupOf(i) ? `. Group ${nameOf(groupOf(i))}` : ''));
  }, 90);
  cv.addEventListener('focus', () => { kbd = cv.matches(':focus-visible'); if (kbd) center(); frame(); });
  cv.addEventListener('blur', () => { kbd = false; hoverAt(-1); frame(); });
  cv.addEventListener('keydown', e => {
    const step = 70 / sc.scale, k = e.key, mv = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] }[k];
    if (mv) { sc.view.x += mv[0]; sc.view.y += mv[1]; }
    else if (k === '+' || k === '=') zoomAt(sc.w / 2, sc.h / 2, 1.3);
    else if (k === '-') zoomAt(sc.w / 2, sc.h / 2, 1 / 1.3);
    else if (k === '0') home();
    else if (k === 'Escape') { if (max) setMax(false); else select(null); }
    else if (k === 'Enter') { if (state.hover >= 0) openDoc(state.hover); }
    else if (k === 'v' || k === 'V') { kbd = true; e.preventDefault(); selectView(); return; } // which says how many
    else return;
    kbd = true; e.preventDefault(); frame(); center();
  });
}
function setMax(v) {
  max = v;
  $('#map').classList.toggle('max', v); document.documentElement.classList.toggle('lock', v);
  $('#zmax').setAttribute('aria-label', v ? 'Leave full window' : 'Fill the window'); $('#zmax').setAttribute('aria-pressed', v);
}
function setTool(t) { state.tool = t; $('#gl').classList.toggle('lasso', t === 'lasso'); $('#lasso').setAttribute('aria-pressed', t === 'lasso'); }
function selectView() {
  const [x0, y0, x1, y1] = [sc.dx(0), sc.dy(0), sc.dx(sc.w), sc.dy(sc.h)];
  filters.delete('lasso'); // the same view again is no reason to take it back
  narrow(shapeFilter([x0, y0, x1, y0, x1, y1, x0, y1], 'Everything in view'));
}
function labelAt(p) { return labels.find(b => b.main && Math.abs(p[0] - b.x) * 2 < b.w + 6 && Math.abs(p[1] - b.y) * 2 < b.h + 2); }
function hoverMove(p) { const l = labelAt(p); $('#gl').classList.toggle('hit', !!l); hoverAt(l ? -1 : sc.near(p[0], p[1], 11)); }
function click(p) {
  const l = labelAt(p);
  if (l) { narrow(kindFilter(scheme(), l.i)); return; }
  const i = sc.near(p[0], p[1], matchMedia('(pointer:coarse)').matches ? 22 : 11);
  if (i >= 0) openDoc(i); else if (state.sel) select(null);
}
function hoverAt(i) {
  const card = $('#card');
  if (i < 0) { if (state.hover >= 0) { state.hover = -1; card.hidden = true; $('#gl').classList.remove('hit'); frame(); } return; }
  if (i !== state.hover) {
    const g = groupOf(i);
    state.hover = i;
    $('#gl').classList.add('hit');
    card.replaceChildren(el('b', { class: 'txt', dir: 'auto', text: title(i) }));
    if (g) card.append(el('div', { class: 'm g' + g.i }, el('i', { class: 'sw' }), el('span', { class: 'txt', text: `${shortName(g)} in ${pct(A.conf[i] / 255)} of the repeats` })));
    if (opening(i)) card.append(el('p', { class: 'txt', dir: 'auto', text: opening(i) }));
    card.hidden = false; frame();
  }
  const x = sc.sx(P[2 * i]), y = sc.sy(P[2 * i + 1]), w = Math.min(300, sc.w - 24), h = card.offsetHeight;
  let cx = x + 16, cy = y + 14;
  if (cx + w > sc.w - 8) cx = x - w - 16;
  if (cx < 8) cx = clamp(x - w / 2, 8, sc.w - w - 8);
  if (cy + h > sc.h - 8) cy = y - h - 14;
  card.style.transform = `translate(${Math.round(cx)}px,${Math.round(Math.max(8, cy))}px)`;
}
function toMap() { scrollTo({ top: $('#map .tools').getBoundingClientRect().top + scrollY - $('.bar').offsetHeight - 14 }); }
