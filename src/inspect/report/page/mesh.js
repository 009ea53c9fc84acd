// The mesh of a draw as lines, as it is fetched or in clip space, turned by dragging; and its vertices as a table.

/** Rows of the table at a time. */
const VERTEX_ROWS = 100;

/** Pixels between the pointer and a vertex that it means. */
const REACH = 14;

/** Vertices as [x, y, z], and which of them can be shown: of clip space after the division by w. */
function points(base64, isClip) {
  const values = new Float32Array(bytesOf(base64).buffer);
  const step = isClip ? 4 : 3, out = [];
  for (let at = 0; at + step <= values.length; at += step) {
    const w = isClip ? values[at + 3] : 1;
    const point = [values[at] / w, values[at + 1] / w, values[at + 2] / w];
    out.push(w > 0 && point.every(Number.isFinite) ? point : null);
  }
  return out;
}

/** Which vertices of a point, a line or a triangle a line joins. */
const SIDES = { 1: [[0, 0]], 2: [[0, 1]], 3: [[0, 1], [1, 2], [2, 0]] };

/** The sides of the primitives, each once. A point has one of no length. */
function edges(indices, count, size) {
  const seen = new Set(), out = [];
  for (let at = 0; at + size <= indices.length; at += size) {
    for (const [a, b] of SIDES[size] ?? []) {
      const [low, high] = [indices[at + a], indices[at + b]].sort((left, right) => left - right);
      const key = low * count + high;
      if ((low === high && size > 1) || high >= count || seen.has(key)) continue;
      seen.add(key);
      out.push(low, high);
    }
  }
  return out;
}

/** A box around the points: its middle and half its diagonal. */
function ball(all) {
  const low = [Infinity, Infinity, Infinity], high = low.map((value) => -value);
  for (const point of all) {
    if (!point) continue;
    point.forEach((value, axis) => {
      low[axis] = Math.min(low[axis], value);
      high[axis] = Math.max(high[axis], value);
    });
  }
  const middle = low.map((value, axis) => (value + high[axis]) / 2);
  return { low, high, middle, radius: Math.hypot(...high.map((value, axis) => value - middle[axis])) || 1 };
}

class Mesh {
  constructor(panel, frame) {
    Object.assign(this, { panel, frame });
    this.side = "out";
    Object.assign(this, { turn: 0, tilt: 0, enlarged: 1 });
    this.panel.append(make("p", { class: "dim" }));
  }

  show(draw, missing) {
    this.mesh = draw.mesh;
    if (draw.id !== this.draw?.id) this.chosen = null;
    this.draw = draw;
    const turn = (this.turnOf = Symbol());
    const has = (side) => Boolean(this.mesh?.[side]);
    if (!has("in") && !has("out")) {
      this.panel.replaceChildren(make("p", { class: "dim" }, `There is no mesh: ${this.mesh?.why || "nothing was seen of this command"}.`));
      if (this.mesh?.why.includes("--max-size")) this.panel.append(missing("The mesh", "show CAPTURE --draw N --mesh mesh.obj"));
      return;
    }
    if (!has(this.side)) this.side = has("out") ? "out" : "in";
    const button = (side, text) => make("button", {
      type: "button", "aria-pressed": String(side === this.side), disabled: !has(side),
      onclick: () => { this.side = side; this.reset(); if (this.mesh.in_indices) this.chosen = null; this.show(draw, missing); },
    }, text);
    this.view = make("canvas", { id: "mesh-view", role: "img", tabindex: 0 });
    this.panel.replaceChildren(
      make("span", { class: "choice", role: "group", "aria-label": "Vertices" }, button("in", "Inputs"), button("out", "Outputs")),
      " ", make("button", { type: "button", onclick: () => { this.reset(); this.paint(); } }, "Front"),
      this.view, make("p", { class: "dim", id: "mesh-note" }));
    this.table = make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Vertices" });
    this.tableNote = make("p", { class: "dim", id: "vertices-note" });
    this.pages = make("span", { class: "choice", role: "group", "aria-label": "Rows of vertices" });
    const csv = make("button", { type: "button", id: "mesh-csv", onclick: () => this.download() }, "CSV");
    this.panel.append(make("div", { class: "form" }, this.pages, csv), this.tableNote, this.table);
    this.read();
    this.listen();
    this.paint();
    this.readTables(draw, () => turn === this.turnOf);
  }

  /** The tables of the draw: with all columns if the page has them, else with the positions that it draws. */
  async readTables(draw, isWanted) {
    this.tables = null;
    let all = null, why = "";
    try {
      all = await this.frame.extras.of(`m${draw.id}`, `vertices/${draw.state?.draw ?? draw.row.draw}`);
    } catch (error) {
      why = error.message;
    }
    if (!isWanted()) return;
    const read = (columns, base64) => ({ columns, bits: new DataView(bytesOf(base64).buffer) });
    const positions = (side, names) => read(names.map((name) => [`${side === "in" ? "in0" : "position"}.${name}`, true]), this.mesh[side]);
    const sides = { in: ["x", "y", "z"], out: ["x", "y", "z", "w"] };
    this.tables = Object.fromEntries(Object.entries(sides).filter(([side]) => all?.[side] || this.mesh[side])
      .map(([side, names]) => [side, all ? read(all[side].columns, all[side].values) : positions(side, names)]));
    this.tableNote.replaceChildren(...(all ? [] : [why || "Only positions are in the report. a4emu serve shows all columns, and this command prints them: ",
      make("code", {}, `a4emu show ${this.frame.title} --draw f${draw.id} --mesh - --mesh-of ${this.side === "in" ? "inputs" : "outputs"}`)]));
    this.fillTable(this.chosen ?? 0);
  }

