// What only `serve` answers: a lane of a shader stepped through, and a draw run again with other registers.

/** What is edited most. */
const EDITS = {
  "No blending": ["RB_MRT[*].CONTROL.BLEND:0"],
  "No depth test": ["RB_DEPTH_CONTROL.Z_TEST_ENABLE:0"],
  "Depth: always": ["RB_DEPTH_CONTROL.ZFUNC:FUNC_ALWAYS"],
  "No stencil test": ["RB_STENCIL_CONTROL.STENCIL_ENABLE:0"],
  "No culling": ["GRAS_SU_MODE_CONTROL.CULL_FRONT:0", "GRAS_SU_MODE_CONTROL.CULL_BACK:0"],
  Wireframe: ["PC_PRIM_VTX_CNTL2.POLYMODE_ENABLE:1", "PC_PRIM_VTX_CNTL2.POLYMODE_FRONT_PTYPE:PC_DRAW_LINES",
    "PC_PRIM_VTX_CNTL2.POLYMODE_BACK_PTYPE:PC_DRAW_LINES"],
  "No colour": ["RB_MRT[*].CONTROL.COMPONENT_ENABLE:0"],
};

/** A tab with its panel, behind the others. */
function addTab(name, text) {
  TABS.push(name);
  $("tabs").append(make("button", {
    type: "button", role: "tab", id: `tab-${name}`, "aria-controls": name, "aria-selected": "false", tabindex: -1,
  }, text));
  const panel = make("div", { id: name, role: "tabpanel", "aria-labelledby": `tab-${name}`, tabindex: 0, hidden: true });
  $("details").append(panel);
  return panel;
}

const field = (text, input) => make("label", {}, `${text} `, input);

/** Stepping: what each instruction of one lane read and wrote. */
class Stepping {
  constructor(page) {
    this.page = page;
    this.panel = addTab("step", "Step");
    this.stage = make("select", { id: "step-stage" });
    this.place = make("select", { id: "step-place" });
    this.number = make("input", { id: "step-number", required: true, autocomplete: "off", size: 9 });
    this.note = make("p", { class: "dim", role: "status", id: "step-note" });
    this.list = make("div", { id: "step-list", role: "group", "aria-label": "Instructions of the lane" });
    const form = make("form", { class: "form", onsubmit: (event) => { event.preventDefault(); this.ask(); } },
      field("Stage", this.stage), field("of", this.place), field("number", this.number), make("button", {}, "Step through"));
    const step = (by, text) => make("button", { type: "button", onclick: () => this.move(by) }, text);
    this.moves = make("div", { class: "choice", role: "group", "aria-label": "Instruction", hidden: true },
      step(-Infinity, "First"), step(-1, "Back"), step(1, "Forward"), step(Infinity, "Last"));
    this.panel.append(form, this.note, this.moves, this.list);
    this.stage.onchange = () => this.offer();
    this.panel.addEventListener("keydown", (event) => this.key(event));
  }

  show(draw) {
    if (draw.id === this.draw?.id) return;
    this.draw = draw;
    const stages = draw.shader_use.map(({ stage }) => stage);
    this.stage.replaceChildren(...stages.map((stage) => make("option", { selected: stage === "FS" }, stage)));
    this.offer();
    this.clear(stages.length ? "" : "No shader of this command is in the capture.");
  }

  /** The places that the stage has; a pixel is the one of the history. */
  offer() {
    const places = { FS: ["pixel", "warp"], VS: ["vertex", "warp"], DS: ["vertex", "warp"] }[this.stage.value] ?? ["invocation", "warp"];
    this.place.replaceChildren(...places.map((place) => make("option", {}, place)));
    const { pixel } = this.page.picture;
    this.number.value = places[0] === "pixel" && pixel ? `${pixel.x},${pixel.y}` : "0";
  }

  clear(text) {
    this.note.textContent = text;
    this.moves.hidden = true;
    this.list.replaceChildren();
    this.steps = [];
  }

