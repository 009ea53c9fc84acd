// The list of draws, folded by submit and pass: only the rows in sight exist. The filters of passes, the strip
// of costs, and the search.

const ROW_HEIGHT = 46;
const HEAD_HEIGHT = 27;

/** More draws than these are folded but for the group that holds the selected draw. */
const MOST_UNFOLDED = 300;

/** "TRILIST 36 x 2", "dispatch 4x4x1", as the row says. */
function commandText(row) {
  if (row.kind === "blit") return `${row.name} ${row.does.replaceAll("_", " ")}`;
  if (row.kind === "dispatch") return `dispatch ${row.groups.join("x")} of ${row.local_size.join("x")}`;
  if (row.kind !== "draw") return row.name;
  return `${row.primitive} ${row.count}${row.instances > 1 ? ` × ${row.instances}` : ""}`;
}

const passText = (row) => row.pass ?? (row.kind === "blit" ? "blit" : "compute");
const instructionsOf = (row) => Object.values(row.cost.instructions).reduce((sum, count) => sum + count, 0);
/** Text for screen readers only. */
const hidden = (text) => make("span", { class: "hidden" }, text);
const percent = (share) => (share > 0 && share < 0.0005 ? "<0.1 %" : `${(share * 100).toFixed(1)} %`);

/** What the percentages mean. */
const COST_WORDS = "Share of the cost of all draws: instructions that shaders run, and pixels, at fixed prices. It is no time of a chip.";

/** The entry of the glossary about a word that the page uses. */
const wordText = (frame, word) => frame.words[word] ?? "";

/** The row with the highest cost. */
const hottestOf = ({ draws }) => draws.reduce((best, draw, row) => (draw.row.share > draws[best].row.share ? row : best), 0);

/** Groups consecutive rows that have the same key. */
function runsOf(rows, keyOf) {
  const runs = [];
  for (const row of rows) {
    const key = keyOf(row), last = runs.at(-1);
    if (last?.key === key) last.rows.push(row);
    else runs.push({ key, rows: [row] });
  }
  return runs;
}

class DrawList {
  constructor(frame, surfaces, onSelect) {
    Object.assign(this, { frame, surfaces, onSelect });
    this.box = $("list");
    this.found = frame.draws.map((_, row) => row);
    this.selected = -1;
    this.made = new Map();
    this.thumbnails = new Cache(24 << 20);
    this.hottest = hottestOf(frame);
    this.mostShare = Math.max(frame.draws[this.hottest]?.row.share ?? 0, 1e-9);
    /** The passes that are shown; empty for all. */
    this.onlyPasses = new Set();
    this.total = frameDraws(frame.draws);
    /** Groups that the user has folded or unfolded. */
    this.isOpen = new Map();
    this.makeFilters();
    this.arrange();
    this.box.addEventListener("scroll", () => this.render());
    new ResizeObserver(() => this.render()).observe(this.box);
  }

  /** A button for each pass: a click shows it alone, and again all; with Ctrl it is added or taken out. */
  makeFilters() {
    const counts = new Map();
    for (const draw of this.frame.draws) counts.set(passText(draw.row), (counts.get(passText(draw.row)) ?? 0) + frameDraws([draw]));
    this.passes = [...counts.keys()];
    const button = ([pass, number]) => make("button", {
      type: "button", "aria-pressed": "true", "data-pass": pass, onclick: (event) => this.choosePass(pass, event.ctrlKey || event.metaKey),
      title: [wordText(this.frame, pass), "Click: only these, and again all. Ctrl+click: with or without these."].filter(Boolean).join("\n"),
    }, `${pass} ${number}`);
    $("passes").replaceChildren(...(counts.size > 1 ? [...counts].map(button) : []));
  }

