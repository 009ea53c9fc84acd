// The list of draws: only the rows in sight exist. And the search, which filters it.

const ROW_HEIGHT = 46;

/** "TRILIST 36 x 2", "dispatch 4x4x1", as the row says. */
function commandText(row) {
  if (row.kind === "dispatch") return `dispatch ${row.groups.join("x")} of ${row.local_size.join("x")}`;
  if (row.kind !== "draw") return row.name;
  return `${row.primitive} ${row.count}${row.instances > 1 ? ` × ${row.instances}` : ""}`;
}

const passText = (row) => row.pass ?? "compute";
const instructionsOf = (row) => Object.values(row.cost.instructions).reduce((sum, count) => sum + count, 0);
/** For who hears the page. */
const hidden = (text) => make("span", { class: "hidden" }, text);
const percent = (share) => `${(share * 100).toFixed(1)} %`;

class DrawList {
  constructor(frame, surfaces, onSelect) {
    Object.assign(this, { frame, surfaces, onSelect });
    this.box = $("list");
    this.shown = frame.draws.map((_, row) => row);
    this.selected = -1;
    this.made = new Map();
    this.thumbnails = new Cache(24 << 20);
    this.mostShare = Math.max(...frame.draws.map((draw) => draw.row.share), 1e-9);
    this.box.addEventListener("scroll", () => this.render());
    new ResizeObserver(() => this.render()).observe(this.box);
    this.render();
  }

  /** Shows these rows of the frame only. */
  filter(rows) {
    this.shown = rows;
    this.clear();
    this.render();
    this.reveal();
  }

  clear() {
    this.made.forEach((option) => option.remove());
    this.made.clear();
  }

  select(row) {
    this.made.get(this.selected)?.setAttribute("aria-selected", "false");
    this.selected = row;
    this.reveal();
    this.render();
    this.made.get(row)?.setAttribute("aria-selected", "true");
    if (this.made.has(row)) this.box.setAttribute("aria-activedescendant", `row-${row}`);
    else this.box.removeAttribute("aria-activedescendant");
  }

  /** Scrolls just as far as the selected row needs. */
  reveal() {
    const index = this.shown.indexOf(this.selected);
    if (index < 0) return;
    const top = index * ROW_HEIGHT, bottom = top + ROW_HEIGHT;
    const { scrollTop, clientHeight } = this.box;
    if (top < scrollTop) this.box.scrollTop = top;
    else if (bottom > scrollTop + clientHeight) this.box.scrollTop = bottom - clientHeight;
  }

  /** The shown row `step` rows from the selected one. */
  neighbour(step) {
    const index = this.shown.indexOf(this.selected);
    if (index >= 0) return this.shown[Math.min(Math.max(index + step, 0), this.shown.length - 1)];
    const after = this.shown.findIndex((row) => row > this.selected);
    return step > 0 ? this.shown[after] : this.shown[(after < 0 ? this.shown.length : after) - 1];
  }

  render() {
    $("rows").style.height = `${this.shown.length * ROW_HEIGHT}px`;
    const first = Math.max(Math.floor(this.box.scrollTop / ROW_HEIGHT) - 4, 0);
    const last = Math.min(Math.ceil((this.box.scrollTop + this.box.clientHeight) / ROW_HEIGHT) + 4, this.shown.length);
    const wanted = new Set(this.shown.slice(first, last));
    for (const [row, option] of this.made) {
      if (wanted.has(row)) continue;
      option.remove();
      this.made.delete(row);
    }
    for (let index = first; index < last; index++) {
      if (!this.made.has(this.shown[index])) this.add(this.shown[index], index);
    }
    this.drawThumbnails();
  }

  add(row, index) {
    const draw = this.frame.draws[row], { cost, share } = draw.row;
    const name = `f${draw.id}`, counts = `${cost.pixels} px · ${instructionsOf(draw.row)} instr`;
    const findings = findingLines(this.frame, draw);
    const found = findings.length ? make("span", { class: "finding", title: findings.join("\n") }, `▲ ${findings.length} `, hidden("findings ")) : null;
    const bar = make("i");
    bar.style.width = `${(100 * share) / this.mostShare}%`;
    const option = make("div", {
      class: "row", role: "option", id: `row-${row}`, "aria-selected": String(row === this.selected),
      "aria-setsize": this.shown.length, "aria-posinset": index + 1, onclick: () => this.onSelect(row),
    },
      make("canvas", { width: 56, height: 39 }),
      make("span", { class: "name" }, make("b", {}, name), ` ${commandText(draw.row)}`),
      make("span", { class: "share" }, found, percent(share), hidden(" of the cost")),
      make("span", { class: "counts" }, `${passText(draw.row)} · ${counts}`),
      make("span", { class: "cost" }, bar));
    option.style.top = `${index * ROW_HEIGHT}px`;
    this.made.set(row, option);
    $("rows").append(option);
  }

  /** One after the other, from the first in sight on; a later call takes over. */
  async drawThumbnails() {
    const turn = (this.turn = Symbol());
    await new Promise(requestAnimationFrame);
    for (const row of [...this.made.keys()].sort((a, b) => a - b)) {
      if (turn !== this.turn) return;
      const canvas = this.made.get(row)?.firstChild;
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

/** What went wrong in a draw, and which rules it breaks, a line each. */
function findingLines(frame, { row }) {
  return [...row.troubles, ...row.findings.map((index) => `${frame.findings[index].rule}: ${frame.findings[index].what}`)];
}

/** What of a draw can be searched for, but for its packets. */
function searchText(frame, draw) {
  const { row } = draw;
  const parts = [`f${draw.id}`, commandText(row), passText(row), ...findingLines(frame, draw), ...draw.changed];
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

  find(query) {
    const wanted = query.trim().toLowerCase();
    const number = /^f?(\d+)$/.exec(wanted);
    const exact = number ? this.frame.draws.findIndex((draw) => draw.id === Number(number[1])) : -1;
    if (exact >= 0) return { rows: [exact], inPackets: new Set() };
    const rows = [], inPackets = new Set();
    this.frame.draws.forEach((draw, row) => {
      const text = (this.texts[row] ??= searchText(this.frame, draw));
      const packets = (this.packets[row] ??= draw.packets.join("\n").toLowerCase());
      if (text.includes(wanted)) rows.push(row);
      else if (packets.includes(wanted)) {
        rows.push(row);
        inPackets.add(row);
      }
    });
    return { rows, inPackets };
  }
}
