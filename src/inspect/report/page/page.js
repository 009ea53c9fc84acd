// Puts the page together: selection, tabs, keys, search, the history of a pixel.

const TABS = ["state", "mesh", "textures", "shaders", "findings", "packets"];

/** Bits of the reasons. */
const [COVERED, DEPTH, KILLED, WRITTEN, SEVERAL] = [1, 2, 4, 8, 16];

class Page {
  constructor(frame) {
    this.frame = frame;
    this.surfaces = frame.canvases.map((_, index) => new Surface(frame, index));
    this.registers = new Registers(frame);
    this.details = new Details(frame, this.registers);
    this.picture = new Picture(this.surfaces, (surface, pixel) => this.history(surface, pixel));
    this.list = new DrawList(frame, this.surfaces, (row) => this.select(row));
    this.search = new Search(frame);
    this.found = null;
    if (live) [this.details.step, this.details.edit] = [new Stepping(this), new Editing(this)];
    this.head();
    this.listen();
    const first = frame.draws.findIndex((draw) => draw.canvas !== null);
    if (frame.draws.length) this.select(Math.max(first, 0));
  }

  head() {
    const { title, process, gpu, version, draws, notes } = this.frame;
    document.title = `${title} · a4emu`;
    $("title").textContent = title;
    $("process").textContent = `A${gpu} · ${process} · ${count(draws.length, "command")} · a4emu ${version}`;
    $("draws-title").textContent = `Draws (${draws.length})`;
    const all = notes.length ? notes : ["Nothing was left out."];
    $("notes").replaceChildren(...all.map((note) => make("li", {}, note)));
  }

  select(row) {
    if (row === undefined || row < 0) return;
    const draw = this.frame.draws[row];
    const inPackets = this.found?.inPackets.has(row);
    this.row = row;
    this.registers.row = row;
    this.list.select(row);
    if (inPackets) this.showTab("packets");
    this.details.show(draw, row, inPackets ? this.found.query : null);
    this.picture.show(draw, row);
    for (const event of $("events").tBodies[0].rows) event.classList.toggle("now", Number(event.dataset.row) === row);
  }

  showTab(name) {
    for (const tab of TABS) {
      $(tab).hidden = tab !== name;
      $(`tab-${tab}`).setAttribute("aria-selected", String(tab === name));
      $(`tab-${tab}`).tabIndex = tab === name ? 0 : -1;
    }
    this.details.render(name);
  }

  listen() {
    $("tabs").onclick = ({ target }) => target.role === "tab" && this.showTab(target.getAttribute("aria-controls"));
    $("tabs").onkeydown = (event) => this.tabKey(event);
    $("query").oninput = () => this.find();
    $("search").onsubmit = (event) => event.preventDefault();
    $("query").onkeydown = (event) => this.queryKey(event);
    $("pixel-form").onsubmit = (event) => {
      event.preventDefault();
      const { surface } = this.picture;
      const pixel = { x: $("pixel-x").valueAsNumber, y: $("pixel-y").valueAsNumber };
      if (surface && pixel.x < surface.width && pixel.y < surface.height) this.picture.pick(pixel);
      else $("history-note").textContent = "No such pixel.";
    };
    $("help-button").onclick = () => $("help").showModal();
    document.addEventListener("click", (event) => this.click(event));
    document.addEventListener("keydown", (event) => this.key(event));
  }

  /** Links to registers and draws, wherever they are. */
  click({ target }) {
    const link = target.closest?.("[data-register], [data-row]");
    if (link?.dataset.register) this.registers.explain(link.dataset.register);
    else if (link) {
      $("register").close();
      this.select(Number(link.dataset.row));
    }
  }

  tabKey(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const tab = TABS[(TABS.indexOf(this.details.tab) + step + TABS.length) % TABS.length];
    this.showTab(tab);
    $(`tab-${tab}`).focus();
  }

  find() {
    const query = $("query").value.trim();
    if (!query) {
      this.found = null;
      $("hits").textContent = "";
      this.list.filter(this.frame.draws.map((_, row) => row));
      return;
    }
    this.found = { query, isEntered: false, ...this.search.find(query) };
    $("hits").textContent = count(this.found.rows.length, "draw");
    this.list.filter(this.found.rows);
  }

  queryKey(event) {
    if (event.key === "Enter" && this.found?.rows.length) {
      const { rows, isEntered } = this.found;
      this.found.isEntered = true;
      const nearest = rows.find((row) => row >= this.row) ?? rows[0];
      this.select(isEntered ? this.list.neighbour(event.shiftKey ? -1 : 1) : nearest);
    } else if (event.key === "Escape") {
      event.preventDefault();
      $("query").value = "";
      this.find();
      this.list.box.focus();
    } else if (event.key === "ArrowDown") {
      event.preventDefault();
      this.list.box.focus();
    }
  }