  choosePass(pass, isAdded) {
    const only = new Set(this.onlyPasses.size ? this.onlyPasses : this.passes);
    const isAlone = this.onlyPasses.size === 1 && only.has(pass);
    if (isAdded && !only.delete(pass)) only.add(pass);
    this.onlyPasses = isAdded ? only : new Set(isAlone ? [] : [pass]);
    if (this.onlyPasses.size === this.passes.length) this.onlyPasses.clear();
    for (const button of $("passes").children) button.setAttribute("aria-pressed", String(!this.onlyPasses.size || this.onlyPasses.has(button.dataset.pass)));
    this.filter(this.found);
  }

  /** Says how many frame draws are listed, and of how many. */
  entitle() {
    const { draws } = this.frame, listed = frameDraws(this.shown.map((row) => draws[row]));
    const rows = this.total > draws.length ? ` in ${draws.length} rows` : "";
    $("draws-title").textContent = `Frame draws (${listed === this.total ? `${listed}${rows}` : `${listed} of ${this.total}`})`;
    $("draws-title").title = rows ? `${wordText(this.frame, "frame draw")}\nA row has the runs of one packet in several submits, or for several tiles.` : wordText(this.frame, "frame draw");
    $("nothing").hidden = this.shown.length > 0 || !draws.length;
    $("nothing").textContent = this.found.length ? `${count(this.found.length, "row")} found, in passes that are not chosen above.` : this.whyNothing ?? "";
  }

  /** Shows these rows of the frame only; if there is none, the reason. */
  filter(rows, whyNothing = this.whyNothing) {
    this.found = rows;
    this.whyNothing = whyNothing;
    this.arrange();
    this.render();
    this.reveal();
    this.activate(this.active);
  }

  /** Makes the items of the list: heads of submits, heads of passes, rows. */
  arrange() {
    const passOf = (row) => passText(this.frame.draws[row].row);
    this.shown = this.found.filter((row) => !this.onlyPasses.size || this.onlyPasses.has(passOf(row)));
    this.entitle();
    this.items = [];
    this.indexes = new Map();
    this.tops = [0];
    const submits = runsOf(this.shown, (row) => this.frame.draws[row].row.submit);
    for (const submit of submits) {
      const key = `s${submit.key}`, isOpen = this.opens(key, submit.rows, submits.length);
      this.add({ key, level: 1, name: `Submit ${submit.key}`, rows: submit.rows, isOpen });
      if (!isOpen) continue;
      const passes = runsOf(submit.rows, passOf);
      for (const pass of passes) {
        const key = `p${pass.rows[0]}`, isOpen = this.opens(key, pass.rows, passes.length);
        this.add({ key, level: 2, name: pass.key, rows: pass.rows, isOpen });
        if (isOpen) pass.rows.forEach((row, at) => this.add({ key: `row-${row}`, level: 3, row, at, of: pass.rows.length }));
      }
    }
    $("rows").style.height = `${this.tops.at(-1)}px`;
    this.box.style.setProperty("--rows", `${this.tops.at(-1)}px`);
    this.made.forEach((element) => element.remove());
    this.made.clear();
  }

  /** Whether a group is open: as the user has left it, or if it is the only one, small, or holds the selected draw. */
  opens(key, rows, siblings) {
    const last = rows.at(-1);
    return this.isOpen.get(key)
      ?? (siblings === 1 || this.shown.length <= MOST_UNFOLDED || (rows[0] <= this.selected && this.selected <= last));
  }

  add(item) {
    this.indexes.set(item.key, this.items.length);
    this.items.push(item);
    this.tops.push(this.tops.at(-1) + (item.row === undefined ? HEAD_HEIGHT : ROW_HEIGHT));
  }

