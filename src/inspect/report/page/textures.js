// A texture of a draw: its levels, layers, samples and channels, a range of values, and the texel under the pointer.

/** Sides of a texel on the screen, in pixels. */
const TEXEL_SIDES = [1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16, 32];

/** What each layer of a kind of texture is called. */
const LAYER_NAMES = { cube: "Face", "3D": "Slice" };

/** The names of the faces of a cube, in the order of memory. */
const FACES = ["+x", "−x", "+y", "−y", "+z", "−z"];

/** The shortest decimal that is this 32-bit float. */
function floatText(value) {
  if (!Number.isFinite(value)) return String(value);
  for (let digits = 1; digits < 9; digits++) {
    const text = String(Number(value.toPrecision(digits)));
    if (Math.fround(Number(text)) === Math.fround(value)) return text;
  }
  return String(Number(value.toPrecision(9)));
}

/** The address of a texel's block: `places` says how blocks lie. */
function texelAddress({ base, samples, tile, block: [width, height, bytes], levels }, { level, layer, sample }, x, y) {
  const [offset, pitch, slice] = levels[level], [column, row] = [Math.floor(x / width), Math.floor(y / height)];
  const [right, down] = [column % tile, row % tile];
  const at = (column - right) * tile + down * tile + right;
  return base + offset + layer * slice + (row - down) * pitch + (at * samples + sample) * bytes;
}

/** The values of a part of a texture: red, green, blue and alpha of each texel. */
async function valuesOfPart({ width, height, number, png, values }, isExact) {
  if (values) {
    const kinds = { float: Float32Array, uint: Uint32Array, sint: Int32Array };
    return { width, height, number, isExact, values: new kinds[number](bytesOf(values).buffer) };
  }
  const { pixels } = await decodePng(png);
  const isFloat = number === "float";
  return { width, height, number, isExact, values: isFloat ? Float32Array.from(pixels, (byte) => byte / 255) : pixels };
}

class TextureView {
  constructor(frame, key) {
    Object.assign(this, { frame, key, texture: frame.textures[key] });
    // What is chosen for a texture stays from draw to draw.
    this.chosen = (frame.textureChoices ??= {})[key] ??= { level: 0, layer: 0, sample: 0, channels: [true, true, true, false], range: null, side: null };
    this.canvas = make("canvas", { class: "texels", role: "img", tabindex: 0 });
    this.pointer = make("output", { class: "texel" });
    this.note = make("p", { class: "dim" });
    const users = frame.draws.filter((draw) => draw.texture_use.includes(key));
    const { label, kind } = this.texture;
    this.figure = make("figure", { class: "texture", "data-key": key },
      make("figcaption", {}, `${label} · ${kind} · in ${count(frameDraws(users), "frame draw")}`),
      make("div", { class: "bar", role: "group", "aria-label": `Of ${label}` }, ...this.selects(), this.channels(), this.ranges(), this.zooms()),
      make("div", { class: "texel-box" }, this.canvas), this.pointer, this.note);
    this.listen();
    this.show();
  }

  /** Lists of levels, layers and samples, where there are several. */
  selects() {
    const { kind, layers, width, height, places } = this.texture;
    const select = (name, text, options) => {
      if (options.length < 2) return null;
      const made = make("select", { "data-part": name, onchange: () => { this.chosen[name] = made.selectedIndex; this.again(name); } },
        ...options.map((option, at) => make("option", { selected: at === this.chosen[name] }, option)));
      return make("label", {}, `${text} `, made);
    };
    const size = (level) => [width, height].map((side) => Math.max(side >> level, 1)).join("×");
    const numbers = (length, text = String) => Array.from({ length }, (_, at) => text(at));
    const face = (at) => `${FACES[at % 6]}${layers[0] > 6 ? ` of cube ${Math.floor(at / 6)}` : ""}`;
    this.chosen.layer = Math.min(this.chosen.layer, layers[this.chosen.level] - 1);
    return [
      select("level", "Level", layers.map((_, level) => `${level}: ${size(level)}`)),
      select("layer", LAYER_NAMES[kind] ?? "Layer", numbers(layers[this.chosen.level], kind === "cube" ? face : String)),
      select("sample", "Sample", numbers(places?.samples ?? 1)),
    ].filter(Boolean);
  }

  channels() {
    const { channels } = this.chosen;
    const button = (at) => make("button", {
      type: "button", "aria-pressed": String(channels[at]), "aria-label": ["Red", "Green", "Blue", "Alpha"][at], title: "Click: on or off. Ctrl+click: alone.",
      onclick: ({ ctrlKey, metaKey, currentTarget }) => {
        if (ctrlKey || metaKey) channels.fill(false);
        channels[at] = !channels[at];
        [...currentTarget.parentElement.children].forEach((other, index) => other.setAttribute("aria-pressed", String(channels[index])));
        this.paint();
      },
    }, "RGBA"[at]);
    return make("span", { class: "choice", role: "group", "aria-label": "Channels of the texture" }, ...[0, 1, 2, 3].map(button));
  }

  ranges() {
    const change = () => {
      const [low, high] = [this.low.valueAsNumber, this.high.valueAsNumber];
      this.setRange(low < high ? [low, high] : null);
    };
    const input = (name) => make("input", { type: "number", step: "any", class: "bound", "aria-label": name, onchange: change });
    [this.low, this.high] = [input("Value that is black"), input("Value that is white")];
    return make("span", { role: "group", "aria-label": "Range of values" }, "Range ", this.low, " ", this.high, " ",
      make("button", { type: "button", "data-range": "fit", onclick: () => this.setRange(this.fitted()) }, "Fit"), " ",
      make("button", { type: "button", "data-range": "whole", onclick: () => this.setRange(null) }, "Whole"));
  }

