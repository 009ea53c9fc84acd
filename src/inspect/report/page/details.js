// What is known of the selected draw, panel by panel: state, textures, shaders, findings, packets.

const hex = (value) => `0x${value.toString(16).padStart(8, "0")}`;
const short = (value) => (Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(5))));
const count = (number, name) => `${number} ${name}${number === 1 ? "" : "s"}`;

/** How many frame draws there are in rows. A row has several if the kernel received the tiles in several submits. */
const frameDraws = (rows) => rows.reduce((sum, { row }) => sum + 1 + row.more_frame_draws.length, 0);

/** Characters of a summary. */
const MOST_SUMMARY = 92;

/** Keys whose numbers are addresses or bits. */
const HEX_KEYS = new Set(["address", "packet", "words", "bits", "gmem"]);

/** The state in the order of the pipeline: heading, keys, and which registers hold it. */
const SECTIONS = [
  ["Command", ["draw", "frame_draw", "frame_draws", "submit", "packet", "pass", "kind", "name", "primitive", "count", "instances",
    "groups", "local_size", "runs", "run", "frame", "tile", "tiles"], /^(PC_PRIM|PC_VSTREAM|RB_MODE|RB_BIN|RB_FRAME_BUFFER|CP_DRAW)/],
  ["Vertex inputs", ["vertex_inputs"], /^VFD_(FETCH|DECODE|CONTROL)/],
  ["Indices", ["indices"], /^(VFD_INDEX|VFD_INSTANCE|PC_RESTART)/],
  ["VS", ["shaders.VS"], /^(SP|HLSQ)_VS_/],
  ["HS", ["shaders.HS"], /^(SP|HLSQ|PC)_HS_/],
  ["Tessellation", ["tessellation"], /^PC_(HS|TESS)/],
  ["DS", ["shaders.DS"], /^(SP|HLSQ|PC)_DS_/],
  ["GS", ["shaders.GS"], /^(SP|HLSQ|PC)_GS_/],
  ["Viewport", ["viewport"], /^GRAS_CL_VPORT/],
  ["Scissors", ["scissors"], /^GRAS_SC_.*SCISSOR/],
  ["Raster", ["raster"], /^(GRAS_SU_|GRAS_CL_CLIP|GRAS_CL_GB|PC_PRIM_VTX|GRAS_SC_CONTROL)/],
  ["FS", ["shaders.FS"], /^((SP|HLSQ)_FS_|SP_BLEND|RB_RENDER_CONTROL)/],
  ["CS", ["shaders.CS"], /^((SP|HLSQ)_CS_|HLSQ_CL_)/],
  ["Alpha test", ["alpha_test"], /_ALPHA_CONTROL$/],
  ["Depth", ["depth"], /^(RB|GRAS)_(SU_)?DEPTH/],
  ["Stencil", ["stencil"], /^RB_STENCIL/],
  ["Blend constant", ["blend_constant"], /^RB_BLEND_/],
  ["Targets", ["targets"], /^(RB_MRT|RB_FS_OUTPUT|RB_RENDER_COMPONENTS)/],
  ["Resolve", ["resolve"], /^RB_COPY/],
  ["Cost", ["cost"], null],
];

/** "a[0].b" and "a.0.b" are the same place. */
const placeOf = (path) => path.replace(/\[(\w+)\]/g, ".$1");

/** The element of each list that a place of the state may name, as people call it. */
const PLACES = { textures: "texture ", samplers: "sampler ", buffers: "buffer ", vertex_inputs: "input ", targets: "color" };

/** A place of the state as people call it: "VS c8.y" for "shaders[VS].constants[8].values[1]". */
function placeText(path) {
  return path.replace(/^shaders\[(\w+)\]\.?/, "$1 ")
    .replace(/\bconstants\[(\d+)\](?:\.(?:values|floats|bits)\[(\d)\])?/, (_, index, part) => `c${index}${part ? `.${"xyzw"[part]}` : ""}`)
    .replace(/\b(textures|samplers|buffers|vertex_inputs|targets)\[(\d+)\]\.?/, (_, list, index) => `${PLACES[list]}${index} `)
    .replace(/ +(?=:|$)/, "");
}

function scalarText(key, value) {
  if (value === null) return "none";
  if (typeof value !== "number") return String(value);
  return HEX_KEYS.has(key) ? hex(value) : short(value);
}

