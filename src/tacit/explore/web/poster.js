/* The map as a picture: for paper, and as a poster with names and five findings that can be copied or saved. */
/** The map as it is shown, on a canvas of its own, in the colors of paper. */
function mapPicture(w, h, ratio = 2) {
  const root = document.documentElement, before = root.dataset.theme, b = sc.box, keep = { w: sc.w, h: sc.h, r: sc.r, base: sc.base, top: sc.top, view: sc.view, covered, captionSize, hover: state.hover };
  const c = document.createElement('canvas'), layer = document.createElement('canvas');
  root.dataset.theme = 'light'; readTheme(); paint(false);
  sc.w = w; sc.h = h; sc.top = 0; sc.base = Math.min((w - 60) / (b[1] - b[0]), (h - 50) / (b[3] - b[2])); sc.view = sc.home;
  covered = []; captionSize = [0, 0]; state.hover = -1;
  c.width = layer.width = w * ratio; c.height = layer.height = h * ratio;
  const x = c.getContext('2d'), y = layer.getContext('2d');
  for (const draw of [land, (...a) => sc.draw2d(...a), overlay]) { y.setTransform(1, 0, 0, 1, 0, 0); y.clearRect(0, 0, layer.width, layer.height); draw(y, ratio); x.drawImage(layer, 0, 0); }
  const paper = { ink: css.ink, ink2: css.ink2, ink3: css.ink3, pal: css.pal, map: css.map, slots: scheme() };
  state.hover = keep.hover; covered = keep.covered; captionSize = keep.captionSize;
  Object.assign(sc, { w: keep.w, h: keep.h, r: keep.r, base: keep.base, top: keep.top, view: keep.view });
  if (before) root.dataset.theme = before; else delete root.dataset.theme;
  retheme();
  return { canvas: c, paper };
}
/** A canvas may come out blank on paper; the map goes there as an image. */
function printMap() { $('#printmap').src = mapPicture(1000, 840).canvas.toDataURL('image/png'); }

