// The picture of the selected draw: before, after, difference; moved, enlarged, read pixel by pixel.

/** Enlargement from which pixels have a grid. */
const GRID_FROM = 10;

/** Few to many: dark blue to yellow, told apart in grey as well. */
const RAMP = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];

function rampColor(share) {
  const at = Math.min(Math.max(share, 0), 1) * (RAMP.length - 1);
  const index = Math.min(Math.floor(at), RAMP.length - 2);
  return RAMP[index].map((low, channel) => Math.round(low + (RAMP[index + 1][channel] - low) * (at - index)));
}

/** The colour of an amount: of draws from 1 on, of costs from 0 on, which are too many for a table of all. */
function heatColors({ most, unit }) {
  if (unit) {
    const colors = Array.from({ length: 256 }, (_, level) => rampColor(level / 255));
    return (amount) => colors[Math.round((amount / most) * 255)];
  }
  const colors = Array.from({ length: most + 1 }, (_, count) => rampColor(count <= 1 ? 0 : (count - 1) / (most - 1)));
  return (count) => colors[count];
}

const amountText = (amount, { unit }) => (unit ? `${short(amount / COST_UNIT)} ${unit}` : `${amount} draws`);

class Picture {
  constructor(surfaces, onPick) {
    Object.assign(this, { surfaces, onPick, mode: "after", channels: [true, true, true, false], heat: 0 });
    this.view = $("view");
    this.sheet = document.createElement("canvas");
    [this.scale, this.left, this.top, this.fitted] = [1, 0, 0, true];
    this.pixel = null;
    this.listen();
    this.drawRamp();
  }

  listen() {
    new ResizeObserver(() => this.resize()).observe($("stage"));
    this.view.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.view.addEventListener("pointerdown", (event) => this.press(event));
    this.view.addEventListener("pointermove", (event) => this.move(event));
    this.view.addEventListener("pointerup", (event) => this.release(event));
    this.view.addEventListener("pointerleave", () => ($("pointer").textContent = ""));
    this.view.addEventListener("keydown", (event) => this.key(event));
    $("views").onclick = ({ target }) => target.dataset.view && this.setMode(target.dataset.view);
    $("channels").onclick = ({ target }) => target.dataset.channel && this.toggle(Number(target.dataset.channel));
    $("stretch").onclick = () => this.stretch(!this.isStretched());
    $("heat").onchange = () => this.setHeat(Number($("heat").value));
    $("zoom-in").onclick = () => this.zoom(2);
    $("zoom-out").onclick = () => this.zoom(0.5);
    $("zoom-fit").onclick = () => this.fit();
    $("zoom-one").onclick = () => this.one();
  }

  /** Shows row `row` of the frame, `draw`. */
  async show(draw, row) {
    const turn = (this.turn = Symbol());
    const surface = this.surfaces[draw.canvas];
    const isOther = surface !== this.surface;
    Object.assign(this, { draw, row, surface });
    $("no-picture").hidden = Boolean(surface);
    $("canvas-name").textContent = surface?.name ?? "";
    if (!surface) {
      $("no-picture").textContent = this.leftOut ? "The picture of this draw is not in the report (--max-size)."
        : "This command draws to nothing that there is a picture of.";
      return;
    }
    const before = await surface.after(row);
    const after = await surface.after(row + 1);
    const counts = this.heat ? await surface.counts(this.heat) : null;
    if (turn !== this.turn) return;
    Object.assign(this, { before, after, counts });
    this.view.setAttribute("aria-label", `Picture of ${surface.name}, ${this.mode} draw ${draw.id}`);
    if (isOther) [this.sheet.width, this.sheet.height] = [surface.width, surface.height];
    this.fill();
    if (isOther) this.fit();
    this.paint();
    this.view.dataset.shown = `${draw.id} ${this.mode} ${this.heat}`;
  }

  again() {
    return this.draw && this.show(this.draw, this.row);
  }

  setMode(mode) {
    this.mode = mode;
    for (const button of $("views").children) button.setAttribute("aria-pressed", String(button.dataset.view === mode));
    this.again();
  }

  toggle(channel) {
    this.channels[channel] = !this.channels[channel];
    $("channels").children[channel].setAttribute("aria-pressed", String(this.channels[channel]));
    this.again();
  }

  /** Whether the least and the greatest value become black and white: as chosen, or for depth and stencil. */
  isStretched() {
    return this.stretched ?? !this.surface?.name.startsWith("color");
  }

  stretch(isOn) {
    this.stretched = isOn;
    this.again();
  }

  /** The least and the greatest byte of the chosen channels but alpha. */
  bounds(source) {
    let [low, high] = [255, 0];
    for (let at = 0; at < source.length; at++) {
      if (at % 4 === 3 || !this.channels[at % 4]) continue;
      if (source[at] < low) low = source[at];
      if (source[at] > high) high = source[at];
    }
    return low < high ? [low, high] : [0, 255];
  }

  setHeat(bit) {
    this.heat = bit;
    $("heat").value = bit || "";
    this.again();
  }