  /** The columns that stand side by side: of both sides if a row of both is the same vertex. */
  columns() {
    const sides = this.mesh.in_indices ? [this.side] : ["in", "out"];
    return sides.filter((side) => this.tables[side]).flatMap((side) => {
      const { columns, bits } = this.tables[side], stride = columns.length * 4;
      return columns.map(([name, isFloat], at) => ({
        name, side,
        rows: bits.byteLength / stride,
        text: (row) => (isFloat ? floatText(bits.getFloat32(row * stride + at * 4, true)) : String(bits.getInt32(row * stride + at * 4, true))),
      }));
    });
  }

  /** Fills the table with the page of rows that has this one. */
  fillTable(row) {
    const columns = this.columns(), rows = Math.max(...columns.map((column) => column.rows), 0);
    const first = Math.floor(row / VERTEX_ROWS) * VERTEX_ROWS, end = Math.min(first + VERTEX_ROWS, rows);
    const head = make("tr", {}, make("th", { scope: "col" }, "vertex"), ...columns.map(({ name, side }) => make("th", { scope: "col", title: side === "in" ? "fetched" : "as it reaches the rasteriser" }, name)));
    const line = (row) => make("tr", { "data-vertex": row, onclick: () => this.choose(row) },
      make("td", {}, make("button", { type: "button", class: "link", "aria-label": `Mark vertex ${row}` }, String(row))),
      ...columns.map((column) => make("td", {}, row < column.rows ? column.text(row) : "")));
    const body = make("tbody", {}, ...Array.from({ length: end - first }, (_, at) => line(first + at)));
    this.table.replaceChildren(make("table", { id: "vertices" }, make("thead", {}, head), body));
    const step = (to, text) => make("button", { type: "button", disabled: to < 0 || to >= rows, onclick: () => this.fillTable(to) }, text);
    this.pages.replaceChildren(...(rows > VERTEX_ROWS ? [step(first - VERTEX_ROWS, "Earlier"), step(first + VERTEX_ROWS, "Later")] : []),
      make("output", {}, ` ${first} to ${end - 1} of ${count(rows, "row")} `));
    this.markRow();
  }

  markRow() {
    for (const row of this.table.querySelectorAll("tbody tr")) row.classList.toggle("now", Number(row.dataset.vertex) === this.chosen);
  }

  /** Marks a vertex in the table and in the drawing. */
  choose(vertex, isFromDrawing) {
    this.chosen = vertex;
    if (this.tables && !this.table.querySelector(`[data-vertex="${vertex}"]`)) this.fillTable(vertex);
    this.markRow();
    if (isFromDrawing) this.table.querySelector(".now")?.scrollIntoView({ block: "nearest" });
    this.paint();
  }

  /** The vertex that is drawn nearest to a place of the drawing. */
  vertexAt(x, y) {
    let [best, least] = [null, REACH];
    this.points.forEach((point, vertex) => {
      const [u, v] = point ? this.flat(point) : [Infinity, Infinity], distance = Math.hypot(u - x, v - y);
      if (distance < least) [best, least] = [vertex, distance];
    });
    return best;
  }

  /** All rows, as a file. */
  download() {
    if (!this.tables) return;
    const columns = this.columns(), rows = Math.max(...columns.map((column) => column.rows), 0);
    const lines = [["vertex", ...columns.map(({ name }) => name)].join(",")];
    for (let row = 0; row < rows; row++) lines.push([row, ...columns.map((column) => (row < column.rows ? column.text(row) : ""))].join(","));
    const href = URL.createObjectURL(new Blob([`${lines.join("\n")}\n`], { type: "text/csv" }));
    make("a", { href, download: `${this.frame.title}-f${this.draw.id}-vertices.csv` }).click();
    setTimeout(() => URL.revokeObjectURL(href), 1000);
  }

  reset() {
    Object.assign(this, { turn: 0, tilt: 0, enlarged: 1 });
  }