const isScalar = (value) => value === null || typeof value !== "object";

const isNothing = (value) => value === undefined || value === null || value.length === 0;

/** One line for a whole object. */
function summaryText(key, value) {
  if (isScalar(value)) return scalarText(key, value);
  if (Array.isArray(value)) {
    const all = value.every(isScalar) && value.length <= 16;
    return all ? value.map((item) => scalarText(key, item)).join(", ") : count(value.length, "entry").replace("entrys", "entries");
  }
  const known = Object.entries(value).filter(([, item]) => isScalar(item) && item !== null && item !== false);
  return shortened(known.map(([name, item]) => (item === true ? name : `${name} ${scalarText(name, item)}`)));
}

/** As many parts as fit a line, and a mark where more follow. */
function shortened(parts) {
  let text = parts[0] ?? "";
  for (const part of parts.slice(1)) {
    if (text.length + part.length > MOST_SUMMARY) return `${text}, …`;
    text += `, ${part}`;
  }
  return text;
}

class Details {
  constructor(frame, registers) {
    Object.assign(this, { frame, registers });
    this.open = new Set(["Command", "Depth", "Targets", "Vertex inputs"]);
    this.mesh = new Mesh($("mesh"), frame);
    this.memory = new MemoryList($("memory"), frame);
    this.drawn = new Set();
  }

  /** Shows a draw. Its texts may have to be unpacked first; until then the panel shows the draw before. */
  async show(draw, row, query) {
    const turn = (this.turn = Symbol());
    $("details-title").textContent = `f${draw.id} · ${passText(draw.row)} · ${commandText(draw.row)}`;
    const finding = draw.row.findings.length + draw.row.troubles.length;
    $("tab-findings").textContent = finding ? `Findings (${finding})` : "Findings";
    $("tab-textures").textContent = draw.texture_use.length ? `Textures (${draw.texture_use.length})` : "Textures";
    const texts = await this.frame.blocks.of("texts", row);
    if (turn !== this.turn) return;
    Object.assign(this, { draw: { ...draw, ...texts }, row, query });
    this.drawn.clear();
    this.render(this.tab ?? "state");
  }

  /** Says that something is not in the report, and which command prints it. */
  missing(what, command) {
    return make("p", { class: "dim" }, `${what} of f${this.draw.id} is not in the report. This command shows it: `,
      make("code", {}, `a4emu ${command.replace("CAPTURE", this.frame.title).replace("N", `f${this.draw.id}`)}`));
  }

  /** Fills the panel `tab`, once for a draw. */
  render(tab) {
    this.tab = tab;
    if (!this.draw || this.drawn.has(tab)) return;
    this.drawn.add(tab);
    // Of these some are there under `serve` alone.
    const own = { mesh: this.mesh, memory: this.memory, step: this.step, edit: this.edit }[tab];
    if (own) own.show(this.draw, (...what) => this.missing(...what));
    else $(tab).replaceChildren(...this[`${tab}Parts`]());
    $(tab).scrollTop = 0;
    if (tab === "packets") $("packets").querySelector(".hit")?.scrollIntoView({ block: "center" });
  }

  statePanelOf(state) {
    const shaders = Object.fromEntries((state.shaders ?? []).map((shader) => [shader.stage, shader]));
    const used = new Set(["shaders"]);
    const value = (key) => (key.startsWith("shaders.") ? shaders[key.slice(8)] : state[key]);
    const parts = SECTIONS.map(([name, keys, pattern]) => {
      keys.forEach((key) => used.add(key));
      const known = keys.filter((key) => !isNothing(value(key)));
      if (!known.length) return null;
      const whole = known.length === 1 ? value(known[0]) : Object.fromEntries(known.map((key) => [key, value(key)]));
      return this.section(name, whole, known.length === 1 ? known[0] : "", this.registersOf(pattern));
    });
    const rest = Object.entries(state).filter(([key, item]) => !used.has(key) && !isNothing(item));
    return [...parts, ...rest.map(([key, item]) => this.section(key, item, key, null))];
  }