  zooms() {
    const step = (by, text, name) => make("button", { type: "button", "aria-label": name, onclick: () => this.zoom(by) }, text);
    this.scale = make("output", {});
    return make("span", { class: "choice", role: "group", "aria-label": "Zoom of the texture" }, step(-1, "−", "Smaller"), step(1, "+", "Larger"), this.scale);
  }

  listen() {
    const { canvas } = this;
    const at = ({ offsetX, offsetY }) => this.describe(Math.floor((offsetX * canvas.width) / canvas.clientWidth), Math.floor((offsetY * canvas.height) / canvas.clientHeight));
    canvas.onpointermove = at;
    canvas.onclick = at;
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      this.zoom(event.deltaY < 0 ? 1 : -1);
    }, { passive: false });
    canvas.onkeydown = (event) => {
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (!step || !this.part) return;
      event.preventDefault();
      event.stopPropagation();
      const [x, y] = this.texel ?? [-step[0], -step[1]], within = (value, size) => Math.min(Math.max(value, 0), size - 1);
      this.describe(within(x + step[0], this.part.width), within(y + step[1], this.part.height));
    };
  }

  /** After another level: its layers may be others. */
  again(name) {
    const view = new TextureView(this.frame, this.key);
    this.figure.replaceWith(view.figure);
    view.figure.querySelector(`[data-part=${name}]`)?.focus();
  }

  async show() {
    const { level, layer, sample } = this.chosen, path = `${this.key}/${level}/${layer}/${sample}`;
    const isFirst = level + layer + sample === 0, { texture } = this;
    try {
      const isHere = isFirst && texture.exact;
      const extra = isHere ? null : await this.frame.extras.of(path, `texels/${path}`);
      if (extra) this.part = await valuesOfPart(extra, true);
      else if (isFirst) this.part = await valuesOfPart(texture, texture.exact);
    } catch (error) {
      this.note.textContent = error.message;
    }
    this.canvas.hidden = !this.part;
    this.figure.dataset.shown = path;
    if (!this.part) {
      this.note.textContent ||= "This part is not in the report. a4emu serve shows it, and this command writes it: ";
      const [run, stage] = texture.seen;
      this.note.append(make("code", {}, `a4emu show ${this.frame.title} --draw ${run} --textures DIR --level ${level} --layer ${layer}${sample ? ` --sample ${sample}` : ""}`), ` (${stage})`);
      return;
    }
    const rounded = this.part.isExact ? "" : "The report has these values in steps of 1/255; a4emu serve has them exactly.";
    this.note.textContent = rounded;
    this.canvas.setAttribute("aria-label", `${texture.label}, level ${level}, layer ${layer}`);
    [this.canvas.width, this.canvas.height] = [this.part.width, this.part.height];
    if (this.chosen.side === null) this.chosen.side = Math.max(TEXEL_SIDES.findLastIndex((side) => side * Math.max(this.part.width, this.part.height) <= 256), 3);
    this.zoom(0);
    this.paint();
  }

  zoom(by) {
    this.chosen.side = Math.min(Math.max(this.chosen.side + by, 0), TEXEL_SIDES.length - 1);
    const side = TEXEL_SIDES[this.chosen.side];
    [this.canvas.style.width, this.canvas.style.height] = [this.canvas.width, this.canvas.height].map((size) => `${Math.max(size * side, 1)}px`);
    this.scale.textContent = ` ${side * 100} %`;
  }

  /** The least and the greatest value of the chosen channels. */
  fitted() {
    let [low, high] = [Infinity, -Infinity];
    this.part?.values.forEach((value, at) => {
      if (!this.chosen.channels[at % 4] || !Number.isFinite(value)) return;
      [low, high] = [Math.min(low, value), Math.max(high, value)];
    });
    return low <= high ? [low, high > low ? high : low + 1] : null;
  }

  setRange(range) {
    this.chosen.range = range;
    this.paint();
  }

  paint() {
    if (!this.part) return;
    const { width, height, values, number } = this.part, { channels, range } = this.chosen;
    const [low, high] = range ?? [0, number === "float" ? 1 : 255];
    [this.low.value, this.high.value] = [floatText(low), floatText(high)];
    const chosen = [0, 1, 2, 3].filter((at) => channels[at]), alone = chosen.length === 1 ? chosen[0] : null;
    const image = new ImageData(width, height), { data } = image;
    const byte = (value) => ((value - low) / (high - low)) * 255;
    for (let at = 0; at < data.length; at += 4) {
      for (let channel = 0; channel < 3; channel++) data[at + channel] = alone !== null ? byte(values[at + alone]) : channels[channel] ? byte(values[at + channel]) : 0;
      data[at + 3] = channels[3] && alone === null ? byte(values[at + 3]) : 255;
    }
    this.canvas.getContext("2d").putImageData(image, 0, 0);
  }

  /** The values and the address of a texel. */
  describe(x, y) {
    if (!this.part || x < 0 || y < 0 || x >= this.part.width || y >= this.part.height) return;
    this.texel = [x, y];
    const { values, width, number } = this.part, from = (y * width + x) * 4;
    const text = [...values.subarray(from, from + 4)].map((value) => (number === "float" ? floatText(value) : String(value))).join(" ");
    const { places } = this.texture;
    const at = places ? ` at ${hex(texelAddress(places, this.chosen, x, y))}${places.block[0] > 1 ? `, in a block of ${places.block[0]}×${places.block[1]}` : ""}` : "";
    this.pointer.textContent = `${x}, ${y}: ${text}${at}`;
  }
}