  read() {
    const isClip = this.side === "out";
    this.points = points(this.mesh[this.side], isClip);
    const isOwn = !isClip && this.mesh.in_indices;
    const size = isClip ? this.mesh.size : this.mesh.in_size;
    const indices = new Uint32Array(bytesOf(isOwn ? this.mesh.in_indices : this.mesh.indices).buffer);
    this.edges = edges(indices, this.points.length, size);
    this.ball = ball(this.points);
    const range = "xyz".split("").map((axis, at) => `${axis} ${short(this.ball.low[at])} to ${short(this.ball.high[at])}`);
    const left = this.points.filter((point) => !point).length;
    const note = `${this.points.length} vertices, ${indices.length / size} ${["", "points", "lines", "triangles"][size]}; ${range.join(", ")}`
      + (isClip ? " after the division by w; the box is what can be seen" : "") + (left ? `; ${left} not shown (w is not positive)` : "");
    this.view.setAttribute("aria-label", `Mesh, ${isClip ? "outputs" : "inputs"}: ${note}`);
    this.panel.querySelector("#mesh-note").textContent = `${note}. Drag turns, the wheel enlarges, a click marks a vertex.`;
  }

  listen() {
    const { view } = this;
    view.onpointerdown = (event) => {
      view.setPointerCapture(event.pointerId);
      this.drag = [event.offsetX, event.offsetY];
      this.pressed = this.drag;
    };
    view.onpointerup = (event) => {
      this.drag = null;
      const isClick = this.pressed && Math.hypot(event.offsetX - this.pressed[0], event.offsetY - this.pressed[1]) < 4;
      const vertex = isClick ? this.vertexAt(event.offsetX, event.offsetY) : null;
      if (vertex !== null) this.choose(vertex, true);
    };
    view.onpointermove = (event) => {
      if (!this.drag) return;
      this.rotate((event.offsetX - this.drag[0]) / 120, (event.offsetY - this.drag[1]) / 120);
      this.drag = [event.offsetX, event.offsetY];
    };
    view.onkeydown = (event) => {
      const step = { ArrowLeft: [-0.15, 0], ArrowRight: [0.15, 0], ArrowUp: [0, -0.15], ArrowDown: [0, 0.15] }[event.key];
      if (!step) return;
      event.preventDefault();
      event.stopPropagation();
      this.rotate(...step);
    };
    view.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.enlarged *= event.deltaY < 0 ? 1.2 : 1 / 1.2;
      this.paint();
    }, { passive: false });
  }

  rotate(turn, tilt) {
    this.turn += turn;
    this.tilt += tilt;
    this.paint();
  }

  /** Turned about y, then tilted about x, then flat. */
  flat([x, y, z]) {
    const { middle, radius } = this.ball;
    const [u, v, w] = [(x - middle[0]) / radius, (y - middle[1]) / radius, (z - middle[2]) / radius];
    const [across, away] = [u * Math.cos(this.turn) + w * Math.sin(this.turn), w * Math.cos(this.turn) - u * Math.sin(this.turn)];
    const up = v * Math.cos(this.tilt) - away * Math.sin(this.tilt);
    const size = (Math.min(this.view.width, this.view.height) / 2.2) * this.enlarged;
    return [this.view.width / 2 + across * size, this.view.height / 2 - up * size];
  }

  paint() {
    const { view } = this;
    if (!view?.clientWidth) return;
    [view.width, view.height] = [view.clientWidth, view.clientHeight];
    const context = view.getContext("2d"), style = getComputedStyle(view);
    if (this.side === "out") this.box(context, style.getPropertyValue("--dim"));
    const flat = this.points.map((point) => point && this.flat(point));
    context.strokeStyle = style.getPropertyValue("--link");
    context.lineWidth = 1;
    context.beginPath();
    for (let at = 0; at < this.edges.length; at += 2) {
      const [from, to] = [flat[this.edges[at]], flat[this.edges[at + 1]]];
      if (!from || !to) continue;
      if (from === to) {
        context.rect(from[0] - 1, from[1] - 1, 2, 2);
        continue;
      }
      context.moveTo(...from);
      context.lineTo(...to);
    }
    context.stroke();
    this.mark(context, flat, style);
  }

  /** Marks the chosen vertex, and the sides that meet in it. */
  mark(context, flat, style) {
    const at = flat[this.chosen];
    if (!at) return;
    [context.strokeStyle, context.fillStyle] = [style.getPropertyValue("--bad"), style.getPropertyValue("--bad")];
    context.lineWidth = 2;
    context.beginPath();
    for (let side = 0; side < this.edges.length; side += 2) {
      const [from, to] = [this.edges[side], this.edges[side + 1]];
      if ((from !== this.chosen && to !== this.chosen) || !flat[from] || !flat[to]) continue;
      context.moveTo(...flat[from]);
      context.lineTo(...flat[to]);
    }
    context.stroke();
    context.beginPath();
    context.arc(...at, 5, 0, 2 * Math.PI);
    context.fill();
  }

  /** What can be seen: x and y from -1 to 1, at the depths of the mesh. */
  box(context, color) {
    const { low, high } = this.ball;
    const corner = (at) => this.flat([at & 1 ? 1 : -1, at & 2 ? 1 : -1, at & 4 ? high[2] : low[2]]);
    context.strokeStyle = color;
    context.setLineDash([3, 3]);
    context.beginPath();
    for (let from = 0; from < 8; from++) {
      for (const bit of [1, 2, 4]) {
        if (from & bit) continue;
        context.moveTo(...corner(from));
        context.lineTo(...corner(from | bit));
      }
    }
    context.stroke();
    context.setLineDash([]);
  }
}