  stateParts() {
    const { draw } = this;
    this.changes = changesByPath(draw.changed);
    const parts = [make("h3", {}, "Changed since the previous draw of this pass")];
    if (!draw.changed.length) parts.push(make("p", { class: "dim" }, "nothing"));
    else parts.push(make("ul", { class: "changes", tabindex: 0, "aria-label": "Changes" }, ...draw.changed.map(changeLine)));
    if (draw.written.length) parts.push(make("h3", {}, "Stored to memory"), ...draw.written.map((lines) => this.writtenPart(lines)));
    parts.push(make("h3", {}, "State"));
    if (draw.state) parts.push(...this.statePanelOf(draw.state));
    else parts.push(this.missingState(draw));
    return parts.filter(Boolean);
  }

  /** What was stored through one descriptor, register or pointer: a title, and the first dwords. */
  writtenPart([title, ...words]) {
    return this.branch(make("summary", {}, title), "written", `written ${title.split(":")[0]}`,
      () => [make("div", { class: "code" }, ...words.map((word) => make("div", {}, word)))]);
  }

  /** What is not in the report; under `serve` it is asked for. */
  missingState(draw) {
    const box = live ? make("div", { class: "dim" }, "asking…") : this.missing("The state", "show CAPTURE --draw N");
    if (live) {
      ask(`draw/${draw.id}`).then(
        (state) => box.replaceWith(...this.statePanelOf(state).filter(Boolean)),
        (error) => (box.textContent = error.message));
    }
    return box;
  }

  section(name, value, path, links) {
    const summary = make("summary", { class: this.wasAt(path) === undefined ? null : "changed" }, name,
      make("span", { class: "value" }, summaryText(path, value)));
    return this.branch(summary, "section", name, () => [...this.fields(value, path), links]);
  }

  /** Something that opens, whose content is made when it does; what was open stays so from draw to draw. */
  branch(summary, kind, key, content) {
    const box = make("details", { class: kind }, summary);
    const fill = () => box.childElementCount === 1 && box.append(...content().filter(Boolean));
    if (this.open.has(key)) {
      box.open = true;
      fill();
    }
    box.ontoggle = () => {
      if (box.open) fill();
      this.open[box.open ? "add" : "delete"](key);
    };
    return box;
  }

  fields(value, path) {
    if (isScalar(value)) return [this.field(path.split(".").pop(), value, path)];
    const below = (key) => (path ? `${path}.${key}` : key);
    return Object.entries(value).map(([at, item]) => {
      // The elements of a list are called by their names, as in the list of changes.
      const key = Array.isArray(value) ? String(item?.stage ?? item?.slot ?? item?.index ?? at) : at;
      if (item?.components && item.values) return this.constant(item, below(key));
      return this.field(Array.isArray(value) ? `[${key}]` : key, item, below(key), key);
    });
  }

  /** A constant as instructions name it, and its values as the program takes them. */
  constant(item, path) {
    const summary = make("summary", { class: this.wasAt(path) === undefined ? null : "changed" },
      make("span", { class: "key" }, `c${item.index}.${item.components}`),
      make("span", { class: "value" }, [...item.components].map((part) => item.values["xyzw".indexOf(part)]).join("  ")));
    return this.branch(summary, null, path, () => this.fields(item, path));
  }

  field(name, value, path, key = name) {
    const was = this.wasAt(path);
    const plain = isScalar(value) || (Array.isArray(value) && value.every(isScalar) && value.length <= 16);
    const shownKey = /^\d+$/.test(key) ? path.split(".").at(-2) : key;
    if (key === "instructions" && Array.isArray(value)) return this.line(name, `${value.length}, see Shaders`, was);
    if (plain && shownKey === "address" && value) return this.line(name, addressLink(value), was);
    if (plain) return this.line(name, Array.isArray(value) && !value.length ? "none" : summaryText(shownKey, value), was);
    const summary = make("summary", { class: was === undefined ? null : "changed" },
      make("span", { class: "key" }, name), make("span", { class: "value" }, summaryText(shownKey, value)));
    return this.branch(summary, null, path, () => this.fields(value, path));
  }

  line(name, text, was) {
    return make("div", { class: was === undefined ? "field" : "field changed", title: was ?? null },
      make("span", { class: "key" }, name), make("span", { class: "value" }, text));
  }

  /** The change at a path, if there is one: "LESS -> ALWAYS". */
  wasAt(path) {
    return this.changes.get(path);
  }