  /** The item at a height. */
  itemAt(height) {
    let [low, high] = [0, this.items.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.tops[middle + 1] <= height) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  select(row) {
    this.made.get(`row-${this.selected}`)?.setAttribute("aria-selected", "false");
    this.selected = row;
    if (!this.indexes.has(`row-${row}`)) this.unfold(row);
    this.reveal();
    this.render();
    this.made.get(`row-${row}`)?.setAttribute("aria-selected", "true");
    this.activate(`row-${row}`);
  }

  activate(key) {
    if (this.made.has(key)) this.box.setAttribute("aria-activedescendant", this.made.get(key).id);
    else this.box.removeAttribute("aria-activedescendant");
    this.active = key;
  }

  /** Opens the groups that hold a row. */
  unfold(row) {
    const holds = (item) => item.rows && !item.isOpen && item.rows[0] <= row && row <= item.rows.at(-1);
    for (let item; (item = this.items.find(holds));) {
      this.isOpen.set(item.key, true);
      this.arrange();
    }
  }

  /** Folds or unfolds a group. */
  toggle(key, isOpen) {
    this.isOpen.set(key, isOpen);
    this.arrange();
    this.render();
    this.activate(key);
  }

  /** Folds the innermost open group around the active item, or unfolds the active group. */
  foldKey(isOpen) {
    const active = this.items[this.indexes.get(this.active)];
    if (isOpen) return active?.rows && !active.isOpen && this.toggle(active.key, true);
    const index = this.indexes.get(this.active) ?? -1;
    const around = (item, at) => item.rows && item.isOpen && at <= index && (at === index || item.level < active.level);
    const group = this.items.slice(0, index + 1).findLast(around);
    if (group) this.toggle(group.key, false);
  }

  /** Scrolls just as far as the selected row needs. */
  reveal() {
    const index = this.indexes.get(`row-${this.selected}`);
    if (index === undefined) return;
    const [top, bottom] = [this.tops[index], this.tops[index + 1]];
    const { scrollTop, clientHeight } = this.box;
    if (top < scrollTop) this.box.scrollTop = top;
    else if (bottom > scrollTop + clientHeight) this.box.scrollTop = bottom - clientHeight;
  }

  /** The shown row `step` rows from the selected one, also if a group hides it. */
  neighbour(step) {
    const index = this.shown.indexOf(this.selected);
    if (index >= 0) return this.shown[Math.min(Math.max(index + step, 0), this.shown.length - 1)];
    const after = this.shown.findIndex((row) => row > this.selected);
    return step > 0 ? this.shown[after] : this.shown[(after < 0 ? this.shown.length : after) - 1];
  }

  render() {
    const { scrollTop, clientHeight } = this.box;
    const first = Math.max(this.itemAt(scrollTop) - 4, 0);
    const last = Math.min(this.itemAt(scrollTop + clientHeight) + 5, this.items.length);
    const wanted = new Set(this.items.slice(first, last).map((item) => item.key));
    for (const [key, element] of this.made) {
      if (wanted.has(key)) continue;
      element.remove();
      this.made.delete(key);
    }
    for (let index = first; index < last; index++) {
      const item = this.items[index];
      if (this.made.has(item.key)) continue;
      const element = item.row === undefined ? this.head(item) : this.row(item);
      element.style.top = `${this.tops[index]}px`;
      this.made.set(item.key, element);
      $("rows").append(element);
    }
    this.drawThumbnails();
  }

  /** The head of a group: how many draws it has, and their part of the cost. */
  head({ key, level, name, rows, isOpen }) {
    const share = rows.reduce((sum, row) => sum + this.frame.draws[row].row.share, 0);
    return make("div", {
      class: `head level${level}`, role: "treeitem", id: `group-${key}`, "aria-level": level, "aria-expanded": String(isOpen),
      "aria-selected": "false", onclick: () => this.toggle(key, !isOpen),
    },
      make("span", { class: "fold", "aria-hidden": "true" }, isOpen ? "▾" : "▸"),
      make("span", { class: "name", title: level === 1 ? wordText(this.frame, "submit") : wordText(this.frame, name) }, make("b", {}, name), ` ${count(frameDraws(rows.map((row) => this.frame.draws[row])), "frame draw")}`),
      make("span", { class: "share", title: COST_WORDS }, percent(share), hidden(" of the cost")));
  }

  row({ row, at, of }) {
    const draw = this.frame.draws[row], { cost, share } = draw.row;
    const name = `f${draw.id}`, counts = `${cost.pixels} px · ${instructionsOf(draw.row)} instr`;
    const words = [`${passText(draw.row)}: ${wordText(this.frame, passText(draw.row))}`, "px: pixels that were written", "instr: instructions of its shaders, one for all lanes of a warp"];
    const findings = findingLines(this.frame, draw);
    const found = findings.length ? make("span", { class: "finding", title: findings.join("\n") }, `▲ ${findings.length} `, hidden("findings ")) : null;
    const bar = make("i");
    bar.style.width = `${(100 * share) / this.mostShare}%`;
    return make("div", {
      class: "row", role: "treeitem", id: `row-${row}`, "aria-selected": String(row === this.selected), "aria-level": 3,
      "aria-setsize": of, "aria-posinset": at + 1, onclick: () => this.onSelect(row),
    },
      make("canvas", { width: 56, height: 39 }),
      make("span", { class: "name" }, make("b", {}, name), row === this.frame.stood_at ? make("span", { class: "hot", title: this.frame.stood }, " ■ GPU stood here") : null, ` ${commandText(draw.row)}`),
      make("span", { class: "share", title: COST_WORDS }, row === this.hottest ? make("span", { class: "hot", title: "The hottest draw" }, "▼ ", hidden("hottest ")) : null, found, percent(share), hidden(" of the cost")),
      make("span", { class: "counts", title: words.join("\n") }, counts),
      make("span", { class: "cost" }, bar));
  }

  /** One after the other, from the first in sight on; a later call takes over. */
  async drawThumbnails() {
    const turn = (this.turn = Symbol());
    await new Promise(requestAnimationFrame);
    const rows = this.items.filter((item) => item.row !== undefined && this.made.has(item.key)).map((item) => item.row);
    for (const row of rows) {
      if (turn !== this.turn) return;
      const canvas = this.made.get(`row-${row}`)?.firstChild;
      const surface = this.surfaces[this.frame.draws[row].canvas];
      if (!canvas || canvas.dataset.done || !surface) continue;
      const image = this.thumbnails.get(row) ?? (await this.thumbnail(surface, row));
      canvas.getContext("2d").putImageData(image, 0, 0);
      canvas.dataset.done = "yes";
    }
  }

  async thumbnail(surface, row) {
    const pixels = await surface.after(row + 1);
    const image = new ImageData(56, 39);
    const scale = Math.max(surface.width / 56, surface.height / 39);
    const left = (56 - surface.width / scale) / 2, top = (39 - surface.height / scale) / 2;
    for (let y = 0; y < 39; y++) {
      for (let x = 0; x < 56; x++) {
        const [u, v] = [Math.floor((x + 0.5 - left) * scale), Math.floor((y + 0.5 - top) * scale)];
        if (u < 0 || v < 0 || u >= surface.width || v >= surface.height) continue;
        const from = (v * surface.width + u) * 4;
        image.data.set([pixels[from], pixels[from + 1], pixels[from + 2], 255], (y * 56 + x) * 4);
      }
    }
    this.thumbnails.put(row, image, 56 * 39 * 4);
    return image;
  }
}

/** Rows that the strip shows at least. */
const FEWEST_BARS = 8;

/** The strip of costs: a bar for each draw, or for some of them where there are more than columns. It can be enlarged. */
class Strip {
  constructor(frame, onSelect) {
    Object.assign(this, { frame, onSelect, row: 0, from: 0, length: frame.draws.length });
    this.view = $("strip");
    this.hottest = hottestOf(frame);
    this.most = Math.max(frame.draws[this.hottest]?.row.share ?? 0, 1e-9);
    this.view.setAttribute("aria-valuemax", Math.max(frame.draws.length - 1, 0));
    this.view.onclick = (event) => this.onSelect(this.costliest(event.offsetX));
    this.view.onpointermove = (event) => (this.view.title = this.text(this.costliest(event.offsetX)));
    this.view.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    $("strip-all").onclick = () => this.zoom(Infinity);
    /** Neighbouring submits have different colours. */
    this.isOdd = [];
    frame.draws.forEach(({ row }, at) => {
      const last = frame.draws[at - 1]?.row.submit;
      this.isOdd.push(at > 0 && (row.submit === last ? this.isOdd[at - 1] : !this.isOdd[at - 1]));
    });
    const draw = frame.draws[this.hottest];
    if (draw) {
      $("hottest").replaceChildren(`Hottest: f${draw.id}, ${percent(draw.row.share)}`);
      $("hottest").dataset.row = this.hottest;
    }
    $("strip-caption").title = COST_WORDS;
    new ResizeObserver(() => this.paint()).observe(this.view);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.paint());
  }

