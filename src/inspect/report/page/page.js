// Puts the page together: selection, its address, tabs, keys, search.

const TABS = ["state", "mesh", "textures", "memory", "shaders", "findings", "packets"];

/** Bits of the reasons. */
const [COVERED, DEPTH, KILLED, WRITTEN, SEVERAL, CULLED, SCISSORED] = [1, 2, 4, 8, 16, 64, 128];

/** What the search reads. */
const SEARCHED = "Searched: numbers (f12), hashes of shaders, textures, formats, targets, changes, findings, packets with their registers and fields. "
  + "A value of a field is asked for as ZFUNC=LESS or RB_DEPTH_CONTROL.Z_TEST_ENABLE=1.";

/** Milliseconds that a draw stays selected before it becomes an entry of the browser's history. */
const STAYS = 400;

class Page {
  constructor(frame) {
    this.frame = frame;
    frame.blocks = new Blocks(frame.block);
    frame.extras = new Extras();
    this.surfaces = surfacesOf(frame);
    this.registers = new Registers(frame);
    this.details = new Details(frame, this.registers);
    this.picture = new Picture(this.surfaces, (surface, pixel) => this.pick(surface, pixel));
    this.picture.leftOut = frame.left_out.includes("no picture");
    this.history = new PixelHistory(this);
    this.strip = new Strip(frame, (row) => this.select(row));
    this.list = new DrawList(frame, this.surfaces, (row) => this.select(row));
    this.search = new Search(frame);
    this.found = null;
    if (live) [this.details.step, this.details.edit] = [new Stepping(this), new Editing(this)];
    this.head();
    this.listen();
    if (frame.draws.length) this.go();
  }

  head() {
    const { title, process, gpu, version, draws, notes, left_out, missing, stood, words } = this.frame;
    const all = frameDraws(draws);
    const gaps = [stood && `${stood[0].toUpperCase()}${stood.slice(1)}.`, missing && `Draws may look wrong or draw nothing: ${missing}.`, left_out].filter(Boolean);
    $("left-out").hidden = !gaps.length;
    $("left-out").textContent = gaps.join(" ");
    document.title = `${title} · a4emu`;
    $("title").textContent = title;
    $("process").textContent = `A${gpu} · ${process} · ${count(draws.reduce((sum, { row }) => sum + row.runs, 0), "draw")}, ${count(all, "frame draw")} · a4emu ${version}`;
    $("words").replaceChildren(...Object.entries(words).flatMap(([word, text]) => [make("dt", {}, word), make("dd", {}, text)]));
    const said = notes.length ? notes : ["Nothing was left out."];
    $("notes").replaceChildren(...said.map((note) => make("li", {}, note)));
  }

  /** Selects what the address says, "#f12" or "#f12@400,266"; without one, the last draw of the picture. */
  async go() {
    const [, id, x, y] = /^#f(\d+)(?:@(\d+),(\d+))?$/.exec(location.hash) ?? [];
    const is = (draw) => draw.id === Number(id) || draw.row.more_frame_draws.includes(Number(id));
    const row = id === undefined ? -1 : this.frame.draws.findIndex(is);
    if (y === undefined) this.picture.pixel = null;
    this.address = location.hash;
    await this.show(row < 0 ? this.frame.first : row);
    const { surface } = this.picture;
    if (y !== undefined && surface && x < surface.width && y < surface.height) this.picture.pick({ x: Number(x), y: Number(y) });
  }

  /** Keeps the address up to date. Draws that are only passed by make no entries of the browser's history. */
  keepAddress() {
    const { pixel } = this.picture;
    const address = `#f${this.frame.draws[this.row].id}${pixel ? `@${pixel.x},${pixel.y}` : ""}`;
    clearTimeout(this.staying);
    if (address === this.address) return;
    this.staying = setTimeout(() => {
      this.address = address;
      history.pushState(null, "", address);
    }, STAYS);
  }

  pick(surface, pixel) {
    this.keepAddress();
    return this.history.show(surface, pixel);
  }

  select(row) {
    if (row === undefined || row < 0) return null;
    const shown = this.show(row);
    this.keepAddress();
    return shown;
  }

  /** Shows a draw, in all parts of the page. */
  show(row) {
    const draw = this.frame.draws[row];
    const inPackets = this.found?.inPackets.get(row);
    this.row = row;
    this.registers.row = row;
    this.list.select(row);
    if (inPackets) this.showTab("packets");
    this.details.show(draw, row, inPackets ?? null);
    this.strip.select(row);
    this.history.mark();
    return this.picture.show(draw, row);
  }

  showTab(name) {
    for (const tab of TABS) {
      $(tab).hidden = tab !== name;
      $(`tab-${tab}`).setAttribute("aria-selected", String(tab === name));
      $(`tab-${tab}`).tabIndex = tab === name ? 0 : -1;
    }
    this.details.render(name);
  }