  registersOf(pattern) {
    const names = pattern ? Object.keys(this.frame.registers).filter((name) => pattern.test(name)) : [];
    if (!names.length) return null;
    const links = () => [make("div", { class: "registers" }, ...names.map((name) => this.registers.link(name)))];
    return this.branch(make("summary", { class: "dim" }, count(names.length, "register")), null, String(pattern), links);
  }

  texturesParts() {
    const { texture_use: keys } = this.draw;
    if (!keys.length) return [make("p", { class: "dim" }, "This command names no texture.")];
    return keys.map((key) => (this.frame.textures[key] ? new TextureView(this.frame, key).figure : make("p", { class: "dim" }, `${key}: not in the report`)));
  }

  shadersParts() {
    const { shader_use: uses, counts, row } = this.draw;
    if (!uses.length) return [make("p", { class: "dim" }, "No shader of this command is in the capture.")];
    return uses.flatMap(({ stage, hash }, index) => {
      const [warps, lanes] = counts[index];
      const shader = this.frame.shaders[hash];
      const users = this.frame.draws.filter((draw) => draw.shader_use.some((use) => use.hash === hash));
      const ran = row.cost.instructions[stage] ?? 0;
      const head = make("h3", {}, `${stage} `, make("code", {}, hash),
        make("span", { class: "dim" }, ` · ${count(shader?.text.length ?? 0, "instruction")} · ${ran} ran here${warps.length ? ", by line: warps and lanes" : ""} · in ${count(frameDraws(users), "frame draw")}`));
      if (!shader) return [head, make("p", { class: "dim" }, "not in the report")];
      return [head, make("div", { class: "code", role: "group", "aria-label": `${stage} ${hash}` }, ...codeLines(shader.text, warps, lanes))];
    });
  }

  /** What went wrong, and what an A4xx would not forgive: of this draw, and of all of them by where it was met first. */
  findingsParts() {
    const { draws, findings } = this.frame;
    const ofRow = ({ row }, indices) => [
      ...row.troubles.map((text) => make("li", { class: "finding" }, text)), ...indices.map((index) => findingItem(findings[index]))];
    const own = ofRow(this.draw, this.draw.row.findings);
    const known = new Set();
    const others = draws.flatMap((draw, row) => {
      const first = draw.row.findings.filter((index) => !known.has(index));
      first.forEach((index) => known.add(index));
      const items = row === this.row ? [] : ofRow(draw, first);
      return items.length ? [drawLink(row, draw), make("ul", {}, ...items)] : [];
    });
    const rest = findings.filter((_, index) => !known.has(index)).map(findingItem);
    const none = () => make("p", { class: "dim" }, "none");
    return [
      make("h3", {}, "Of this draw"), own.length ? make("ul", {}, ...own) : none(),
      make("h3", {}, "Of other draws, where each was met first"), ...(others.length ? others.slice(0, 1000) : [none()]),
      ...(rest.length ? [make("h3", {}, "Behind the last draw"), make("ul", {}, ...rest.slice(0, 1000))] : []),
    ];
  }

  packetsParts() {
    const { packets } = this.draw;
    if (!packets.length) return [this.missing("The list of packets", "decode CAPTURE --draw N")];
    const wanted = this.query?.toLowerCase();
    const lines = packets.map((line) =>
      make("div", { class: wanted && line.toLowerCase().includes(wanted) ? "hit" : null }, ...this.registers.linked(line)));
    return [make("p", { class: "dim" }, `${count(packets.length, "line")} since the draw before`), make("div", { class: "code packets" }, ...lines)];
  }
}

/** The lines of a program; where it ran, behind the warps and the lanes that ran each. */
function codeLines(text, warps, lanes) {
  if (!warps.length) return text.map((line) => make("div", {}, line));
  const counts = (left, right) => make("span", { class: "dim" }, `${String(left).padStart(9)} ${String(right).padStart(10)}  `);
  return text.map((line, index) => make("div", {}, counts(warps[index] ?? 0, lanes[index] ?? 0), line));
}

/** "path: old -> new" in parts. */
const CHANGE = /^(.*?): (.*) -> (.*)$/s;

