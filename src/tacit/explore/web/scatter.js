/* Points in the plane: WebGL2, else Canvas 2D, with the same features. */
const VERTEX = `#version 300 es
in vec2 p; in vec4 a; in vec4 b; in float f; uniform vec4 view; uniform float size,t,pass,boost; out vec4 c;
void main(){ if(abs(f-pass)>.5){gl_Position=vec4(2.,2.,2.,1.);gl_PointSize=1.;c=vec4(0.);return;}
 gl_Position=vec4(p*view.xy+view.zw,0.,1.); c=mix(a,b,t); gl_PointSize=size*(pass<.5?.86:boost); }`;
const FRAGMENT = `#version 300 es
precision mediump float; in vec4 c; out vec4 o; uniform float soft;
void main(){ float r=length(gl_PointCoord-.5)*2.; float k=1.-smoothstep(1.-soft,1.,r); o=vec4(c.rgb*c.a*k,c.a*k); }`;
const THINNED = 25000; // points drawn while a slow machine moves the map

class Scatter {
  constructor(canvas, points, count) {
    this.cv = canvas; this.P = points; this.n = count; this.view = { x: .5, y: .5, s: 1 };
    const b = this.box = [1, 0, 1, 0];
    for (let i = 0; i < count; i++) {
      const x = points[2 * i], y = points[2 * i + 1];
      b[0] = Math.min(b[0], x); b[1] = Math.max(b[1], x); b[2] = Math.min(b[2], y); b[3] = Math.max(b[3], y);
    }
    if (b[1] - b[0] < .05) { b[0] -= .25; b[1] += .25; } // one document, or all in a line
    if (b[3] - b[2] < .05) { b[2] -= .25; b[3] += .25; }
    this.flag = new Uint8Array(count).fill(1);
    this.colA = new Uint8Array(count * 4); this.colB = new Uint8Array(count * 4); this.t = 1; this.any = false;
    this.shuffle();
    const options = { antialias: false, alpha: true, premultipliedAlpha: true, powerPreference: 'low-power' };
    const gl = asked.get('renderer') === '2d' ? null : canvas.getContext('webgl2', options);
    if (gl && !this.initGL(gl)) this.gl = null;
    if (!this.gl) this.ctx = canvas.getContext('2d');
    canvas.addEventListener('webglcontextlost', e => { e.preventDefault(); this.lost = true; });
    canvas.addEventListener('webglcontextrestored', () => { this.lost = false; this.initGL(this.gl); this.upload(); this.onrestore?.(); });
    this.index();
  }
  /* A fixed shuffled order: files arrive sorted, and the last folder must not paint over the rest.
     The same order thins evenly while a slow machine moves the map. */
  shuffle() {
    const o = this.order = new Uint32Array(this.n);
    let r = 7;
    for (let i = 0; i < this.n; i++) { r = (Math.imul(r, 1664525) + 1013904223) >>> 0; const j = r % (i + 1); o[i] = o[j]; o[j] = i; }
  }
  get count() { return this.thin && this.n > THINNED && !this.any ? THINNED : this.n; }
  get home() { const b = this.box; return { x: (b[0] + b[1]) / 2, y: (b[2] + b[3]) / 2 + (this.top / 2 - 8) / this.base, s: 1 }; }
  get kind() { return this.gl ? 'WebGL2' : 'Canvas 2D'; }
  initGL(g) {
    const shader = (type, source) => { const o = g.createShader(type); g.shaderSource(o, source); g.compileShader(o); return o; };
    const program = g.createProgram();
    g.attachShader(program, shader(g.VERTEX_SHADER, VERTEX)); g.attachShader(program, shader(g.FRAGMENT_SHADER, FRAGMENT));
    ['p', 'a', 'b', 'f'].forEach((name, i) => g.bindAttribLocation(program, i, name));
    g.linkProgram(program);
    if (!g.getProgramParameter(program, g.LINK_STATUS)) return false;
    this.gl = g; this.program = program;
    this.u = Object.fromEntries(['view', 'size', 't', 'pass', 'soft', 'boost'].map(k => [k, g.getUniformLocation(program, k)]));
    this.bufs = [0, 1, 2, 3].map(() => g.createBuffer()); this.vao = g.createVertexArray();
    g.bindVertexArray(this.vao);
    const at = (i, size, type, norm) => { g.bindBuffer(g.ARRAY_BUFFER, this.bufs[i]); g.enableVertexAttribArray(i); g.vertexAttribPointer(i, size, type, norm, 0, 0); };
    g.bindBuffer(g.ELEMENT_ARRAY_BUFFER, g.createBuffer()); g.bufferData(g.ELEMENT_ARRAY_BUFFER, this.order, g.STATIC_DRAW);
    at(0, 2, g.FLOAT, false); g.bufferData(g.ARRAY_BUFFER, this.P, g.STATIC_DRAW);
    at(1, 4, g.UNSIGNED_BYTE, true); at(2, 4, g.UNSIGNED_BYTE, true); at(3, 1, g.UNSIGNED_BYTE, false);
    return true;
  }
  upload() {
    const g = this.gl;
    if (!g) return;
    [[1, this.colA], [2, this.colB], [3, this.flag]].forEach(([i, data]) => { g.bindBuffer(g.ARRAY_BUFFER, this.bufs[i]); g.bufferData(g.ARRAY_BUFFER, data, g.DYNAMIC_DRAW); });
  }
  resize(w, h, top = 0) { // top: pixels under the tools of the full window
    const r = Math.min(2, devicePixelRatio || 1), b = this.box;
    this.w = w; this.h = h; this.r = r; this.top = top;
    this.cv.width = Math.round(w * r); this.cv.height = Math.round(h * r);
    this.base = Math.min((w - 28) * .985 / (b[1] - b[0]), (h - 64 - top) / (b[3] - b[2]));
  }
  get scale() { return this.base * this.view.s; }
  sx(x) { return (x - this.view.x) * this.scale + this.w / 2; }
  sy(y) { return this.h / 2 - (y - this.view.y) * this.scale; }
  dx(px) { return (px - this.w / 2) / this.scale + this.view.x; }
  dy(py) { return (this.h / 2 - py) / this.scale + this.view.y; }
  get radius() { return clamp(2.3 * Math.pow(8000 / Math.max(150, this.n), .27) * Math.pow(this.base / 720, .5) * Math.pow(this.view.s, .42), .8, 8); }
  draw() {
    if (this.lost || !this.w) return;
    const { gl: g, view: v, r } = this, s = this.scale;
    if (!g) { this.draw2d(); return; }
    g.viewport(0, 0, this.cv.width, this.cv.height); g.clearColor(0, 0, 0, 0); g.clear(g.COLOR_BUFFER_BIT);
    g.enable(g.BLEND); g.blendFunc(g.ONE, g.ONE_MINUS_SRC_ALPHA); g.useProgram(this.program); g.bindVertexArray(this.vao);
    g.uniform4f(this.u.view, 2 * s / this.w, 2 * s / this.h, -v.x * 2 * s / this.w, -v.y * 2 * s / this.h);
    const d = 2 * this.radius * r + 1;
    g.uniform1f(this.u.size, d); g.uniform1f(this.u.soft, Math.min(.9, 2.2 / d)); g.uniform1f(this.u.t, this.t); g.uniform1f(this.u.boost, this.boost || 1);
    if (this.any) { g.uniform1f(this.u.pass, 0); g.drawElements(g.POINTS, this.count, g.UNSIGNED_INT, 0); }
    g.uniform1f(this.u.pass, 1); g.drawElements(g.POINTS, this.count, g.UNSIGNED_INT, 0);
  }
  draw2d(c = this.ctx, scale = this.r) {
    const { P, flag, colB } = this, rad = this.radius, square = this.n > 20000 || rad < 1.3;
    c.setTransform(scale, 0, 0, scale, 0, 0); c.clearRect(0, 0, this.w, this.h);
    for (let pass = this.any ? 0 : 1; pass < 2; pass++) {
      const buckets = new Map();
      for (let j = 0, m = this.count; j < m; j++) {
        const i = this.order[j];
        if (flag[i] !== pass) continue;
        const x = this.sx(P[2 * i]), y = this.sy(P[2 * i + 1]);
        if (x < -9 || y < -9 || x > this.w + 9 || y > this.h + 9) continue;
        const key = (colB[4 * i] << 24 | colB[4 * i + 1] << 16 | colB[4 * i + 2] << 8 | (colB[4 * i + 3] & 0xe0)) >>> 0;
        if (!buckets.has(key)) buckets.set(key, []);
        buckets.get(key).push(x, y);
      }
      for (const [key, b] of buckets) {
        c.fillStyle = `rgba(${key >>> 24},${key >>> 16 & 255},${key >>> 8 & 255},${((key & 255) + 16) / 255})`;
        for (let j = 0; j < b.length; j += 2) {
          if (square) c.fillRect(b[j] - rad, b[j + 1] - rad, rad * 2, rad * 2);
          else { c.beginPath(); c.arc(b[j], b[j + 1], rad * (pass ? this.boost || 1 : .86), 0, 6.2832); c.fill(); }
        }
      }
    }
  }
  index() { // a grid of cells, points sorted by cell
    const g = this.g = Math.max(1, Math.ceil(Math.sqrt(this.n / 3))), start = this.gs = new Uint32Array(g * g + 1), cell = new Uint32Array(this.n);
    for (let i = 0; i < this.n; i++) {
      const cx = clamp(this.P[2 * i] * g | 0, 0, g - 1), cy = clamp(this.P[2 * i + 1] * g | 0, 0, g - 1);
      start[(cell[i] = cy * g + cx) + 1]++;
    }
    for (let i = 0; i < g * g; i++) start[i + 1] += start[i];
    const next = start.slice();
    this.gi = new Uint32Array(this.n);
    for (let i = 0; i < this.n; i++) this.gi[next[cell[i]]++] = i;
  }
  near(px, py, most = 14) {
    const g = this.g, x = this.dx(px), y = this.dy(py), r = most / this.scale, at = v => clamp(v * g | 0, 0, g - 1);
    let best = -1, closest = r * r;
    for (let cy = at(y - r); cy <= at(y + r); cy++) for (let cx = at(x - r); cx <= at(x + r); cx++) {
      for (let j = this.gs[cy * g + cx]; j < this.gs[cy * g + cx + 1]; j++) {
        const i = this.gi[j];
        if (this.any && !this.flag[i]) continue;
        const a = this.P[2 * i] - x, b = this.P[2 * i + 1] - y, d = a * a + b * b;
        if (d < closest) { closest = d; best = i; }
      }
    }
    return best;
  }
  inside(poly) { // flat coordinates of the data
    const out = [], L = poly.length;
    for (let i = 0; i < this.n; i++) {
      const x = this.P[2 * i], y = this.P[2 * i + 1];
      let c = false;
      for (let a = 0, b = L - 2; a < L; b = a, a += 2) {
        if ((poly[a + 1] > y) !== (poly[b + 1] > y) && x < (poly[b] - poly[a]) * (y - poly[a + 1]) / (poly[b + 1] - poly[a + 1]) + poly[a]) c = !c;
      }
      if (c) out.push(i);
    }
    return out;
  }
}
