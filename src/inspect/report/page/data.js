"use strict";
// The frame: unpacking it, its pictures byte by byte, and what a canvas held after a draw.

const $ = (id) => document.getElementById(id);

/** An element with attributes, listeners (`onclick`) and children. Strings become text, never HTML. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element[name] = value;
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** A plain loop, since the data of a large frame is 20 MB: `Uint8Array.from` takes a second for that. */
function bytesOf(base64) {
  const letters = atob(base64), out = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at++) out[at] = letters.charCodeAt(at);
  return out;
}

/** Through a writer and a reader: a Blob's stream costs 40 ms each time, and there are thousands of pictures. */
async function inflate(bytes, format) {
  const stream = new DecompressionStream(format);
  const writer = stream.writable.getWriter();
  // What goes wrong is seen by the reader as well.
  writer.write(bytes).catch(() => {});
  writer.close().catch(() => {});
  const parts = [];
  for (const reader = stream.readable.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) return joined(parts);
    parts.push(value);
  }
}

function joined(parts) {
  if (parts.length === 1) return parts[0];
  const out = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  parts.reduce((at, part) => (out.set(part, at), at + part.length), 0);
  return out;
}

const data = $("data");
/** Where to ask for more under `serve`; undefined in a report. */
const live = data.dataset.live;

/** Unpacks the JSON of a packed text. */
const unpackText = async (text) => JSON.parse(new TextDecoder().decode(await inflate(bytesOf(text), "deflate-raw")));

/** Unpacks the JSON in an element, and frees the text of the element. */
async function unpack(element) {
  const made = await unpackText(element.textContent);
  element.textContent = "";
  return made;
}

const loadFrame = () => (live ? ask("frame.json") : unpack(data));

/** The texts and the pictures of draws, in blocks that are unpacked when a draw of theirs is needed. */
class Blocks {
  constructor(size) {
    Object.assign(this, { size, texts: [], pictures: [] });
  }

  /** The texts or pictures of a row. A block that failed is tried again. */
  async of(kind, row) {
    const index = Math.floor(row / this.size);
    const made = (this[kind][index] ??= live ? ask(`${kind}/${index}`) : unpack(document.getElementsByClassName(kind)[index]));
    made.catch(() => delete this[kind][index]);
    return (await made)[row % this.size];
  }
}

/** Extras that are kept once they are unpacked. */
const KEPT_EXTRAS = 32;

/** What is unpacked, or asked of `serve`, when it is looked at: parts of textures, tables of vertices, memory. */
class Extras {
  constructor() {
    this.made = new Map();
  }

  /** The packed text of an extra. All are in one element, a line each, since thousands of elements take time to open. */
  text(key) {
    if (!this.texts) {
      const element = $("extras"), lines = element?.textContent.split("\n") ?? [];
      element?.remove();
      this.texts = new Map(lines.map((line) => line.split(" ")));
    }
    return this.texts.get(key);
  }

  /** The extra `key`, or what `serve` answers for `path`; null if this page has it not. */
  async of(key, path) {
    if (!this.made.has(key)) {
      const text = live ? null : this.text(key);
      this.made.set(key, live ? ask(path) : text ? unpackText(text) : Promise.resolve(null));
      this.made.get(key).catch(() => this.made.delete(key));
      // What `serve` has is asked again; the texts of a report are gone once they are unpacked.
      if (live && this.made.size > KEPT_EXTRAS) this.made.delete(this.made.keys().next().value);
    }
    return this.made.get(key);
  }
}

/** A question to `serve`. */
async function ask(path) {
  const answer = await fetch(live + path);
  if (!answer.ok) throw new Error(await answer.text() || `${answer.status}`);
  return answer.json();
}

/** Channels of a PNG by its colour type; none for palettes, which no one here writes. */
const CHANNELS = { 0: 1, 2: 3, 4: 2, 6: 4 };

/**
 * Pixels of a PNG of 8 bits a channel, as they are in the file. (A 2D canvas multiplies colour by alpha: what
 * lies under alpha 0 would be lost.)
 */