/** Of each place that changed, what changed; of each place around it, nothing more than that it did. */
function changesByPath(changed) {
  const out = new Map();
  for (const line of changed) {
    const [, path, old, now] = CHANGE.exec(line) ?? [null, line, "", ""];
    const parts = placeOf(path).split(".");
    for (let length = 1; length < parts.length; length++) {
      const around = parts.slice(0, length).join(".");
      if (!out.has(around)) out.set(around, "");
    }
    out.set(parts.join("."), `${old} -> ${now}`);
  }
  return out;
}

function changeLine(line) {
  const [, path, old, now] = CHANGE.exec(line) ?? [];
  if (path === undefined) return make("li", {}, placeText(line));
  const key = path.replace(/\[\d+\]$/, "").split(".").pop();
  // Floats keep their point.
  const text = (value) => (/^-?\d+$/.test(value) ? scalarText(key, Number(value)) : value);
  return make("li", { title: path }, `${placeText(path)}: `, make("del", {}, text(old)), " → ", make("ins", {}, text(now)));
}

/** Leads to a draw; page.js listens for it. */
function drawLink(row, draw) {
  return make("button", { type: "button", class: "link", "data-row": row }, `f${draw.id}`);
}

/** Leads to the bytes at an address. */
function addressLink(address) {
  return make("button", { type: "button", class: "link", "data-address": address, title: "Memory there" }, hex(address));
}

/** The registers of the frame: links to them, and what explains them. */
class Registers {
  constructor(frame) {
    this.frame = frame;
    this.row = 0;
  }

  link(name) {
    return make("button", { type: "button", class: "link", "data-register": name, "aria-haspopup": "dialog" }, name);
  }

  /** The name under which a register of an array is explained. */
  known(name) {
    const names = [name, name.replace(/\[\d+\]/, ""), name.replace(/\[\d+\].*/, "")];
    return names.find((name) => Object.hasOwn(this.frame.registers, name));
  }

  /** A line of packets, with its registers as links. */
  linked(line) {
    const parts = [];
    let end = 0;
    for (const { 0: name, index } of line.matchAll(/[A-Z][A-Z0-9]*_[A-Z0-9_]+(?:\[\d+\](?:\.[A-Z0-9_]+)?)?/g)) {
      if (!this.known(name)) continue;
      parts.push(line.slice(end, index), this.link(name));
      end = index + name.length;
    }
    return [...parts, line.slice(end)];
  }

  /** Which rows write a register, and the line that does. */
  async writers(name) {
    const found = [];
    for (const [row, draw] of this.frame.draws.entries()) {
      const { packets } = await this.frame.blocks.of("texts", row);
      const line = packets.findLast((line) => line.includes(`${name} =`));
      if (line) found.push({ row, draw, line: line.trim() });
    }
    return found;
  }

  async explain(name) {
    const known = this.frame.registers[this.known(name)];
    $("register-name").textContent = name;
    $("register-text").textContent = known?.text ?? "…";
    $("register-draws").textContent = "…";
    if (!$("register").open) $("register").showModal();
    const writers = await this.writers(name);
    const last = writers.findLast(({ row }) => row <= this.row);
    $("register-draws").replaceChildren(
      last ? make("code", {}, `${last.line}`) : "Not written up to this draw.",
      make("br"), `Written before ${count(frameDraws(writers.map(({ draw }) => draw)), "frame draw")}: `,
      ...writers.slice(0, 60).flatMap(({ row, draw }) => [drawLink(row, draw), " "]), writers.length > 60 ? "…" : "");
    if (known || !live) return;
    try {
      const answer = await ask(`explain/${encodeURIComponent(name)}`);
      $("register-text").textContent = answer.text;
    } catch (error) {
      $("register-text").textContent = error.message;
    }
  }
}

/** What is wrong, the rule that says so, and what mends it. */
function findingItem({ rule, severity, what, shader, says, mend, count: times }) {
  const at = shader ? ` ${shader.stage} ${shader.hash.slice(0, 8)} at ${shader.instruction}` : "";
  return make("li", { class: severity === "N" ? null : "finding" },
    `${rule} ${severity}${at}: ${what}${times > 1 ? ` (${times} times)` : ""}`,
    shader ? make("div", {}, make("code", {}, shader.text.trim())) : null,
    make("div", { class: "dim" }, `${says}. Mend: ${mend}.`));
}