/* What a section found is its heading; the summary begins with the first finding. */
const NOTHING_FOUND = /^No |, no group and no word|^Documents that use/;
/** The text of a heading, with what stands in italics between quotes. */
function quoted(heading) {
  const copy = heading?.cloneNode(true);
  for (const name of copy ? $$('em', copy) : []) name.textContent = `“${name.textContent}”`;
  return copy?.textContent.trim();
}
const FINDINGS = ['groups', 'fields', 'time', 'map', 'themes', 'oddities', 'reading', 'howmany'];
function findings() {
  const first = $('.stand')?.textContent.trim() || '', lead = /^.*?[.!?](?=\s|$)/s.exec(first)?.[0] || first;
  return [lead, ...FINDINGS.map(id => quoted($(`#h-${id}`))).filter(text => text && !NOTHING_FOUND.test(text))].slice(0, 5);
}
/** Lines of words that fit a width. */
function wrapped(c, text, width, most) {
  const out = [];
  let line = '';
  for (const word of text.split(/\s+/)) {
    const next = line ? `${line} ${word}` : word;
    if (line && c.measureText(next).width > width) { out.push(line); line = word; } else line = next;
  }
  out.push(line);
  if (out.length > most) { out.length = most; out[most - 1] = out[most - 1].replace(/.{0,2}$/, '…'); }
  return out;
}
function poster() {
  const W = 1600, ratio = 2, edge = 64, mapW = 1040, mapH = 800, serif = getComputedStyle(document.documentElement).getPropertyValue('--serif').trim();
  const { canvas: picture, paper } = mapPicture(mapW, mapH, ratio), s = paper.slots, c = document.createElement('canvas'), x = c.getContext('2d');
  const count = new Uint32Array(s.value ? 0 : s.names.length), list = findings(), top = 150;
  for (let i = 0; i < n; i++) if (!s.value && (!sc.any || sc.flag[i])) count[s.cat(i)]++;
  const kinds = [...count.keys()].filter(i => s.slots[i] >= 0 && count[i]).sort((a, b) => count[b] - count[a]);
  x.font = `400 19px ${serif}`;
  const width = (W - 2 * edge - 60) / 2, notes = list.map(text => wrapped(x, text, width - 34, 3)), half = Math.ceil(notes.length / 2);
  const tall = part => part.reduce((a, lines) => a + lines.length * 26 + 14, 0), low = Math.max(tall(notes.slice(0, half)), tall(notes.slice(half))), H = top + mapH + 70 + low + 60;
  c.width = W * ratio; c.height = H * ratio; x.scale(ratio, ratio);
  x.fillStyle = '#ffffff'; x.fillRect(0, 0, W, H);
  x.fillStyle = paper.ink; x.textBaseline = 'alphabetic';
  x.font = `600 46px ${serif}`; x.fillText(wrapped(x, $('h1').textContent.trim(), W - 2 * edge, 1)[0], edge, 84);
  x.font = `400 18px ${css.sans}`; x.fillStyle = paper.ink2;
  x.fillText(wrapped(x, state.sel ? `${N(state.sel.docs.length)} of ${plural(n, 'document')}: ${state.sel.label}` : plural(M.total, 'document'), W - 2 * edge, 1)[0], edge, 118);
  x.drawImage(picture, edge, top, mapW, mapH);
  x.strokeStyle = '#d9d6ce'; x.lineWidth = 1; x.strokeRect(edge, top, mapW, mapH);
  const left = edge + mapW + 36, most = 26;
  x.font = `600 17px ${css.sans}`; x.fillStyle = paper.ink; x.fillText(s.field ? s.field.name.slice(0, 40) : kinds.length ? plural(kinds.length, 'group') : 'Colors', left, top + 18);
  kinds.slice(0, most).forEach((i, j) => {
    const y = top + 52 + j * 28;
    x.fillStyle = `rgb(${paper.pal[s.slots[i]].join()})`; x.beginPath(); x.arc(left + 6, y - 5, 6, 0, 6.3); x.fill();
    x.font = `400 16px ${css.sans}`; x.fillStyle = paper.ink;
    const size = N(count[i]), room = W - edge - left - 26 - x.measureText(size).width - 12;
    let name = s.names[i];
    while (name.length > 4 && x.measureText(name).width > room) { const bare = name.replace(/…$/u, ''); name = cutAt(bare, bare.length - 1); }
    x.fillText(name, left + 24, y); x.fillStyle = paper.ink3; x.textAlign = 'right'; x.fillText(size, W - edge, y); x.textAlign = 'left';
  });
  if (kinds.length > most) { x.fillStyle = paper.ink3; x.fillText(`and ${N(kinds.length - most)} more`, left + 24, top + 52 + most * 28); }
  const at = [top + mapH + 56, top + mapH + 56];
  notes.forEach((lines, j) => {
    const column = j < half ? 0 : 1, px = edge + column * (width + 60);
    x.font = `600 19px ${serif}`; x.fillStyle = paper.ink3; x.fillText(`${j + 1}`, px, at[column]);
    x.font = `400 19px ${serif}`; x.fillStyle = paper.ink;
    lines.forEach((line, q) => x.fillText(line, px + 34, at[column] + 26 * q));
    at[column] += lines.length * 26 + 14;
  });
  x.font = `400 14px ${css.sans}`; x.fillStyle = paper.ink3; x.fillText($('footer').textContent.split('. ')[0], edge, H - 28);
  return c;
}
/** To the clipboard; where that is not allowed, into a file. */
async function copyPoster() {
  const blob = await new Promise(done => poster().toBlob(done, 'image/png'));
  try {
    await navigator.clipboard.write([new ClipboardItem({ 'image/png': blob })]);
    toast('Picture copied'); say('The picture is on the clipboard');
  } catch {
    const a = el('a', { download: 'map.png', href: URL.createObjectURL(blob) });
    a.click(); setTimeout(() => URL.revokeObjectURL(a.href), 4000);
    toast('Picture saved as map.png'); say('The picture was saved as map.png');
  }
}
/* On paper every group has a page of its own. */
function printGroups() {
  if (!$('#gd')) return;
  $('#printgroups')?.remove();
  $('#groups').after(el('div', { id: 'printgroups' }, ...G.map(g => el('div', { class: 'wrap pg g' + g.i }, el('p', { class: 'kick', text: `Group ${g.i + 1} of ${K}` }), ...groupDetail(g)))));
}
