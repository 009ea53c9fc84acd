// The mesh of a draw as lines: as it is fetched, or in clip space, turned by dragging.

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
  constructor(panel) {
    this.panel = panel;
    this.side = "out";
    Object.assign(this, { turn: 0, tilt: 0, enlarged: 1 });
    this.panel.append(make("p", { class: "dim" }));
  }

  show(draw, missing) {
    this.mesh = draw.mesh;
    const has = (side) => Boolean(this.mesh?.[side]);
    if (!has("in") && !has("out")) {
      this.panel.replaceChildren(make("p", { class: "dim" }, `There is no mesh: ${this.mesh?.why || "nothing was seen of this command"}.`));
      if (this.mesh?.why.includes("--max-size")) this.panel.append(missing("The mesh", "show CAPTURE --draw N --mesh mesh.obj"));
      return;
    }
    if (!has(this.side)) this.side = has("out") ? "out" : "in";
    const button = (side, text) => make("button", {
      type: "button", "aria-pressed": String(side === this.side), disabled: !has(side),
      onclick: () => { this.side = side; this.reset(); this.show(draw, missing); },
    }, text);
    this.view = make("canvas", { id: "mesh-view", role: "img", tabindex: 0 });
    this.panel.replaceChildren(
      make("span", { class: "choice", role: "group", "aria-label": "Vertices" }, button("in", "Inputs"), button("out", "Outputs")),
      " ", make("button", { type: "button", onclick: () => { this.reset(); this.paint(); } }, "Front"),
      this.view, make("p", { class: "dim", id: "mesh-note" }));
    this.read();
    this.listen();
    this.paint();
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
    this.panel.querySelector("#mesh-note").textContent = `${note}. Drag turns, the wheel enlarges.`;
  }

  listen() {
    const { view } = this;
    view.onpointerdown = (event) => { view.setPointerCapture(event.pointerId); this.drag = [event.offsetX, event.offsetY]; };
    view.onpointerup = () => (this.drag = null);
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