  /** The four bytes of a pixel, of the moment that is shown. */
  colorAt(x, y) {
    const at = (y * this.surface.width + x) * 4;
    const [before, after] = [this.before.subarray(at, at + 4), this.after.subarray(at, at + 4)];
    if (this.mode === "before") return [...before];
    if (this.mode === "after") return [...after];
    return [...after].map((value, channel) => Math.abs(value - before[channel]));
  }

  /** Makes the sheet: the chosen moment through the chosen channels, under the heat map. */
  fill() {
    const { width, height } = this.surface;
    const image = new ImageData(width, height);
    const { data } = image, { before, after, channels, mode } = this;
    const source = mode === "before" ? before : after;
    const [red, green, blue, alpha] = channels;
    const isAlphaAlone = alpha && !red && !green && !blue;
    const isStretched = this.isStretched() && mode !== "difference", [low, high] = isStretched ? this.bounds(source) : [0, 255];
    $("stretch").setAttribute("aria-pressed", String(isStretched));
    const isPlain = red && green && blue && !alpha && !isStretched && mode !== "difference";
    if (isPlain) {
      // What is shown most: the bytes as they are, opaque.
      data.set(source);
      for (let at = 3; at < data.length; at += 4) data[at] = 255;
    }
    for (let at = 0; at < data.length && !isPlain; at += 4) {
      for (let channel = 0; channel < 4; channel++) {
        const value = mode === "difference" ? Math.abs(after[at + channel] - before[at + channel]) : source[at + channel];
        const shown = channel < 3 && isStretched ? ((value - low) / (high - low)) * 255 : value;
        data[at + channel] = channels[channel] ? shown : 0;
      }
      if (isAlphaAlone) data.fill(data[at + 3], at, at + 3);
      if (!alpha || isAlphaAlone || mode === "difference") data[at + 3] = 255;
    }
    if (this.counts) this.blend(data);
    this.sheet.getContext("2d").putImageData(image, 0, 0);
    $("legend").hidden = !this.counts;
    if (this.counts) {
      $("legend-name").textContent = this.counts.unit ? "0" : "1";
      $("legend-most").textContent = amountText(this.counts.most, this.counts);
    }
  }

  blend(data) {
    const { counts } = this.counts, colorOf = heatColors(this.counts);
    counts.forEach((count, pixel) => {
      if (!count) return;
      const color = colorOf(count);
      for (let channel = 0; channel < 3; channel++) {
        const at = pixel * 4 + channel;
        data[at] = data[at] * 0.2 + color[channel] * 0.8;
      }
      data[pixel * 4 + 3] = 255;
    });
  }

  drawRamp() {
    const context = $("ramp").getContext("2d");
    for (let x = 0; x < 120; x++) {
      context.fillStyle = `rgb(${rampColor(x / 119).join(" ")})`;
      context.fillRect(x, 0, 1, 8);
    }
  }

  resize() {
    const { clientWidth, clientHeight } = $("stage");
    [this.view.width, this.view.height] = [clientWidth, clientHeight];
    if (!this.surface) return;
    if (this.fitted) this.fit();
    else this.paint();
  }

  fit() {
    const { width, height } = this.surface ?? { width: 1, height: 1 };
    const scale = Math.min((this.view.width - 16) / width, (this.view.height - 16) / height);
    this.scale = Math.max(scale >= 1 ? Math.floor(scale) : scale, 0.02);
    this.left = Math.round((this.view.width - width * this.scale) / 2);
    this.top = Math.round((this.view.height - height * this.scale) / 2);
    this.fitted = true;
    this.paint();
  }

  /** A pixel for a pixel, from the upper left corner on. */
  one() {
    [this.scale, this.left, this.top, this.fitted] = [1, 0, 0, false];
    this.paint();
  }

  zoom(factor, x = this.view.width / 2, y = this.view.height / 2) {
    const scale = Math.min(Math.max(this.scale * factor, 0.05), 64);
    this.left = x - ((x - this.left) * scale) / this.scale;
    this.top = y - ((y - this.top) * scale) / this.scale;
    [this.scale, this.fitted] = [scale, false];
    this.paint();
  }

  paint() {
    if (!this.surface) return;
    const context = this.view.getContext("2d");
    context.clearRect(0, 0, this.view.width, this.view.height);
    context.imageSmoothingEnabled = this.scale < 1;
    const { width, height } = this.surface;
    if (this.channels[3]) this.checker(context);
    context.drawImage(this.sheet, this.left, this.top, width * this.scale, height * this.scale);
    if (this.scale >= GRID_FROM) this.grid(context);
    if (this.pixel) this.frame(context, this.pixel);
    $("scale").textContent = `${Math.round(this.scale * 100)} %`;
  }

  checker(context) {
    const { width, height } = this.surface;
    for (let y = 0; y < height * this.scale; y += 8) {
      for (let x = 0; x < width * this.scale; x += 8) {
        context.fillStyle = (x + y) % 16 ? "#999" : "#bbb";
        const [w, h] = [Math.min(8, width * this.scale - x), Math.min(8, height * this.scale - y)];
        context.fillRect(this.left + x, this.top + y, w, h);
      }
    }
  }