  key(event) {
    const isTyping = event.target.matches?.("input, select, textarea") || document.querySelector("dialog[open]");
    if (isTyping || event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
    const inPanel = event.target.closest?.("[role=tabpanel], .scroll") && event.key.startsWith("Arrow");
    const action = inPanel ? null : this.action(event.key);
    if (!action) return;
    event.preventDefault();
    action();
  }

  action(key) {
    const by = (step) => () => this.select(this.list.neighbour(step));
    const page = Math.max(Math.floor(this.list.box.clientHeight / ROW_HEIGHT) - 1, 1);
    const all = this.list.shown.length;
    const { picture } = this;
    const actions = {
      j: by(1), ArrowDown: by(1), k: by(-1), ArrowUp: by(-1), PageDown: by(page), PageUp: by(-page), Home: by(-all), End: by(all),
      "/": () => { $("query").focus(); $("query").select(); },
      "?": () => $("help").showModal(),
      Escape: () => { $("query").value = ""; this.find(); },
      b: () => picture.setMode("before"), a: () => picture.setMode("after"), d: () => picture.setMode("difference"),
      o: () => picture.setHeat({ 0: COVERED, [COVERED]: WRITTEN, [WRITTEN]: COST, [COST]: 0 }[picture.heat]),
      "+": () => picture.zoom(2), "=": () => picture.zoom(2), "-": () => picture.zoom(0.5), 0: () => picture.fit(),
    };
    return actions[key] ?? (TABS[key - 1] ? () => this.showTab(TABS[key - 1]) : null);
  }

  /** The history of a pixel: of draws from the report, of primitives from `serve`. */
  async history(surface, { x, y }) {
    const turn = (this.turn = Symbol());
    [$("pixel-x").value, $("pixel-y").value] = [x, y];
    $("history-title").textContent = `Pixel history of ${x}, ${y}`;
    $("history-note").textContent = "looking…";
    try {
      const rows = live ? await this.askedRows(surface, x, y) : await this.storedRows(surface, x, y, () => turn === this.turn);
      if (turn !== this.turn) return;
      $("events").hidden = !rows.length;
      $("events").tBodies[0].replaceChildren(...rows);
      $("history-note").textContent = rows.length ? `${count(rows.length, "event")} on ${surface.name}` : "No draw covered it.";
    } catch (error) {
      $("history-note").textContent = error.message;
    }
  }

  async storedRows(surface, x, y, isWanted) {
    const events = await surface.history(x, y, isWanted);
    return (events ?? []).map(({ row, bits, before, after }) =>
      this.eventRow(row, this.frame.draws[row].id, verdictText(bits), bits & WRITTEN ? "written" : "failed", byteCell(before), byteCell(after)));
  }

  async askedRows(surface, x, y) {
    const answer = await ask(`pixel?x=${x}&y=${y}&canvas=${this.surfaces.indexOf(surface)}`);
    return answer.events.map((event) => {
      const row = this.frame.draws.findIndex((draw) => draw.id === event.frame_draw);
      const kind = event.verdict === "written" || event.verdict === "copied" ? "written" : "failed";
      const made = this.eventRow(row, event.frame_draw, primitiveText(event), kind, valueCell(event.before), valueCell(event.after));
      if (row >= 0 && event.output) made.cells[1].append(" ", this.stepButton(row, { x, y }, event.primitive));
      return made;
    });
  }

  stepButton(row, pixel, primitive) {
    const step = (event) => {
      event.stopPropagation();
      this.select(row);
      this.details.step.fragment(this.frame.draws[row], pixel, primitive);
    };
    return make("button", { type: "button", class: "link", onclick: step, "aria-label": `Step through f${this.frame.draws[row].id}, primitive ${primitive}` }, "step");
  }

  eventRow(row, id, text, kind, before, after) {
    const link = row >= 0 ? drawLink(row, { id }) : `f${id}`;
    const cells = [make("td", {}, link), make("td", { class: kind }, text), make("td", {}, ...before), make("td", {}, ...after)];
    return make("tr", { class: row === this.row ? "now" : null, "data-row": row >= 0 ? row : null }, ...cells);
  }
}

function verdictText(bits) {
  const parts = [];
  if (bits & WRITTEN) parts.push("written");
  if (bits & DEPTH) parts.push("failed depth or stencil");
  if (bits & KILLED) parts.push("killed by the shader or the alpha test");
  if (!parts.length) parts.push(bits & COVERED ? "covered, not written" : "changed");
  if (bits & SEVERAL) parts.push("covered by more than one primitive");
  return parts.join("; ");
}

/** The verdict on a primitive with its values, as `a4emu pixel` words it. */
function primitiveText(event) {
  if (event.primitive === undefined) return `${event.verdict}${event.to === undefined ? "" : ` to ${hex(event.to)}`}`;
  const { why } = event;
  const reason = !why ? ""
    : why.instruction !== undefined ? ` at instruction ${why.instruction}`
      : why.message !== undefined ? `: ${why.message}`
        : `: not ${why.value} ${why.func} ${why.against}${why.op ? `, ${why.op}` : ""}`;
  const output = event.output ? `; shader ${event.output.map(short).join(" ")}` : "";
  return `${event.verdict}: primitive ${event.primitive}, ${event.face}${reason}${output}`;
}

const byteCell = (color) => [swatch(color), color.join(" ")];

function valueCell(values) {
  if (!values) return [""];
  const { color, depth, stencil } = values;
  const rest = [depth === undefined ? null : `depth ${short(depth)}`, stencil === undefined ? null : `stencil ${stencil}`].filter(Boolean);
  if (!color) return [rest.join(", ")];
  return [swatch(color.map((value) => Math.round(value * 255))), [color.map(short).join(" "), ...rest].join(", ")];
}

loadFrame().then((frame) => (window.page = new Page(frame)), (error) => {
  $("title").textContent = `The data of this page cannot be read: ${error.message}`;
});
