// The memory that a draw names: vertices, indices, textures, buffers, targets. Under `serve` any range, at any draw.

/** The forms of numbers: bytes of one, and its text. `serve` takes the same names, and those of formats. */
const FORMS = {
  words: [4, (view, at) => view.getUint32(at, true).toString(16).padStart(8, "0")],
  bytes: [1, (view, at) => view.getUint8(at).toString(16).padStart(2, "0")],
  shorts: [2, (view, at) => String(view.getUint16(at, true))],
  floats: [4, (view, at) => floatText(view.getFloat32(at, true)).replace(/^-?\d+$/, "$&.0")],
  ints: [4, (view, at) => String(view.getInt32(at, true))],
  uints: [4, (view, at) => String(view.getUint32(at, true))],
};

/** Bytes of a row of numbers. */
const MEMORY_ROW = 16;

/** The rows of a listing in another form. A number of which the capture lacks a byte is unknown. */
function rowsAs(form, rows) {
  const [size, text] = FORMS[form], known = new Map();
  for (const { address, bytes } of rows) bytes.forEach((byte, at) => byte !== null && known.set(address + at, byte));
  const first = rows[0]?.address ?? 0, made = new Map();
  for (const address of [...known.keys()].sort((a, b) => a - b)) {
    const row = address - ((address - first) % MEMORY_ROW);
    if (!made.has(row)) made.set(row, { address: row, values: [], end: row });
    const of = made.get(row);
    for (; of.end <= address; of.end += size) {
      const bytes = Array.from({ length: size }, (_, at) => known.get(of.end + at));
      of.values.push(bytes.includes(undefined) ? null : text(new DataView(Uint8Array.from(bytes).buffer), 0));
    }
  }
  return [...made.values()];
}

class MemoryList {
  constructor(panel, frame) {
    Object.assign(this, { panel, frame, form: "", when: "before", isChanged: false });
    this.places = make("select", { id: "memory-place", onchange: () => { this.typed = ""; this.choose(this.places.value); } });
    const forms = make("select", { id: "memory-form", onchange: () => { this.form = forms.value; this.again(); } },
      make("option", { value: "" }, "as its user reads it"), ...Object.keys(FORMS).map((name) => make("option", { value: name }, name)));
    this.bar = make("div", { class: "form", role: "group", "aria-label": "Memory" }, make("label", {}, "Range ", this.places), make("label", {}, "Form ", forms));
    [this.title, this.note, this.users] = ["p", "p", "div"].map((tag) => make(tag, {}));
    this.note.className = "dim";
    this.title.id = "memory-title";
    this.table = make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Bytes" });
    if (live) this.ranges();
    panel.append(this.bar, this.title, this.table, this.note, this.users);
  }

  /** What `serve` alone answers: any range, after the draw, what it changed, who uses it. */
  ranges() {
    this.input = make("input", { id: "memory-range", size: 24, autocomplete: "off", spellcheck: "false", placeholder: "0x1040000+64, vertex 0+4K, FS c4.x" });
    const when = make("select", { id: "memory-when", onchange: () => { this.when = when.value; this.again(); } }, ...["before", "after"].map((name) => make("option", {}, name)));
    const changed = make("input", { type: "checkbox", id: "memory-changed", onchange: () => { this.isChanged = changed.checked; this.again(); } });
    const submit = (event) => { event.preventDefault(); this.typed = this.input.value.trim(); this.again(); };
    this.bar.append(make("label", {}, when, " the draw"), make("label", {}, changed, " only what it changes"),
      make("button", { type: "button", id: "memory-who", onclick: () => this.again("&who=1") }, "Who uses it"));
    this.panel.append(make("form", { class: "form", onsubmit: submit }, make("label", {}, "Address or name ", this.input), make("button", {}, "Show")));
  }

  /** Shows the ranges of a draw; the chosen one stays, if this draw names it too. */
  async show(draw) {
    const turn = (this.turn = Symbol());
    Object.assign(this, { draw, all: null });
    this.clear("…");
    let found = null, why = "";
    try {
      found = await this.frame.extras.of(`b${draw.id}`, `places/${draw.state?.draw ?? draw.row.draw}`);
    } catch (error) {
      why = error.message;
    }
    if (turn !== this.turn) return;
    const all = (this.all = found ?? []);
    this.places.replaceChildren(...all.map(({ name, bytes, address }) => make("option", { value: name }, `${name} · ${count(bytes, "byte")} at ${hex(address)}`)));
    this.bar.hidden = !all.length && !live;
    if (this.wanted) return this.at(this.wanted);
    if (this.typed && live) return this.again();
    if (all.length) return this.choose(all.some(({ name }) => name === this.chosen) ? this.chosen : all[0].name);
    this.clear(why || (found || this.namesNone(draw) ? "The state of this draw names no memory." : ""));
    if (!found && !live && !this.namesNone(draw)) this.missing("The memory that this draw names is not in the report. a4emu serve shows it, and this command prints it: ", "vertex 0");
  }