  /** The fragment of a primitive at a pixel. */
  fragment(draw, { x, y }, primitive) {
    this.page.showTab("step");
    this.show(draw);
    this.stage.value = "FS";
    this.offer();
    [this.place.value, this.number.value] = ["pixel", `${x},${y}`];
    this.ask(`&primitive=${primitive}`);
  }

  async ask(more = "") {
    const turn = (this.turn = Symbol());
    this.clear("stepping…");
    const place = `${this.place.value}=${encodeURIComponent(this.number.value)}`;
    try {
      const walk = await ask(`step?draw=f${this.draw.id}&stage=${this.stage.value.toLowerCase()}&${place}${more}`);
      if (turn === this.turn) this.list.replaceChildren(...this.parts(walk));
    } catch (error) {
      if (turn === this.turn) this.clear(error.message);
    }
  }

  parts(walk) {
    this.steps = walk.steps;
    this.note.textContent = `${walk.name}, ${walk.lane}: ${count(walk.steps.length, "instruction")}, ${walk.end ?? "and more, which are not told"}`;
    this.moves.hidden = !walk.steps.length;
    const inputs = make("p", { class: "dim" }, `Inputs: ${walk.inputs.map(({ name, before }) => `${name} ${before}`).join(", ") || "none"}`);
    this.rows = walk.steps.map((step, index) => make("div", { class: "step", onclick: () => this.go(index) },
      make("code", {}, `${String(step.at).padStart(4)}  ${step.text}`), this.registersOf(step)));
    this.at = 0;
    if (this.rows.length) this.mark();
    return [inputs, ...this.rows];
  }

  registersOf({ registers, access }) {
    const lines = registers.map(({ name, before, after }) => make("div", {}, `${name} `,
      ...(after === null ? [before] : [make("del", {}, before), " → ", make("ins", {}, after)])));
    if (access) lines.push(make("div", {}, access));
    return make("div", { class: "step-registers changes" }, ...lines);
  }

  move(by) {
    this.go(Math.min(Math.max(this.at + by, 0), this.rows.length - 1));
  }

  go(index) {
    this.rows[this.at].removeAttribute("aria-current");
    this.at = index;
    this.mark();
    this.rows[index].scrollIntoView({ block: "nearest" });
  }

  mark() {
    this.rows[this.at].setAttribute("aria-current", "step");
  }

  key(event) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by || !this.steps?.length || event.target.matches("input, select")) return;
    event.preventDefault();
    event.stopPropagation();
    this.move(by);
  }
}

/** Editing: registers, constants and shaders of one draw, and the picture after the selected one. */
class Editing {
  constructor(page) {
    this.page = page;
    this.panel = addTab("edit", "Edit");
    this.edits = [];
    const input = make("input", { id: "edit-text", size: 34, autocomplete: "off", spellcheck: "false", list: "edit-names", placeholder: "RB_DEPTH_CONTROL.ZFUNC:FUNC_ALWAYS" });
    this.names = make("datalist", { id: "edit-names" });
    input.oninput = () => this.complete(input.value.trim());
    const form = make("form", { class: "form", onsubmit: (event) => { event.preventDefault(); this.add([input.value.trim()]); } },
      field("Register, field or constant (fs.c4.x), and its value", input), make("button", {}, "Set"));
    const presets = Object.entries(EDITS).map(([name, edits]) => make("button", { type: "button", onclick: () => this.add(edits) }, name));
    this.stage = make("select", { id: "edit-stage", onchange: () => this.fill() });
    this.source = make("textarea", { id: "edit-source", rows: 10, spellcheck: "false", "aria-label": "Text of the shader" });
    const run = (event) => { event.preventDefault(); this.addShader(); };
    this.shader = make("details", {}, make("summary", {}, "Shader text"),
      make("form", { onsubmit: run }, field("Stage", this.stage), make("button", {}, "Run with this text"), this.source));
    this.list = make("ul", { id: "edits" });
    this.note = make("p", { class: "dim", role: "status", id: "edit-note" });
    this.pictures = make("div", { id: "edit-pictures" });
    this.panel.append(this.names, make("div", { class: "form", role: "group", "aria-label": "Usual edits" }, ...presets), form, this.shader, this.list, this.note, this.pictures);
  }