  text(row) {
    const draw = this.frame.draws[row];
    return draw ? `f${draw.id}, ${passText(draw.row)}, ${percent(draw.row.share)} of the cost${row === this.hottest ? ", the hottest draw" : ""}` : "";
  }

  select(row) {
    this.row = row;
    if (row < this.from || row >= this.from + this.length) this.move(row - this.length / 2);
    this.view.setAttribute("aria-valuenow", row);
    this.view.setAttribute("aria-valuetext", this.text(row));
    this.paint();
  }

  wheel(event) {
    event.preventDefault();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.move(this.from + (Math.sign(event.deltaX || event.deltaY) * this.length) / 8);
    else this.zoom(event.deltaY < 0 ? 0.7 : 1 / 0.7, event.offsetX);
  }

  /** Shows `factor` times as many rows; the row in column `x` stays there, or the selected one. */
  zoom(factor, x) {
    const all = this.frame.draws.length, share = x === undefined ? (this.row - this.from) / this.length : x / Math.max(this.view.clientWidth, 1);
    const fixed = this.from + share * this.length;
    this.length = Math.min(Math.max(this.length * factor, Math.min(FEWEST_BARS, all)), all);
    this.move(fixed - share * this.length);
  }

  move(from) {
    this.from = Math.min(Math.max(from, 0), this.frame.draws.length - this.length);
    $("strip-all").hidden = this.length === this.frame.draws.length;
    this.paint();
  }

