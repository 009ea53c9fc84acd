// The history of a pixel: a row for each event, which opens; and splitters, which move.

/** Events that are in the table at a time. */
const MOST_EVENTS = 200;

/** A number of a colour as `a4emu pixel` prints it. */
const partText = (value) => (typeof value === "number" ? value.toFixed(4) : String(value));

/** A colour as `a4emu pixel` prints it: parts of 1, or integers as they are. */
function valuesText(color, isInteger) {
  return color.map((value) => (isInteger ? String(value) : partText(value))).join(" ");
}

/** The names of the tests that can have failed, by the state of the draw: those that are on and do not always pass. */
function failedText({ depth, stencil } = {}) {
  const canFail = (func) => Boolean(func) && func !== "FUNC_ALWAYS";
  const can = { depth: depth?.test && canFail(depth.func), stencil: [stencil?.front, stencil?.back].some((face) => canFail(face?.func)) };
  return Object.keys(can).filter((test) => can[test]).join(" or ") || "depth or stencil";
}

/** What can have dropped a fragment: the alpha test, or the shader, its sample mask and coverage. */
function droppedText(state, shaders) {
  if (!state) return "killed or alpha";
  if (!state.alpha_test) return "killed";
  const isKilling = shaders.some((lines) => lines.some((line) => /\bkill\b/.test(line)));
  return isKilling ? "killed or alpha" : "alpha";
}

/** What the reasons of a draw say, in the words of `a4emu pixel`. */
function verdictText(bits, draw, state, shaders) {
  if (draw.pass === "resolve") return "copied";
  const parts = [];
  const writesColor = draw.targets.some(({ name }) => name.startsWith("color"));
  if (bits & WRITTEN) parts.push(writesColor ? "written" : "masked");
  if (bits & DEPTH) parts.push(failedText(state ?? {}));
  if (bits & KILLED) parts.push(droppedText(state, shaders));
  if (bits & CULLED) parts.push("culled");
  if (bits & SCISSORED) parts.push("scissored");
  return parts.join(", ") || "changed";
}

/** The reason of a verdict, as `a4emu pixel` words it. */
function whyText({ why }) {
  if (!why) return "";
  if (why.instruction !== undefined) return `instruction ${why.instruction}`;
  return why.message ?? `not ${why.value} ${why.func} ${why.against}${why.op ? `, ${why.op}` : ""}`;
}

class PixelHistory {
  constructor(page) {
    this.page = page;
    this.body = $("events").tBodies[0];
    $("more-events").onclick = () => this.fill(this.events.length);
  }

  /** Shows the history of a pixel: of draws from the data of the page, and of primitives when `serve` has answered. */
  async show(surface, { x, y }) {
    const turn = (this.turn = Symbol());
    const isWanted = () => turn === this.turn;
    [$("pixel-x").value, $("pixel-y").value] = [x, y];
    $("history-title").textContent = `Pixel history of ${x}, ${y}`;
    $("history-note").textContent = "looking…";
    this.scrollTo();
    try {
      const stored = await this.stored(surface, x, y, isWanted);
      if (!isWanted()) return;
      this.put(stored, surface, live ? " · primitives follow…" : "");
      if (!live) return;
      const asked = await this.asked(surface, x, y);
      if (isWanted()) this.put(asked, surface, "");
    } catch (error) {
      if (isWanted()) $("history-note").textContent = error.message;
    }
  }

  /** On a narrow screen the history is below the picture. */
  scrollTo() {
    if (matchMedia("(max-width: 1000px)").matches) $("history").scrollIntoView({ block: "nearest" });
  }

  put(events, surface, more) {
    this.events = events;
    this.fill(MOST_EVENTS);
    // The newest event is the last.
    const box = $("events").parentElement;
    box.scrollTop = box.scrollHeight;
    this.scrollTo();
    $("history-note").textContent = events.length ? `${count(events.length, "event")} on ${surface.name}${more}` : `No draw covered it${more}.`;
  }

  /** Fills the table with the last events. */
  fill(most) {
    const shown = this.events.slice(-most);
    $("events").hidden = !shown.length;
    // Only `serve` knows primitives and outputs. Columns that are empty have no room.
    const has = (key) => this.events.some((event) => event[key] !== undefined && event[key] !== "");
    $("events").className = `${has("primitive") ? "" : "no-primitive"} ${has("output") ? "" : "no-output"}`;
    $("more-events").hidden = shown.length === this.events.length;
    $("more-events").textContent = `Show ${this.events.length - shown.length} events before these`;
    this.body.replaceChildren(...shown.map((event) => this.row(event)));
    this.mark();
  }

  /** Marks the events of the selected draw. */
  mark() {
    for (const row of this.body.rows) row.classList.toggle("now", Number(row.dataset.row) === this.page.row);
  }

  /** The events on a surface; if it was restored, before them those on the surface that had the same address. */
  async eventsOn(surface, x, y, isWanted) {
    const { frame: { draws }, surfaces } = this.page;
    const events = (await surface.history(x, y, isWanted)) ?? [];
    if (draws[events[0]?.row]?.row.pass !== "restore") return events;
    const isSame = (other) => ["address", "width", "height"].every((key) => other[key] === surface[key]);
    const earlier = surfaces.slice(0, surface.index).findLast(isSame);
    return earlier ? [...(await this.eventsOn(earlier, x, y, isWanted)), ...events] : events;
  }