async function decodePng(base64) {
  const file = bytesOf(base64);
  const view = new DataView(file.buffer);
  const parts = [];
  let width = 0, height = 0, channels = 0;
  for (let at = 8; at + 12 <= file.length;) {
    const length = view.getUint32(at), kind = view.getUint32(at + 4);
    if (kind === 0x49484452) {
      [width, height, channels] = [view.getUint32(at + 8), view.getUint32(at + 12), CHANNELS[file[at + 17]]];
      if (file[at + 16] !== 8 || !channels || file[at + 20]) throw new Error("a PNG of a kind that is not read");
    } else if (kind === 0x49444154) {
      parts.push(file.subarray(at + 8, at + 8 + length));
    }
    at += 12 + length;
  }
  const pixels = unfilter(await inflate(joined(parts), "deflate"), width * channels, height, channels);
  return { width, height, channels, pixels };
}

function unfilter(raw, stride, height, step) {
  const out = new Uint8Array(stride * height);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (stride + 1)], from = y * (stride + 1) + 1, to = y * stride;
    for (let x = 0; x < stride; x++) {
      const left = x >= step ? out[to + x - step] : 0;
      const up = y > 0 ? out[to + x - stride] : 0;
      const corner = x >= step && y > 0 ? out[to + x - stride - step] : 0;
      out[to + x] = raw[from + x] + predicted(filter, left, up, corner);
    }
  }
  return out;
}

function predicted(filter, left, up, corner) {
  switch (filter) {
    case 1: return left;
    case 2: return up;
    case 3: return (left + up) >> 1;
    case 4: {
      const guess = left + up - corner;
      const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
      return a <= b && a <= c ? left : b <= c ? up : corner;
    }
    default: return 0;
  }
}

/** Keeps what was used last, up to so many bytes. */
class Cache {
  constructor(limit) {
    this.limit = limit;
    this.size = 0;
    this.entries = new Map();
  }
  get(key) {
    const entry = this.entries.get(key);
    if (entry) {
      this.entries.delete(key);
      this.entries.set(key, entry);
    }
    return entry?.value;
  }
  put(key, value, size) {
    this.entries.set(key, { value, size });
    this.size += size;
    for (const [oldest, entry] of this.entries) {
      if (this.size <= this.limit || oldest === key) break;
      this.entries.delete(oldest);
      this.size -= entry.size;
    }
  }
}

const patchCache = new Cache(192 << 20);

/** The pixels of a patch (of colours or of reasons). Asked again while it is decoded, it is decoded once. */
function patchPixels(patch) {
  const known = patchCache.get(patch);
  if (known) return known;
  const pixels = decodePng(patch.png);
  patchCache.put(patch, pixels, patch.w * patch.h * 4 + 256);
  return pixels;
}

const inside = (patch, x, y) => x >= patch.x && y >= patch.y && x < patch.x + patch.w && y < patch.y + patch.h;

/** A heat map that is none of a bit of the reasons: what the fragment shader spent. */
const COST = 256;

/** The parts of a warp instruction that costs are counted in. */
const COST_UNIT = 32;

/** Commands between two pictures that are kept. */
const KEYFRAME_EVERY = 48;

/** A canvas of the frame, as it stood after any of the draws. */
class Surface {
  constructor(frame, index) {
    Object.assign(this, frame.canvases[index]);
    this.blocks = frame.blocks;
    this.index = index;
    this.draws = frame.draws;
    /** Rows of the frame that draw to it. */
    this.rows = [];
    /** Rows that draw over its pixels: those, and draws of depth and stencil alone. */
    this.over = [];
    this.kept = new Cache(128 << 20);
    this.heat = new Map();
    this.queue = Promise.resolve();
    this.cursor = { count: -1, pixels: null };
  }

  picturesOf(row) {
    return this.blocks.of("pictures", row);
  }