  /** The rows of a column. */
  rowsOf(x) {
    const all = this.frame.draws.length, width = Math.max(this.view.clientWidth, 1);
    const at = (x) => Math.floor(this.from + (x * this.length) / width);
    const first = Math.min(at(x), all - 1);
    return [first, Math.min(Math.max(at(x + 1), first + 1), all)];
  }

  costliest(x) {
    const [first, end] = this.rowsOf(x);
    let best = first;
    for (let row = first; row < end; row++) if (this.frame.draws[row]?.row.share > this.frame.draws[best].row.share) best = row;
    return best;
  }

  /** Bars have the height of the root of the cost, so that cheap draws are seen beside costly ones. */
  paint() {
    const { view } = this, { draws } = this.frame;
    const [width, height] = [view.clientWidth, view.clientHeight];
    if (!width || !draws.length) return;
    [view.width, view.height] = [width, height];
    const context = view.getContext("2d"), style = getComputedStyle(view), color = (name) => style.getPropertyValue(name);
    const gap = width / this.length > 3 ? 1 : 0, bars = ["--bar", "--bar2"].map(color);
    for (let x = 0; x < width; x++) {
      const row = this.costliest(x), { share } = draws[row].row;
      const isEdge = gap && this.rowsOf(x + 1)[0] !== row;
      const bar = Math.ceil(Math.sqrt(share / this.most) * (height - 9));
      context.fillStyle = bars[Number(this.isOdd[row])];
      if (!isEdge) context.fillRect(x, height - bar, 1, bar);
    }
    const column = (row) => Math.floor(((row + 0.5 - this.from) * width) / this.length);
    context.fillStyle = color("--text");
    context.fillRect(column(this.row) - 1, 0, 2, height);
    context.fillStyle = color("--bad");
    context.beginPath();
    [[-5, 0], [5, 0], [0, 6]].forEach(([x, y]) => context.lineTo(column(this.hottest) + x, y));
    context.fill();
    const last = this.rowsOf(width - 1)[1] - 1, first = draws[this.rowsOf(0)[0]];
    $("strip-range").textContent = `f${first.id} to f${draws[last].id}, left to right`;
  }
}

