// The mesh of a draw as lines, turned by dragging, and its vertices as a table: as they are fetched, as each stage takes and
// makes them, and as they reach the rasteriser.

/** Rows of the table at a time. */
const VERTEX_ROWS = 100;

/** Pixels between the pointer and a vertex that it means. */
const REACH = 14;

/** What a stage takes or makes: the text of its button, and of the tip there. */
const PARTS = {
  in: ["Inputs", "as they are fetched"],
  vs: ["VS", "vertices as the vertex shader takes and makes them"],
  "hs-inputs": ["HS in", "vertices of the patches that the hull shader takes"],
  hs: ["HS stores", "what each invocation of the hull shader stores to memory"],
  factors: ["Factors", "the tessellation factors of each patch, and the points that it gets by them"],
  ds: ["DS", "points of the patches as the domain shader takes and makes them"],
  "gs-inputs": ["GS in", "vertices of the primitives that the geometry shader takes"],
  gs: ["GS out", "vertices that the geometry shader makes"],
  out: ["Outputs", "as they reach the rasteriser"],
};

/** Columns by which rows of two tables belong together, the closest first. */
const KEYS = ["vs_vertex", "ds_vertex", "primitive", "patch"];

/** Vertices as [x, y, z], and which of them can be shown: of clip space after the division by w. A stage before the last may leave w as 0. */
function points(values, isClip, isLast) {
  const step = isClip ? 4 : 3, out = [];
  for (let at = 0; at + step <= values.length; at += step) {
    const w = isClip ? values[at + 3] || (isLast ? 0 : 1) : 1;
    const point = [values[at] / w, values[at + 1] / w, values[at + 2] / w];
    out.push(w > 0 && point.every(Number.isFinite) ? point : null);
  }
  return out;
}

/** Words that a row stores, as text: floats if all are of a usual size, integers if all are small, else bits. */
function wordsText(words) {
  const floats = words.map((bits) => new Float32Array(new Uint32Array([bits]).buffer)[0]);
  const isUsual = (float) => float === 0 || !Number.isFinite(float) || (Math.abs(float) >= 1e-30 && Math.abs(float) < 1e30);
  if (floats.every(isUsual)) return floats.map(floatText);
  const isSmall = (bits) => (bits | 0) >= -65536 && (bits | 0) < 1 << 24;
  return words.map((bits) => (words.every(isSmall) ? String(bits | 0) : `0x${bits.toString(16)}`));
}

/** A table: names and kinds of the columns, and the values, row by row. */
class VertexTable {
  constructor({ columns, values, taken, size, indices }) {
    Object.assign(this, { columns, taken, size, indices });
    this.bits = new DataView(bytesOf(values).buffer);
    this.stride = columns.length * 4;
    this.rows = this.stride ? this.bits.byteLength / this.stride : 0;
    this.firstWord = columns.findIndex(([, kind]) => kind === "word");
  }

  column(name) {
    return this.columns.findIndex(([it]) => it === name);
  }

  word(row, column) {
    return this.bits.getUint32(row * this.stride + column * 4, true);
  }

  text(row, column) {
    const [, kind] = this.columns[column], at = row * this.stride + column * 4;
    if (kind === true) return floatText(this.bits.getFloat32(at, true));
    if (kind === "bits") return `0x${this.word(row, column).toString(16).padStart(8, "0")}`;
    if (kind !== "word") return String(this.bits.getInt32(at, true));
    const count = this.word(row, this.firstWord - 1);
    const words = Array.from({ length: count }, (_, index) => this.word(row, this.firstWord + index));
    return wordsText(words)[column - this.firstWord] ?? "";
  }

  /** The first row with this value in a column. */
  rowWith(column, value) {
    for (let row = 0; row < this.rows; row++) if (this.word(row, column) === value) return row;
    return null;
  }