  grid(context) {
    const { width, height } = this.surface;
    const first = (start) => Math.max(Math.floor(-start / this.scale), 0);
    const last = (start, size, room) => Math.min(Math.ceil((room - start) / this.scale), size);
    const [x0, x1] = [first(this.left), last(this.left, width, this.view.width)];
    const [y0, y1] = [first(this.top), last(this.top, height, this.view.height)];
    context.strokeStyle = "rgb(128 128 128 / 45%)";
    context.lineWidth = 1;
    context.beginPath();
    for (let x = x0; x <= x1; x++) {
      context.moveTo(Math.round(this.left + x * this.scale) + 0.5, this.top + y0 * this.scale);
      context.lineTo(Math.round(this.left + x * this.scale) + 0.5, this.top + y1 * this.scale);
    }
    for (let y = y0; y <= y1; y++) {
      context.moveTo(this.left + x0 * this.scale, Math.round(this.top + y * this.scale) + 0.5);
      context.lineTo(this.left + x1 * this.scale, Math.round(this.top + y * this.scale) + 0.5);
    }
    context.stroke();
  }

  /** Around the chosen pixel, seen on bright and dark. */
  frame(context, { x, y }) {
    const side = Math.max(this.scale, 5), shift = (this.scale - side) / 2;
    const box = [this.left + x * this.scale + shift, this.top + y * this.scale + shift, side, side];
    context.lineWidth = 3;
    context.strokeStyle = "#000";
    context.strokeRect(...box);
    context.lineWidth = 1;
    context.strokeStyle = "#fff";
    context.strokeRect(...box);
  }

  /** The pixel under a pointer, if there is one. */
  at(event) {
    if (!this.surface) return null;
    const x = Math.floor((event.offsetX - this.left) / this.scale), y = Math.floor((event.offsetY - this.top) / this.scale);
    return x >= 0 && y >= 0 && x < this.surface.width && y < this.surface.height ? { x, y } : null;
  }

  wheel(event) {
    event.preventDefault();
    this.zoom(event.deltaY < 0 ? 1.25 : 0.8, event.offsetX, event.offsetY);
  }

  press(event) {
    this.view.setPointerCapture(event.pointerId);
    this.drag = { x: event.offsetX, y: event.offsetY, left: this.left, top: this.top, moved: false };
  }

  move(event) {
    if (this.drag) {
      const [x, y] = [event.offsetX - this.drag.x, event.offsetY - this.drag.y];
      this.drag.moved ||= Math.hypot(x, y) > 3;
      if (this.drag.moved) {
        [this.left, this.top, this.fitted] = [this.drag.left + x, this.drag.top + y, false];
        this.paint();
      }
    }
    this.describe(this.at(event));
  }

  release(event) {
    const pixel = this.drag?.moved ? null : this.at(event);
    this.drag = null;
    if (pixel) this.pick(pixel);
  }

  pick(pixel) {
    this.pixel = pixel;
    this.paint();
    this.onPick(this.surface, pixel);
  }

  describe(pixel) {
    if (!pixel || !this.after) return $("pointer").replaceChildren();
    const color = this.colorAt(pixel.x, pixel.y);
    const count = this.counts ? ` · ${amountText(this.counts.counts[pixel.y * this.surface.width + pixel.x], this.counts)}` : "";
    $("pointer").replaceChildren(`${pixel.x}, ${pixel.y}  `, swatch(color), `${this.valueText(color)}${count}`);
  }

  /** The value of a pixel: of depth and stencil what the eight bits of the page say. */
  valueText(color) {
    if (this.surface.name.startsWith("depth")) return `depth ${partText(color[0] / 255)} ± ${partText(1 / 255)}`;
    return this.surface.name.startsWith("stencil") ? `stencil ${color[0]}` : colorText(color);
  }

  key(event) {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!this.surface || event.ctrlKey || event.altKey || event.metaKey || !(step || event.key === "Enter")) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.shiftKey && step) {
      [this.left, this.top, this.fitted] = [this.left - 32 * step[0], this.top - 32 * step[1], false];
      return this.paint();
    }
    const { width, height } = this.surface;
    const { x, y } = this.pixel ?? { x: width >> 1, y: height >> 1 };
    const within = (value, size) => Math.min(Math.max(value, 0), size - 1);
    this.pixel = { x: within(x + (step?.[0] ?? 0), width), y: within(y + (step?.[1] ?? 0), height) };
    this.describe(this.pixel);
    this.paint();
    if (event.key === "Enter") this.pick(this.pixel);
  }
}

function swatch([red, green, blue]) {
  const box = make("span", { class: "swatch", "aria-hidden": "true" });
  box.style.backgroundColor = `rgb(${red} ${green} ${blue})`;
  return box;
}

/** A colour in the notation of the history, and the bytes that a PNG has. */
const colorText = (color) => `${valuesText(color.map((value) => value / 255))}  (${color.join(" ")})`;