/** What went wrong in a draw, and which rules it breaks, a line each. */
function findingLines(frame, { row }) {
  return [...row.troubles, ...row.findings.map((index) => `${frame.findings[index].rule}: ${frame.findings[index].what}`)];
}

/** What of a draw can be searched for in the data of all draws. */
function searchText(frame, draw) {
  const { row } = draw;
  const parts = [`f${draw.id}`, commandText(row), passText(row), ...findingLines(frame, draw)];
  row.shaders.forEach((shader) => parts.push(`${shader.stage} ${shader.hash}`));
  row.textures.forEach((texture) => parts.push(`${texture.format} ${texture.size.join("x")} ${hex(texture.address)}`));
  row.targets.forEach((target) => parts.push(`${target.name} ${target.format}`));
  draw.texture_use.forEach((key) => parts.push(key, frame.textures[key]?.label ?? ""));
  return parts.join("\n").toLowerCase();
}

/** A value that is asked for: "ZFUNC=LESS", "RB_DEPTH_CONTROL.ZFUNC != 2". */
const CONDITION = /^([\w.[\]*]+)\s*(!?=|:)\s*([\w.-]+)$/;

/** A register's line among the packets: offset, name, value. */
const REGISTER_LINE = /\b[0-9a-f]{4} ([A-Z][\w.[\]]*) = ([0-9a-f]{8})\b/;

/** The fields in the text of a register: their bits, and the names of their values. */
function fieldsOf(text) {
  const fields = {};
  let last;
  for (const line of text.split("\n")) {
    const [, low, high, name] = /^ {2}(\d+)(?:\.\.(\d+))? +(\w+)/.exec(line) ?? [];
    if (name) fields[name] = last = { low: Number(low), high: Number(high ?? low), values: {} };
    else if (last) for (const [, value, name] of line.matchAll(/\b(\d+) ([A-Z]\w+)/g)) last.values[name] = Number(value);
  }
  return fields;
}

const fieldValue = ({ low, high }, word) => Math.floor(word / 2 ** low) % 2 ** (high - low + 1);

/** The numbers that a text means as a value of a field: a number, or a name or its end ("LESS" for FUNC_LESS, not for FUNC_NOTLESS). */
function valuesOf(text, { values = {} }) {
  const wanted = text.toUpperCase();
  const named = Object.entries(values).filter(([name]) => name === wanted || name.endsWith(`_${wanted}`));
  const exact = named.filter(([name]) => name === wanted || name.split("_").slice(1).join("_") === wanted);
  const number = { ON: 1, TRUE: 1, OFF: 0, FALSE: 0 }[wanted] ?? Number(text);
  return [...(exact.length ? exact : named).map(([, value]) => value), ...(Number.isInteger(number) ? [number] : [])];
}

/** Answers with the rows that a query means, what in their packets said so, and what was not searched. */
class Search {
  constructor(frame) {
    this.frame = frame;
    this.texts = [];
    this.packets = [];
    this.lines = [];
  }