  /** Whether the state, if the page has it, names no memory. */
  namesNone({ state }) {
    const isEmpty = (list) => !list?.length;
    return state && isEmpty(state.vertex_inputs) && !state.indices?.buffer && (state.shaders ?? []).every(({ textures, buffers }) => isEmpty(textures) && isEmpty(buffers))
      && [...(state.targets ?? []), state.depth].every((target) => !target?.address);
  }

  clear(text) {
    this.title.textContent = text;
    [this.table, this.note, this.users].forEach((part) => part.replaceChildren());
  }

  missing(text, place) {
    this.note.replaceChildren(text, make("code", {}, this.command(place)));
  }

  command(place) {
    return `a4emu memory ${this.frame.title} '${place}' --draw f${this.draw.id} --before`;
  }

  /** The bytes at an address: of the range that has it, or what `serve` answers. */
  at(address) {
    this.wanted = null;
    // The ranges may be on their way.
    if (!this.all) return (this.wanted = address);
    const range = this.all.find((range) => range.address <= address && address < range.address + Math.max(range.bytes, 1));
    if (range) return this.choose(range.name);
    this.typed = hex(address);
    if (live) return this.again();
    this.clear("");
    return this.missing("These bytes are not in the report. a4emu serve shows them, and this command prints them: ", hex(address));
  }

  choose(name) {
    this.chosen = name;
    this.typed = "";
    this.places.value = name;
    return this.again();
  }

  /** Lists the chosen range. The page has its start before the draw; `serve` has the rest. */
  async again(more = "") {
    const turn = (this.turn = Symbol());
    const range = this.typed ? null : this.all?.find(({ name }) => name === this.chosen);
    const isHere = range && this.when === "before" && !this.isChanged && !more;
    if (isHere || !live) return range && this.fill(range, this.form ? rowsAs(this.form, range.rows) : range.rows);
    this.clear("asking…");
    const place = encodeURIComponent(this.typed || this.chosen), { form, draw } = this;
    const rest = `${form && `&as=${form}`}${this.isChanged ? `&changed=f${draw.id}` : ""}${more}`;
    try {
      const answer = await ask(`memory?place=${place}&draw=f${draw.id}&when=${this.when}${rest}`);
      if (turn === this.turn) this.fill(answer, answer.rows);
    } catch (error) {
      if (turn === this.turn) this.clear(error.message);
    }
  }

  fill(range, rows) {
    const { name, bytes, address, point, form, since, changed, more, missing, users } = range;
    const of = since ? `; ${changed} changed` : "";
    this.title.textContent = `${name ? `${name}: ` : ""}${count(bytes, "byte")} at ${hex(address)} ${point}, ${this.form || form}${of}`;
    const cells = (values) => values.map((value) => make("td", {}, value ?? "?"));
    const hasElement = rows.some(({ element }) => element !== undefined);
    const line = (row) => [
      make("tr", {}, make("td", {}, hex(row.address)), hasElement ? make("td", { class: "dim" }, row.element ?? "") : null, ...cells(row.values)),
      row.before ? make("tr", { class: "dim" }, make("td", {}, "was"), hasElement ? make("td", {}) : null, ...cells(row.before)) : null];
    const columns = Math.max(...rows.map((row) => row.values.length), 1);
    const head = make("tr", {}, make("th", { scope: "col" }, "address"), hasElement ? make("th", { scope: "col" }, "element") : null, make("th", { scope: "col", colspan: columns }, "values"));
    this.table.replaceChildren(...(rows.length ? [make("table", { id: "bytes" }, make("thead", {}, head), make("tbody", {}, ...rows.flatMap(line).filter(Boolean)))] : []));
    const gaps = missing.slice(0, 8).map((gap) => make("div", {}, `${count(gap.bytes, "byte")} at ${hex(gap.address)} are missing: they are not in the capture`));
    this.note.replaceChildren(...gaps);
    if (more) this.note.append(`${count(more, "more byte")}: ${live ? `“${name ?? hex(address)}+${bytes}” lists them, ` : ""}`,
      make("code", {}, `${this.command(name ?? hex(address))} --out FILE`), missing.length ? " writes them if none is missing. " : " writes them. ");
    if (!live) this.note.append("Who wrote and read it: ", make("code", {}, `${this.command(name ?? hex(address))} --who`));
    this.users.replaceChildren(...(users ? this.usersParts(users) : []));
  }

  /** What uses the range, with links to the draws. */
  usersParts(users) {
    if (!users.length) return [make("p", { class: "dim" }, "Nothing in the capture uses it.")];
    const rowOf = (id) => this.frame.draws.findIndex((draw) => draw.id === id || draw.row.more_frame_draws.includes(id));
    const who = ({ frame_draw: id, submit, packet }) => {
      const row = id === null ? -1 : rowOf(id);
      return row < 0 ? `submit ${submit}${packet ? ` at ${hex(packet)}` : ""}` : drawLink(row, { id });
    };
    const line = (user) => make("tr", {}, make("td", {}, user.access), make("td", {}, user.by), make("td", {}, who(user)),
      make("td", {}, `${count(user.bytes, "byte")} at ${hex(user.address)}${user.count > 1 ? `, ${user.count} times` : ""}`));
    return [make("h3", {}, "Used by"), make("table", { id: "users" }, make("tbody", {}, ...users.map(line)))];
  }
}
