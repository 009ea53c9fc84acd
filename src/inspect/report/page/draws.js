// The list of draws, folded by submit and pass: only the rows in sight exist. The filters of passes, the strip
// of costs, and the search.

const ROW_HEIGHT = 46;
const HEAD_HEIGHT = 27;

/** More draws than these are folded but for the group that holds the selected draw. */
const MOST_UNFOLDED = 300;

/** "TRILIST 36 x 2", "dispatch 4x4x1", as the row says. */
function commandText(row) {
  if (row.kind === "dispatch") return `dispatch ${row.groups.join("x")} of ${row.local_size.join("x")}`;
  if (row.kind !== "draw") return row.name;
  return `${row.primitive} ${row.count}${row.instances > 1 ? ` × ${row.instances}` : ""}`;
}

const passText = (row) => row.pass ?? "compute";
const instructionsOf = (row) => Object.values(row.cost.instructions).reduce((sum, count) => sum + count, 0);
/** Text for screen readers only. */
const hidden = (text) => make("span", { class: "hidden" }, text);
const percent = (share) => `${(share * 100).toFixed(1)} %`;

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
    this.mostShare = frame.draws.reduce((most, draw) => Math.max(most, draw.row.share), 1e-9);
    this.hiddenPasses = new Set();
    /** Groups that the user has folded or unfolded. */
    this.isOpen = new Map();
    this.makeFilters();
    this.arrange();
    this.box.addEventListener("scroll", () => this.render());
    new ResizeObserver(() => this.render()).observe(this.box);
  }

  /** A button for each pass, which hides or shows its draws. */
  makeFilters() {
    const counts = new Map();
    for (const { row } of this.frame.draws) counts.set(passText(row), (counts.get(passText(row)) ?? 0) + 1);
    const button = ([pass, count]) => make("button", {
      type: "button", "aria-pressed": "true", "data-pass": pass, onclick: ({ currentTarget }) => this.togglePass(pass, currentTarget),
    }, `${pass} ${count}`);
    $("passes").replaceChildren(...(counts.size > 1 ? [...counts].map(button) : []));
  }

  togglePass(pass, button) {
    const isHidden = !this.hiddenPasses.delete(pass);
    if (isHidden) this.hiddenPasses.add(pass);
    button.setAttribute("aria-pressed", String(!isHidden));
    this.filter(this.found);
  }

  /** Shows these rows of the frame only. */
  filter(rows) {
    this.found = rows;
    this.arrange();
    this.render();
    this.reveal();
  }

  /** Makes the items of the list: heads of submits, heads of passes, rows. */
  arrange() {
    const passOf = (row) => passText(this.frame.draws[row].row);
    this.shown = this.found.filter((row) => !this.hiddenPasses.has(passOf(row)));
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
      make("span", { class: "name" }, make("b", {}, name), ` ${count(frameDraws(rows.map((row) => this.frame.draws[row])), "frame draw")}`),
      make("span", { class: "share" }, percent(share), hidden(" of the cost")));
  }

  row({ row, at, of }) {
    const draw = this.frame.draws[row], { cost, share } = draw.row;
    const name = `f${draw.id}`, counts = `${cost.pixels} px · ${instructionsOf(draw.row)} instr`;
    const findings = findingLines(this.frame, draw);
    const found = findings.length ? make("span", { class: "finding", title: findings.join("\n") }, `▲ ${findings.length} `, hidden("findings ")) : null;
    const bar = make("i");
    bar.style.width = `${(100 * share) / this.mostShare}%`;
    return make("div", {
      class: "row", role: "treeitem", id: `row-${row}`, "aria-selected": String(row === this.selected), "aria-level": 3,
      "aria-setsize": of, "aria-posinset": at + 1, onclick: () => this.onSelect(row),
    },
      make("canvas", { width: 56, height: 39 }),
      make("span", { class: "name" }, make("b", {}, name), ` ${commandText(draw.row)}`),
      make("span", { class: "share" }, found, percent(share), hidden(" of the cost")),
      make("span", { class: "counts" }, `${passText(draw.row)} · ${counts}`),
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

/** The strip of costs: a bar for each draw, or for some of them where there are more than columns. */
class Strip {
  constructor(frame, onSelect) {
    Object.assign(this, { frame, onSelect, row: 0 });
    this.view = $("strip");
    this.most = frame.draws.reduce((most, draw) => Math.max(most, draw.row.share), 1e-9);
    this.view.setAttribute("aria-valuemax", Math.max(frame.draws.length - 1, 0));
    this.view.onclick = (event) => this.onSelect(this.costliest(event.offsetX));
    this.view.onpointermove = (event) => (this.view.title = this.text(this.costliest(event.offsetX)));
    /** Neighbouring submits have different colours. */
    this.isOdd = [];
    frame.draws.forEach(({ row }, at) => {
      const last = frame.draws[at - 1]?.row.submit;
      this.isOdd.push(at > 0 && (row.submit === last ? this.isOdd[at - 1] : !this.isOdd[at - 1]));
    });
    new ResizeObserver(() => this.paint()).observe(this.view);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.paint());
  }

  text(row) {
    const draw = this.frame.draws[row];
    return draw ? `f${draw.id}, ${passText(draw.row)}, ${percent(draw.row.share)} of the cost` : "";
  }

  select(row) {
    this.row = row;
    this.view.setAttribute("aria-valuenow", row);
    this.view.setAttribute("aria-valuetext", this.text(row));
    this.paint();
  }

  /** The rows of a column. */
  rowsOf(x) {
    const { length } = this.frame.draws, width = Math.max(this.view.clientWidth, 1);
    const first = Math.min(Math.floor((x * length) / width), length - 1);
    return [first, Math.max(Math.floor(((x + 1) * length) / width), first + 1)];
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
    const gap = width / draws.length > 3 ? 1 : 0;
    for (let x = 0; x < width; x++) {
      const row = this.costliest(x), { share } = draws[row].row;
      const isEdge = gap && this.rowsOf(x + 1)[0] !== row;
      const bar = Math.ceil(Math.sqrt(share / this.most) * (height - 3));
      context.fillStyle = color(this.isOdd[row] ? "--bar2" : "--bar");
      if (!isEdge) context.fillRect(x, height - bar, 1, bar);
    }
    context.fillStyle = color("--text");
    context.fillRect(Math.floor(((this.row + 0.5) * width) / draws.length) - 1, 0, 2, height);
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

/** Answers with the rows that a query means, and whether the packets said so. */
class Search {
  constructor(frame) {
    this.frame = frame;
    this.texts = [];
    this.packets = [];
  }

  /** The rows of a query; null if it is no longer wanted. */
  async find(query, isWanted) {
    const wanted = query.toLowerCase();
    const number = /^f?(\d+)$/.exec(wanted);
    const exact = number ? this.frame.draws.findIndex((draw) => draw.id === Number(number[1])) : -1;
    if (exact >= 0) return { rows: [exact], inPackets: new Set() };
    const rows = [], inPackets = new Set();
    for (const [row, draw] of this.frame.draws.entries()) {
      if (!this.texts[row]) await this.read(draw, row);
      if (!isWanted()) return null;
      if (this.texts[row].includes(wanted)) rows.push(row);
      else if (this.packets[row].includes(wanted)) {
        rows.push(row);
        inPackets.add(row);
      }
    }
    return { rows, inPackets };
  }

  async read(draw, row) {
    const { changed, packets } = await this.frame.blocks.of("texts", row);
    this.texts[row] = `${searchText(this.frame, draw)}\n${changed.join("\n").toLowerCase()}`;
    this.packets[row] = packets.join("\n").toLowerCase();
  }
}