  /** The rows of a query; null if it is no longer wanted. */
  async find(query, isWanted) {
    const number = /^f?(\d+)$/.exec(query.toLowerCase());
    const exact = number ? this.frame.draws.findIndex((draw) => draw.id === Number(number[1])) : -1;
    if (exact >= 0) return { rows: [exact], inPackets: new Map() };
    const condition = CONDITION.exec(query);
    const fields = this.fields(condition?.[1] ?? query);
    if (condition && fields.length) return this.holding(condition, fields, isWanted);
    return this.mentioning(query.toLowerCase(), fields, isWanted);
  }

  /** The registers and fields that a name means: REGISTER.FIELD, FIELD, REGISTER; [*] or no index is any. */
  fields(name) {
    const plain = (name) => name.toUpperCase().replace(/\[(\d+|\*)\]/g, "");
    const wanted = plain(name), index = /\[\d+\]/.exec(name)?.[0] ?? "";
    return Object.entries(this.frame.registers).filter(([register]) => register.includes(index)).flatMap(([register, { text }]) => {
      if (plain(register) === wanted) return [{ register, field: { low: 0, high: 31 } }];
      const fields = Object.entries(fieldsOf(text));
      return fields.filter(([field]) => [field, `${plain(register)}.${field}`].includes(wanted)).map(([, field]) => ({ register, field }));
    });
  }

  /** The rows of which a text or a packet contains `wanted`, or whose packets write one of `fields`. */
  async mentioning(wanted, fields, isWanted) {
    const marks = fields.map(({ register }) => `${register.toLowerCase()} = `);
    const rows = [], inPackets = new Map();
    for (const [row, draw] of this.frame.draws.entries()) {
      if (!this.texts[row]) await this.read(draw, row);
      if (!isWanted()) return null;
      const mark = [wanted, ...marks].find((mark) => this.packets[row].includes(mark));
      if (this.texts[row].includes(wanted)) rows.push(row);
      else if (mark) {
        rows.push(row);
        inPackets.set(row, mark);
      }
    }
    return { rows, inPackets, ...this.notSearched() };
  }

  /** The rows that run while a field has a value: what was written last before the draw counts. */
  async holding([, name, sign, value], fields, isWanted) {
    const tests = fields.map(({ register, field }) => ({ register, field, values: valuesOf(value, field) }));
    const byRegister = new Map(tests.map(({ register }) => [register, tests.filter((test) => test.register === register)]));
    const held = new Map(), rows = [], inPackets = new Map();
    for (const [row, draw] of this.frame.draws.entries()) {
      if (!this.texts[row]) await this.read(draw, row);
      if (!isWanted()) return null;
      for (const line of this.lines[row]) {
        const [, register, word] = REGISTER_LINE.exec(line) ?? [];
        if (byRegister.has(register)) held.set(register, { word: parseInt(word, 16), row });
      }
      const is = ({ field, values }, { word }) => values.includes(fieldValue(field, word)) === (sign !== "!=");
      const hit = [...held].find(([register, now]) => byRegister.get(register).some((test) => is(test, now)));
      if (!hit) continue;
      rows.push(row);
      if (hit[1].row === row) inPackets.set(row, `${hit[0].toLowerCase()} = `);
    }
    return { rows, inPackets, held: `${name} ${sign} ${value}`, ...this.notSearched() };
  }

  /** How many rows have no packets in this page. */
  notSearched() {
    const without = this.frame.draws.filter((_, row) => !this.packets[row]).length;
    return { gap: without ? `; the packets of ${count(without, "row")} are not in this page` : "" };
  }

  async read(draw, row) {
    const { changed, packets } = await this.frame.blocks.of("texts", row);
    const lines = changed.flatMap((line) => [line, placeText(line)]);
    this.texts[row] = `${searchText(this.frame, draw)}\n${lines.join("\n").toLowerCase()}`;
    this.packets[row] = packets.join("\n").toLowerCase();
    this.lines[row] = packets;
  }
}