  /** Offers what can follow: registers, then fields, then values. */
  complete(text) {
    const { registers } = this.page.frame, [, name, field] = /^([^:]*?)(?:\.(\w*))?(?::.*)?$/.exec(text) ?? [];
    const known = this.page.registers.known(name), fields = known ? fieldsOf(registers[known].text) : {};
    let offers = Object.keys(registers).filter((register) => register.includes(text.toUpperCase()));
    if (known) offers = Object.keys(fields).map((each) => `${name}.${each}:`);
    if (field && fields[field]) offers = Object.keys(fields[field].values).map((value) => `${name}.${field}:${value}`);
    this.names.replaceChildren(...offers.slice(0, 60).map((value) => make("option", { value })));
  }

  /** `draw` is selected: its picture is shown, with the edits of the draw that they were made for. */
  show(draw) {
    this.draw = draw;
    if (!this.edits.length) this.edited = draw;
    const stages = this.edited.shader_use.map((use) => use.stage), chosen = this.stage.value;
    this.shader.hidden = !stages.length;
    this.stage.replaceChildren(...stages.map((value) => make("option", { value }, value)));
    this.stage.value = stages.includes(chosen) ? chosen : stages.at(-1);
    this.fill();
    this.ask();
  }

  /** Shows the program that the edited draw runs in the chosen stage, as it was edited. */
  fill() {
    const use = this.edited.shader_use.find((each) => each.stage === this.stage.value);
    const [, edited] = this.edits.map((edit) => edit.split(/:(.*)/s)).find(([name]) => name === this.stage.value) ?? [];
    this.source.value = edited ?? this.page.frame.shaders[use?.hash]?.text.join("\n") ?? "";
  }

  addShader() {
    const name = `${this.stage.value}:`;
    this.edits = this.edits.filter((edit) => !edit.startsWith(name));
    this.add([name + this.source.value]);
  }

  add(edits) {
    if (!this.edits.length) this.edited = this.draw;
    this.edits.push(...edits.filter((edit) => edit && !this.edits.includes(edit)));
    this.ask();
  }

  remove(edit) {
    this.edits = this.edits.filter((other) => other !== edit);
    if (!this.edits.length) this.edited = this.draw;
    this.ask();
  }

  line(edit) {
    const [first, ...more] = edit.split("\n"), text = more.length ? `${first} … (${edit.split("\n").length} lines)` : edit;
    return make("li", {}, make("code", {}, text), " ",
      make("button", { type: "button", "aria-label": `Remove ${text}`, onclick: () => this.remove(edit) }, "Remove"));
  }

  async ask() {
    const turn = (this.turn = Symbol());
    this.list.replaceChildren(...this.edits.map((edit) => this.line(edit)));
    this.pictures.replaceChildren();
    if (!this.edits.length) return (this.note.textContent = `Nothing is edited; what is set is set for f${this.draw.id} alone.`);
    this.note.textContent = "running…";
    // Who goes through the draws waits for none of them.
    await new Promise((done) => setTimeout(done, 150));
    if (turn !== this.turn) return;
    const { edited, draw } = this;
    const set = this.edits.map((edit) => `&set=${encodeURIComponent(edit)}`).join("");
    try {
      const answer = await ask(`edit?draw=f${edited.id}&until=f${draw.id}${set}`);
      if (turn !== this.turn) return;
      this.note.textContent = `After f${draw.id}, with f${edited.id} edited: ${count(answer.pixels, "pixel")} differ`;
      this.pictures.append(this.figure("Original", answer, answer.original), this.figure("Edited", answer, answer.edited));
    } catch (error) {
      if (turn === this.turn) this.note.textContent = error.message;
    }
  }

  figure(name, { width, height }, png) {
    const alt = `${name}: picture after f${this.draw.id}`;
    return make("figure", {}, make("figcaption", {}, name), make("img", { src: `data:image/png;base64,${png}`, alt, width, height }));
  }
}