  listen() {
    $("tabs").onclick = ({ target }) => target.role === "tab" && this.showTab(target.getAttribute("aria-controls"));
    $("tabs").onkeydown = (event) => this.tabKey(event);
    $("query").oninput = () => this.find();
    $("search").onsubmit = (event) => event.preventDefault();
    $("query").onkeydown = (event) => this.queryKey(event);
    $("pixel-form").onsubmit = (event) => {
      event.preventDefault();
      const { surface } = this.picture;
      const pixel = { x: $("pixel-x").valueAsNumber, y: $("pixel-y").valueAsNumber };
      if (surface && pixel.x < surface.width && pixel.y < surface.height) this.picture.pick(pixel);
      else $("history-note").textContent = "No such pixel.";
    };
    document.querySelectorAll("[role=separator]").forEach(makeSplitter);
    addEventListener("hashchange", () => location.hash !== this.address && this.go());
    $("strip").onkeydown = (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key], factor = { "+": 0.5, "=": 0.5, "-": 2, 0: Infinity }[event.key];
      if (!step && !factor) return;
      event.preventDefault();
      if (step) this.select(this.list.neighbour(step));
      else this.strip.zoom(factor);
    };
    $("list").addEventListener("keydown", (event) => {
      const isOpen = { ArrowLeft: false, ArrowRight: true }[event.key];
      if (isOpen === undefined) return;
      event.preventDefault();
      this.list.foldKey(isOpen);
    });
    $("help-button").onclick = () => $("help").showModal();
    document.addEventListener("click", (event) => this.click(event));
    document.addEventListener("keydown", (event) => this.key(event));
  }

  /** Links to registers, memory and draws, wherever they are. */
  click({ target }) {
    const link = target.closest?.("[data-register], [data-row], [data-address]");
    if (link?.dataset.register) this.registers.explain(link.dataset.register);
    else if (link?.dataset.address) {
      this.showTab("memory");
      this.details.memory.at(Number(link.dataset.address));
    }
    else if (link) {
      $("register").close();
      this.select(Number(link.dataset.row));
    }
  }

  tabKey(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const tab = TABS[(TABS.indexOf(this.details.tab) + step + TABS.length) % TABS.length];
    this.showTab(tab);
    $(`tab-${tab}`).focus();
  }

  find() {
    const query = $("query").value.trim();
    this.found = null;
    if (!query) {
      $("hits").textContent = "";
      this.list.filter(this.frame.draws.map((_, row) => row));
    }
    this.finding = query ? this.look(query) : null;
  }

  /** Searches. Texts that are packed take a while, and a later search ends this one. */
  async look(query) {
    const turn = (this.looking = Symbol());
    $("hits").textContent = "searching…";
    const found = await this.search.find(query, () => turn === this.looking && query === $("query").value.trim());
    if (!found) return;
    this.found = { query, isEntered: false, ...found };
    const hits = frameDraws(found.rows.map((row) => this.frame.draws[row]));
    $("hits").textContent = `${hits} of ${count(this.list.total, "frame draw")}${found.gap ?? ""}`;
    $("hits").title = $("hits").textContent;
    this.list.filter(found.rows, found.held ? `No draw runs with ${found.held}.` : `Nothing has \u201c${query}\u201d. ${SEARCHED}`);
  }

  async queryKey(event) {
    if (event.key === "Enter") {
      await this.finding;
      if (!this.found?.rows.length) return;
      const { rows, isEntered } = this.found;
      this.found.isEntered = true;
      const nearest = rows.find((row) => row >= this.row) ?? rows[0];
      this.select(isEntered ? this.list.neighbour(event.shiftKey ? -1 : 1) : nearest);
    } else if (event.key === "Escape") {
      event.preventDefault();
      $("query").value = "";
      this.find();
      this.list.box.focus();
    } else if (event.key === "ArrowDown") {
      event.preventDefault();
      this.list.box.focus();
    }
  }

  key(event) {
    const isTyping = event.target.matches?.("input, select, textarea") || document.querySelector("dialog[open]");
    if (isTyping || event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
    const inPanel = event.target.closest?.("[role=tabpanel], .scroll") && event.key.startsWith("Arrow");
    const action = inPanel ? null : this.action(event.key);
    if (!action) return;
    event.preventDefault();
    action();
  }

  action(key) {
    const by = (step) => () => this.select(this.list.neighbour(step));
    const page = Math.max(Math.floor(this.list.box.clientHeight / ROW_HEIGHT) - 1, 1);
    const all = this.list.shown.length;
    const { picture } = this;
    const actions = {
      j: by(1), ArrowDown: by(1), k: by(-1), ArrowUp: by(-1), PageDown: by(page), PageUp: by(-page), Home: by(-all), End: by(all),
      "/": () => { $("query").focus(); $("query").select(); },
      "?": () => $("help").showModal(),
      Escape: () => { $("query").value = ""; this.find(); },
      b: () => picture.setMode("before"), a: () => picture.setMode("after"), d: () => picture.setMode("difference"),
      o: () => picture.setHeat({ 0: COVERED, [COVERED]: WRITTEN, [WRITTEN]: COST, [COST]: 0 }[picture.heat]),
      "+": () => picture.zoom(2), "=": () => picture.zoom(2), "-": () => picture.zoom(0.5), 0: () => picture.fit(),
    };
    return actions[key] ?? (TABS[key - 1] ? () => this.showTab(TABS[key - 1]) : null);
  }
}

loadFrame().then((frame) => (window.page = new Page(frame)), (error) => {
  $("title").textContent = `The data of this page cannot be read: ${error.message}`;
});
