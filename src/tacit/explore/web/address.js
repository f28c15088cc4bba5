/* The address keeps what is shown: section, filters, colors, level, the group and the place on the map. Opening
   such a link shows the same; going back takes the last change back. Whoever wrote the link may have
   written anything: what is not known is left out. */
const color0 = state.color;
let restoring = true, lastReason = null, lastKept = 0, clicked = false;
const homely = v => { const h = sc.home; return Math.abs(v.s - h.s) < .005 && Math.abs(v.x - h.x) < .002 && Math.abs(v.y - h.y) < .002; };
function addressParts() {
  const parts = [];
  if (state.color !== color0 && state.color !== 'k') parts.push(['color', state.color]);
  if (state.k) parts.push(['k', state.k]);
  if (state.level !== M.level) parts.push(['level', state.level]);
  for (const s of filters.values()) {
    if (s.code) parts.push(s.code);
    else if (s.docs.length <= 200) parts.push(['docs', s.docs.join('.')], ['docsname', s.label]);
  }
  if ($('#gd') && curG !== (filteredGroup() ?? M.firstG)) parts.push(['group', curG]);
  if (sc && !homely(sc.view)) parts.push(['at', [sc.view.x, sc.view.y].map(v => v.toFixed(3)).join('_') + '_' + sc.view.s.toFixed(2)]);
  return parts;
}
/** Write the address: a new entry of the history, or for a place on the map and what is still being typed or moved the same one. */
function keepAddress(reason) {
  if (restoring || !sc) return;
  const here = $('.bar nav a[aria-current]')?.getAttribute('href').slice(1) || '', parts = addressParts();
  const text = parts.map(([a, b]) => `&${a}=${encodeURIComponent(b)}`).join(''), hash = text || location.hash.includes('&') ? `#${here === 'top' ? '' : here}${text}` : location.hash;
  if (decodeTail(hash) === decodeTail(location.hash)) return;
  const same = reason === 'view' || (reason && reason === lastReason && Date.now() - lastKept < 4000);
  if (reason !== 'view') { lastReason = reason || null; lastKept = Date.now(); }
  history[same ? 'replaceState' : 'pushState'](null, '', hash.length > 1 ? hash : location.pathname + location.search);
}
const decodeTail = hash => { const at = hash.indexOf('&'); return at < 0 ? '' : hash.slice(at); };
const keepView = debounce(() => keepAddress('view'), 400);
function addressPairs() {
  const out = [];
  for (const part of decodeTail(location.hash).split('&').slice(1)) {
    const [key, value = ''] = part.split('=', 2);
    try { out.push([key, decodeURIComponent(value)]); } catch { /* not ours */ }
  }
  return out;
}
const among = (text, count) => (/^\d+$/.test(text) && +text < count ? +text : null);
/** The filter of a pair in the address; null for what is not known here. */
function readFilter(key, value, all) {
  const parts = value.split('.'), corner = /^-?\d+\.-?\d+$/;
  let i;
  if (key === 'g' && M.grouped && (i = among(value, G.length)) != null) return kindFilter(levelOrOwn(M.level), i);
  if (key === 'n' && (i = among(value, M.nodes.length)) != null) {
    const level = M.levels.findIndex(cut => cut.includes(i));
    return level < 0 ? null : kindFilter(levelScheme(level), M.levels[level].indexOf(i));
  }
  if (key === 'kg' && parts.length === 2 && M.whatks.includes(+parts[0]) && (i = among(parts[1], +parts[0])) != null) return kindFilter(whatScheme(+parts[0]), i);
  if (/^f\d+$/.test(key) && M.fields[key.slice(1)]) {
    const s = fieldScheme(+key.slice(1));
    return (i = s.names.indexOf(value)) < 0 ? null : kindFilter(s, i);
  }
  if (key === 't' && M.time) {
    const [a, b] = [parts[0], parts[1] ?? parts[0]].map(p => among(p, M.time.periods.length));
    return a == null || b == null ? null : timeFilter(a, b);
  }
  if (key === 'v' && M.grouped && Object.hasOwn(LEVEL, value)) return verdictFilter(value);
  if (key === 'once' && A.copy()) return onceFilter();
  if (key === 'odd' && A.odd) return oddFilter();
  if (key === 'theme' && M.themes && (i = among(value, M.themes.list.length)) != null) return themeFilter(i);
  if (key === 'q' && !M.redacted && value.length <= 200) { const s = searchFilter(value); if (s) { $('#q').value = value; $('#qx').hidden = false; } return s; }
  if ((key === 'shape' || key === 'view') && value.length < 2000) {
    const corners = value.split('_').filter(c => corner.test(c)).flatMap(c => c.split('.').map(v => +v / 1e4));
    return corners.length >= 6 ? shapeFilter(corners, key === 'view' ? 'Everything in view' : undefined) : null;
  }
  if (key === 'docs') { const docs = [...new Set(parts.map(p => among(p, n)).filter(d => d != null))].sort((a, b) => a - b); return docs.length ? { kind: 'find', label: (all.get('docsname') || 'Selection').slice(0, 120), docs } : null; }
  return null;
}
/** Show what the address says. */
function restore() {
  const pairs = addressPairs(), all = new Map(pairs), level = among(all.get('level') || '', M.levels.length), color = all.get('color'), k = among(all.get('k') || '', 1e6);
  restoring = true;
  state.k = k && k !== K && M.whatks.includes(k) ? k : null;
  state.level = level ?? M.level;
  const option = color && [...$('#color').options].find(o => o.value === color && !o.disabled);
  state.color = state.k ? 'k' : option && color !== 'k' ? color : color0;
  syncK(); syncLevel(); labels = [];
  filters.clear(); $('#q').value = ''; $('#qx').hidden = true;
  for (const [key, value] of pairs) { const s = readFilter(key, value, all); if (s) filters.set(dimOf(s), s); }
  applyFilters({ nofly: true, quiet: !filters.size });
  const group = among(all.get('group') || '', G.length);
  if ($('#gd')) pickGroup(group ?? filteredGroup() ?? M.firstG);
  const at = (all.get('at') || '').split('_').map(Number);
  if (at.length === 3 && at.every(Number.isFinite)) fly({ x: clamp(at[0], -.5, 1.5), y: clamp(at[1], -.5, 1.5), s: at[2] }, 0); else fly(sc.home, 0);
  restoring = false;
}
function setupAddress() {
  if (!sc) return;
  const place = location.hash.slice(1).split('&')[0];
  restore(); restoring = true;
  if (decodeTail(location.hash) && place) document.getElementById(place)?.scrollIntoView({ behavior: 'instant' });
  addEventListener('click', e => { clicked = !!e.target.closest?.('a[href^="#"]'); }, true);
  addEventListener('popstate', () => {
    // A link inside the page: what is shown stays, and stays in the address. Otherwise somebody went back or on.
    if (clicked) { clicked = false; const text = addressParts().map(([a, b]) => `&${a}=${encodeURIComponent(b)}`).join(''); if (text && !location.hash.includes('&')) history.replaceState(null, '', location.hash + text); return; }
    restore();
  });
  setTimeout(() => { restoring = false; }, 0);
}