  /** How many of its draws are among the first `count` rows of the frame. */
  position(count) {
    let [low, high] = [0, this.rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.rows[middle] < count) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** A copy of the pixels after the first `count` rows of the frame; one at a time, since they share a cursor. */
  after(count) {
    const pixels = this.queue.then(async () => (await this.moveTo(this.position(count))).slice());
    this.queue = pixels.catch(() => {});
    return pixels;
  }

  async moveTo(position) {
    const start = this.start(position);
    if (start.count !== this.cursor.count) {
      this.cursor = { count: start.count, pixels: start.pixels?.slice() ?? (await this.first()).slice() };
    }
    while (this.cursor.count < position) {
      const { patches } = await this.picturesOf(this.rows[this.cursor.count]);
      for (const patch of patches) blit(this, this.cursor.pixels, await patchPixels(patch), patch);
      this.cursor.count++;
      const { count, pixels } = this.cursor;
      if (count % KEYFRAME_EVERY === 0 && !this.kept.get(count)) this.kept.put(count, pixels.slice(), pixels.length);
    }
    return this.cursor.pixels;
  }

  /** The nearest known picture that is not later. */
  start(position) {
    const { count } = this.cursor;
    const cursor = count >= 0 && count <= position ? this.cursor : { count: 0, pixels: null };
    for (let count = position - (position % KEYFRAME_EVERY); count > cursor.count; count -= KEYFRAME_EVERY) {
      const pixels = this.kept.get(count);
      if (pixels) return { count, pixels };
    }
    return cursor;
  }

  /** What it held before the first draw. */
  first() {
    return (this.held ??= this.readFirst());
  }

  async readFirst() {
    const pixels = new Uint8ClampedArray(this.width * this.height * 4);
    for (const patch of this.patches) blit(this, pixels, await patchPixels(patch), patch);
    return pixels;
  }

  /** For each pixel, how many draws have `bit` set in their reasons. */
  async counts(bit) {
    if (!this.heat.has(bit)) this.heat.set(bit, this.count(bit));
    return this.heat.get(bit);
  }

  async count(bit) {
    if (bit === COST) return this.spent();
    const counts = new Uint16Array(this.width * this.height);
    for (const row of this.rows) {
      for (const patch of (await this.picturesOf(row)).reasons) {
        const { pixels } = await patchPixels(patch);
        for (let y = 0; y < patch.h; y++) {
          const to = (patch.y + y) * this.width + patch.x;
          for (let x = 0; x < patch.w; x++) if (pixels[y * patch.w + x] & bit) counts[to + x]++;
        }
      }
    }
    return { counts, most: counts.reduce((most, count) => Math.max(most, count), 0) };
  }

  /** For each pixel, what all draws spent on it, in parts of a warp instruction. */
  async spent() {
    const counts = new Float64Array(this.width * this.height);
    for (const row of this.rows) {
      for (const patch of (await this.picturesOf(row)).cost_map) {
        const { pixels } = await patchPixels(patch);
        const view = new DataView(pixels.buffer, pixels.byteOffset);
        for (let y = 0; y < patch.h; y++) {
          const to = (patch.y + y) * this.width + patch.x;
          for (let x = 0; x < patch.w; x++) counts[to + x] += view.getUint32((y * patch.w + x) * 4, true);
        }
      }
    }
    return { counts, most: counts.reduce((most, count) => Math.max(most, count), 0), unit: "warp instructions" };
  }

  /** What happened to a pixel: a row for each draw that has a reason or a colour there. */
  async history(x, y, isWanted) {
    const events = [];
    const at = (y * this.width + x) * 4;
    let color = [...(await this.first()).subarray(at, at + 4)];
    for (const row of this.over) {
      const draw = await this.picturesOf(row);
      const isCopy = this.draws[row].canvas === this.index && draw.copies.some(([left, top, w, h]) => inside({ x: left, y: top, w, h }, x, y));
      const bits = await this.bitsAt(draw, x, y);
      const before = color;
      const patches = this.draws[row].canvas === this.index ? draw.patches : [];
      for (const patch of patches.filter((patch) => inside(patch, x, y))) {
        const { pixels } = await patchPixels(patch);
        const at = ((y - patch.y) * patch.w + x - patch.x) * 4;
        color = [...pixels.subarray(at, at + 4)];
      }
      if (!isWanted()) return null;
      if (bits || isCopy || String(before) !== String(color)) events.push({ row, bits, before, after: color });
    }
    return events;
  }

  async bitsAt(draw, x, y) {
    let bits = 0;
    for (const patch of draw.reasons.filter((patch) => inside(patch, x, y))) {
      const { pixels } = await patchPixels(patch);
      bits |= pixels[(y - patch.y) * patch.w + x - patch.x];
    }
    return bits;
  }
}

/** The canvases of the frame, with their rows. */
function surfacesOf(frame) {
  const surfaces = frame.canvases.map((_, index) => new Surface(frame, index));
  frame.draws.forEach(({ canvas, over }, row) => {
    surfaces[canvas]?.rows.push(row);
    surfaces[canvas]?.over.push(row);
    surfaces[over]?.over.push(row);
  });
  return surfaces;
}

function blit(surface, to, { pixels }, patch) {
  const width = Math.min(patch.w, surface.width - patch.x) * 4;
  for (let y = 0; y < patch.h && patch.y + y < surface.height; y++) {
    const row = pixels.subarray(y * patch.w * 4, y * patch.w * 4 + width);
    to.set(row, ((patch.y + y) * surface.width + patch.x) * 4);
  }
}