  /** All positions, if the rows have such. */
  positions() {
    const first = this.column("position.x");
    if (first < 0) return null;
    return Float32Array.from({ length: 4 * this.rows }, (_, at) => this.bits.getFloat32((at >> 2) * this.stride + (first + (at & 3)) * 4, true));
  }
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
    if (!has(this.side) && (!this.mesh.in_indices || this.side === "in" || this.side === "out")) this.side = has("out") ? "out" : "in";
    this.choice = make("span", { class: "choice wrap", role: "group", "aria-label": "Vertices" });
    this.missing = missing;
    this.view = make("canvas", { id: "mesh-view", role: "img", tabindex: 0 });
    this.panel.replaceChildren(
      make("div", { class: "form" }, this.choice, make("button", { type: "button", onclick: () => { this.reset(); this.paint(); } }, "Front")),
      this.view, make("p", { class: "dim", id: "mesh-note" }));
    this.table = make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Vertices" });
    this.tableNote = make("p", { class: "dim", id: "vertices-note" });
    this.pages = make("span", { class: "choice", role: "group", "aria-label": "Rows of vertices" });
    const csv = make("button", { type: "button", id: "mesh-csv", onclick: () => this.download() }, "CSV");
    this.panel.append(make("div", { class: "form" }, this.pages, csv), this.tableNote, this.table);
    this.fillChoice();
    this.read();
    this.listen();
    this.paint();
    this.readTables(draw, () => turn === this.turnOf);
  }

  /** The tables that can be chosen, in the order of the stages. */
  fillChoice() {
    const has = (side) => Boolean(this.mesh[side] || this.tables?.[side]);
    const isFixed = (side) => side === "in" || side === "out";
    this.choice.replaceChildren(...Object.entries(PARTS).filter(([side]) => isFixed(side) || has(side)).map(([side, [text, title]]) => make("button", {
      type: "button", title, "data-side": side, "aria-pressed": String(side === this.side), disabled: !has(side),
      onclick: () => this.turnTo(side),
    }, text)));
  }

  /** Shows another table, with the row that belongs to the chosen one. */
  turnTo(side) {
    const from = this.side;
    this.side = side;
    this.reset();
    if (this.mesh.in_indices) this.chosen = this.chosen === null ? null : this.related(from, side, this.chosen);
    this.show(this.draw, this.missing);
  }

  /** The first row of another table that belongs to a row, if one does. */
  related(from, to, row) {
    const last = this.tables?.gs ? "gs" : "ds", known = { in: "vs", out: last };
    const [source, target] = [from, to].map((side) => known[side] ?? side);
    if (source === target) return row;
    const [a, b] = [this.tables?.[source], this.tables?.[target]];
    const key = KEYS.find((name) => a && b && a.column(name) >= 0 && b.column(name) >= 0);
    return key ? b.rowWith(b.column(key), a.word(row, a.column(key))) : null;
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
    const positions = (side, names) => new VertexTable({ columns: names.map((name) => [`${side === "in" ? "in0" : "position"}.${name}`, true]), values: this.mesh[side] });
    const sides = { in: ["x", "y", "z"], out: ["x", "y", "z", "w"] };
    this.tables = Object.fromEntries(Object.entries(sides).filter(([side]) => all?.[side] || this.mesh[side])
      .map(([side, names]) => [side, all ? new VertexTable(all[side]) : positions(side, names)]));
    for (const stage of all?.stages ?? []) this.tables[stage.part] = new VertexTable(stage);
    if (!this.tables[this.side]) this.side = this.mesh.out ? "out" : "in";
    const name = { in: "inputs", out: "outputs" }[this.side] ?? this.side;
    const command = make("code", {}, `a4emu show ${this.frame.title} --draw f${draw.id} --mesh - --mesh-of ${name}`);
    const more = this.mesh.in_indices ? " Names of stages, such as vs, ds or gs, in place of the last word print what these take and make." : "";
    this.tableNote.replaceChildren(...(all ? [all.stages_left_out ?? ""] : [why || "Only positions are in the report. a4emu serve shows all columns, and this command prints them: ", command, more]));
    this.fillChoice();
    this.read();
    this.paint();
    this.fillTable(this.chosen ?? 0);
  }

  /** The columns that stand side by side: of both sides if a row of both is the same vertex. */
  columns() {
    const sides = this.mesh.in_indices ? [this.side] : ["in", "out"];
    return sides.filter((side) => this.tables[side]).flatMap((side) => {
      const table = this.tables[side], isPart = table.taken !== undefined;
      const [takes, makes] = isPart ? ["takes", "makes"] : [PARTS[side][1], PARTS[side][1]];
      return table.columns.map(([name], at) => ({
        name,
        rows: table.rows,
        does: !isPart || at < table.taken ? takes : makes,
        text: (row) => table.text(row, at),
      }));
    });
  }

  /** Fills the table with the page of rows that has this one. */
  fillTable(row) {
    const columns = this.columns(), rows = Math.max(...columns.map((column) => column.rows), 0);
    const first = Math.floor(row / VERTEX_ROWS) * VERTEX_ROWS, end = Math.min(first + VERTEX_ROWS, rows);
    const head = make("tr", {}, make("th", { scope: "col" }, this.isPart() ? "row" : "vertex"), ...columns.map(({ name, does }, at) => make("th", {
      scope: "col", class: at > 0 && columns[at - 1].does !== does ? "made" : "", title: this.isPart() ? `what the stage ${does}` : does,
    }, name)));
    const line = (row) => make("tr", { "data-vertex": row, onclick: () => this.choose(row) },
      make("td", {}, make("button", { type: "button", class: "link", "aria-label": `Mark ${this.isPart() ? "row" : "vertex"} ${row}` }, String(row))),
      ...columns.map((column, at) => make("td", { class: at > 0 && columns[at - 1].does !== column.does ? "made" : "" }, row < column.rows ? column.text(row) : "")));
    const body = make("tbody", {}, ...Array.from({ length: end - first }, (_, at) => line(first + at)));
    this.table.replaceChildren(make("table", { id: "vertices" }, make("thead", {}, ...this.groups(columns), head), body));
    const step = (to, text) => make("button", { type: "button", disabled: to < 0 || to >= rows, onclick: () => this.fillTable(to) }, text);
    this.pages.replaceChildren(...(rows > VERTEX_ROWS ? [step(first - VERTEX_ROWS, "Earlier"), step(first + VERTEX_ROWS, "Later")] : []),
      make("output", {}, rows ? ` ${first} to ${end - 1} of ${count(rows, "row")} ` : " no rows "));
    this.markRow();
  }

  /** Whether the positions are those that reach the rasteriser. */
  isLast() {
    return this.side === "out" || this.side === (this.tables?.gs ? "gs" : "ds");
  }

  /** Whether the table is that of a stage. */
  isPart() {
    return this.tables[this.side]?.taken !== undefined;
  }

  /** A line over the names of the columns: what the stage takes, and what it makes. */
  groups(columns) {
    if (!this.isPart()) return [];
    const taken = columns.filter(({ does }) => does === "takes").length, made = columns.length - taken;
    const group = (text, span, isMade) => (span ? [make("th", { scope: "colgroup", colspan: span, class: isMade ? "made" : "" }, text)] : []);
    return [make("tr", {}, make("td"), ...group("takes", taken), ...group("makes", made, true))];
  }

  /** The table whose positions are drawn: what the hull shader stores has none, and its patches are drawn. */
  drawn() {
    const table = this.tables?.[this.side];
    return table?.taken !== undefined && table.column("position.x") < 0 ? this.tables["hs-inputs"] : table;
  }

  /** Whether points of the drawing are those of a row. */
  isOf(row) {
    const [table, drawn] = [this.tables?.[this.side], this.drawn()];
    if (row === null || table === drawn) return (point) => point === row;
    const [from, to] = [table.column("patch"), drawn.column("patch")];
    return (point) => drawn.word(point, to) === table.word(row, from);
  }

  /** The first row that a point of the drawing belongs to. */
  rowOf(point) {
    const [table, drawn] = [this.tables?.[this.side], this.drawn()];
    return table === drawn ? point : table.rowWith(table.column("patch"), drawn.word(point, drawn.column("patch")));
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
    // A table of a stage has its own numbers.
    const [head, first] = this.isPart() ? [[], () => []] : [["vertex"], (row) => [row]];
    const lines = [[...head, ...columns.map(({ name }) => name)].join(",")];
    for (let row = 0; row < rows; row++) lines.push([...first(row), ...columns.map((column) => (row < column.rows ? column.text(row) : ""))].join(","));
    const href = URL.createObjectURL(new Blob([`${lines.join("\n")}\n`], { type: "text/csv" }));
    make("a", { href, download: `${this.frame.title}-f${this.draw.id}-${this.isPart() ? this.side : "vertices"}.csv` }).click();
    setTimeout(() => URL.revokeObjectURL(href), 1000);
  }

  reset() {
    Object.assign(this, { turn: 0, tilt: 0, enlarged: 1 });
  }

  /** What is drawn: positions, whether they are of clip space, and the primitives. */
  shape() {
    const table = this.drawn(), isClip = this.side !== "in";
    if (table?.indices !== undefined) return { values: table.positions(), isClip, size: table.size, indices: table.indices };
    // Until the tables of the stages are read, the drawing is what reaches the rasteriser.
    const side = this.mesh[this.side] ? this.side : this.mesh.out ? "out" : "in";
    const isOwn = side === "in" && this.mesh.in_indices, [size, indices] = isOwn || side === "in"
      ? [this.mesh.in_size, this.mesh.in_indices ?? this.mesh.indices] : [this.mesh.size, this.mesh.indices];
    return { values: new Float32Array(bytesOf(this.mesh[side]).buffer), isClip: side === "out", size, indices };
  }

  read() {
    const { values, isClip, size, indices: packed } = this.shape();
    this.points = points(values, isClip, this.isLast());
    const indices = new Uint32Array(bytesOf(packed).buffer);
    this.edges = edges(indices, this.points.length, size);
    this.ball = ball(this.points);
    const range = "xyz".split("").map((axis, at) => `${axis} ${short(this.ball.low[at])} to ${short(this.ball.high[at])}`);
    const left = this.points.filter((point) => !point).length;
    const note = `${this.points.length} vertices, ${indices.length / size} ${["", "points", "lines", "triangles"][size]}; ${range.join(", ")}`
      + (isClip ? " after the division by w" : "") + (this.side === "out" ? "; the box is what can be seen" : "") + (left ? `; ${left} not shown (w is not positive)` : "");
    this.view.setAttribute("aria-label", `Mesh, ${PARTS[this.side][0]}: ${note}`);
    const other = this.drawn() === this.tables?.[this.side] ? "" : "These rows have no positions: the patches that the hull shader takes are drawn. ";
    this.panel.querySelector("#mesh-note").textContent = `${other}${note}. Drag turns, the wheel enlarges, a click marks a vertex.`;
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
      if (vertex !== null) this.choose(this.rowOf(vertex), true);
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
    const isOf = this.isOf(this.chosen), chosen = flat.map((at, point) => (at && isOf(point) ? at : null));
    if (!chosen.some(Boolean)) return;
    [context.strokeStyle, context.fillStyle] = [style.getPropertyValue("--bad"), style.getPropertyValue("--bad")];
    context.lineWidth = 2;
    context.beginPath();
    for (let side = 0; side < this.edges.length; side += 2) {
      const [from, to] = [this.edges[side], this.edges[side + 1]];
      if ((!chosen[from] && !chosen[to]) || !flat[from] || !flat[to]) continue;
      context.moveTo(...flat[from]);
      context.lineTo(...flat[to]);
    }
    context.stroke();
    for (const at of chosen.filter(Boolean)) {
      context.beginPath();
      context.arc(...at, 5, 0, 2 * Math.PI);
      context.fill();
    }
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