  async stored(surface, x, y, isWanted) {
    const { draws } = this.page.frame;
    const events = await this.eventsOn(surface, x, y, isWanted);
    const values = (bytes) => ({ color: bytes.map((value) => value / 255) });
    const states = new Map();
    for (const { row } of events.filter(({ bits }) => bits & (DEPTH | KILLED))) {
      states.set(row, (await this.page.frame.blocks.of("texts", row)).state);
    }
    const shadersOf = (row) => draws[row].shader_use.map(({ hash }) => this.page.frame.shaders[hash]?.text ?? []);
    return events.map(({ row, bits, before, after }) => ({
      row, id: draws[row].id, verdict: verdictText(bits, draws[row].row, states.get(row), shadersOf(row)), before: values(before), after: values(after),
      primitive: bits & SEVERAL ? "several" : "", details: [],
    }));
  }

  async asked(surface, x, y) {
    const { frame, surfaces } = this.page;
    const answer = await ask(`pixel?x=${x}&y=${y}&canvas=${surfaces.indexOf(surface)}`);
    return answer.events.map((event) => {
      const row = frame.draws.findIndex((draw) => draw.id === event.frame_draw || draw.row.more_frame_draws.includes(event.frame_draw));
      const details = [whyText(event), event.to === undefined ? "" : `to ${hex(event.to)}`, event.face ? `${event.face} side` : ""];
      return { ...event, row, id: event.frame_draw, details: details.filter(Boolean), pixel: { x, y } };
    });
  }

  /** A row of one line. Its button opens a second row, which has all of it. */
  row(event) {
    const { row, id, verdict, primitive = "", output, before, after } = event;
    const isGood = /^(written|copied|stored)/.test(verdict);
    const more = make("button", { type: "button", class: "link fold", "aria-expanded": "false", "aria-label": `More about f${id}` }, "▸");
    const made = make("tr", { "data-row": row >= 0 ? row : null },
      make("td", {}, more, row >= 0 ? drawLink(row, { id }) : `f${id}`),
      make("td", { class: isGood ? "written" : "failed" }, verdict),
      make("td", {}, primitive),
      make("td", {}, output ? valuesText(output, isIntegers(event)) : "", output && row >= 0 ? this.stepButton(event) : null),
      make("td", {}, ...valueCell(before, event)), make("td", {}, ...valueCell(after, event)));
    more.onclick = (click) => {
      click.stopPropagation();
      const isOpen = more.getAttribute("aria-expanded") === "true";
      more.setAttribute("aria-expanded", String(!isOpen));
      more.textContent = isOpen ? "▸" : "▾";
      if (isOpen) made.nextSibling.remove();
      else made.after(this.detailRow(event));
    };
    return made;
  }

  detailRow(event) {
    const { row, details, before, after } = event;
    const lines = [...details];
    if (before?.depth !== undefined) lines.push(`depth ${changeText(before.depth, after.depth)}`);
    if (before?.stencil !== undefined) lines.push(`stencil ${changeText(before.stencil, after.stencil)}`);
    if (before?.color && after?.color) lines.push(`colour ${changeText(valuesText(before.color, isIntegers(event)), valuesText(after.color, isIntegers(event)))}`);
    if (!live) lines.push("a4emu serve and a4emu pixel have each primitive, and what its shader put out");
    return make("tr", { "data-row": row >= 0 ? row : null }, make("td", { colspan: 6, class: "more" }, lines.join("; ")));
  }

  stepButton({ row, id, primitive, pixel }) {
    const step = (click) => {
      click.stopPropagation();
      this.page.select(row);
      this.page.details.step.fragment(this.page.frame.draws[row], pixel, primitive);
    };
    return make("button", { type: "button", class: "link step-link", onclick: step, "aria-label": `Step through f${id}, primitive ${primitive}` }, "step");
  }
}

/** Only `pixel` knows integers: its answer says so by the format of the surface. */
const isIntegers = ({ after, before, output }) => [output, before?.color, after?.color].some((color) => color?.some((value) => value > 1 && Number.isInteger(value)));

const changeText = (before, after) => (String(before) === String(after) ? before : `${before} → ${after}`);

function valueCell(values, event) {
  if (!values?.color) return [""];
  return [swatch(values.color.map((value) => Math.round(value * 255))), valuesText(values.color, isIntegers(event))];
}

/** The sizes that splitters change, in pixels: the least, and the side from which they are measured. */
const SPLITS = { left: [180, 1], right: [220, -1], bottom: [60, -1] };

/** Lets a separator move by dragging and by arrow keys. */
function makeSplitter(separator) {
  const { size } = separator.dataset, [least, sign] = SPLITS[size];
  const isAcross = size !== "bottom";
  const target = $({ left: "draws", right: "details", bottom: "history" }[size]);
  const extent = () => target.getBoundingClientRect()[isAcross ? "width" : "height"];
  const set = (value) => {
    const most = (isAcross ? innerWidth : innerHeight) * 0.7;
    const held = Math.round(Math.min(Math.max(value, least), most));
    document.querySelector("main").style.setProperty(`--${size}`, `${held}px`);
    separator.setAttribute("aria-valuenow", held);
  };
  separator.onpointerdown = (down) => {
    separator.setPointerCapture(down.pointerId);
    const [start, from] = [extent(), isAcross ? down.clientX : down.clientY];
    separator.onpointermove = (move) => set(start + sign * ((isAcross ? move.clientX : move.clientY) - from));
    separator.onpointerup = () => (separator.onpointermove = null);
  };
  separator.onkeydown = (event) => {
    const step = { ArrowLeft: -24, ArrowUp: -24, ArrowRight: 24, ArrowDown: 24 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    set(extent() + sign * step);
  };
  separator.setAttribute("aria-valuenow", Math.round(extent()));
}
