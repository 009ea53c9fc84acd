//! The page of `report` and `serve` in a real browser: clicks and their effects. Without chromium the tests
//! are ignored, with the reason in their names; under CI they fail.

mod accessible;
mod agreement;
mod devtools;
mod live;
mod looks;
mod memory;
#[path = "../npm/mod.rs"]
mod npm;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use assert_cmd::Command;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::{Value, json};
use tempfile::TempDir;

use devtools::Browser;

type Outcome = Result<(), Failed>;

/// A draw of `captures/many.rd.gz` that changes 349 pixels.
const DRAW: u32 = 339;
const PIXEL: [u32; 2] = [128, 128];

fn captures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("captures")
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a name in UTF-8")
}

/// The stdout of a4emu.
fn a4emu(arguments: &[&str]) -> Vec<u8> {
    let done = Command::new(env!("CARGO_BIN_EXE_a4emu")).args(arguments).assert().success();
    done.get_output().stdout.clone()
}

fn many() -> PathBuf {
    captures().join("many.rd.gz")
}

/// The page of a frame with 603 draws, made once.
fn page() -> &'static Path {
    static PAGE: LazyLock<(TempDir, PathBuf)> = LazyLock::new(|| {
        let folder = TempDir::new().expect("a folder");
        let page = folder.path().join("many.html");
        a4emu(&["report", text(&many()), "-o", text(&page), "-q"]);
        (folder, page)
    });
    &PAGE.1
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Outcome {
    match found == expected {
        true => Ok(()),
        false => Err(format!("{what}: found {found:?}, expected {expected:?}").into()),
    }
}

/// The browser has requested only the page, and has no errors or warnings.
fn is_quiet(browser: &Browser, page: &Path) -> Outcome {
    same("requests", browser.requests(), vec![format!("file://{}", page.display()).as_str()])?;
    same("console", browser.complaints(), Vec::new())
}

/// Scrolls to a draw and clicks it.
fn click_draw(browser: &mut Browser, draw: u32) -> Outcome {
    let row = format!("#row-{draw}");
    let scroll = format!(
        "page.list.unfold({draw}), page.list.box.scrollTop = page.list.tops[page.list.indexes.get('row-{draw}')] - 200"
    );
    browser.value(&scroll)?;
    browser.wait(&format!("document.querySelector('{row}') !== null"))?;
    browser.click(&row)?;
    browser.wait(&format!("document.querySelector('#view').dataset.shown === '{draw} after 0'"))
}

/// The picture of the capture after a draw, in opaque RGBA.
fn after(draw: u32) -> Vec<u8> {
    let png =
        a4emu(&["show", text(&many()), "--draw", &format!("f{draw}"), "--after", "-", "--opaque", "-q"]);
    let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().expect("a PNG");
    let mut bytes = vec![0; reader.output_buffer_size().expect("a size")];
    reader.next_frame(&mut bytes).expect("pixels");
    bytes
}

/// The picture that the page shows, at one screen pixel per pixel.
fn shown(browser: &mut Browser) -> Result<Vec<u8>, Failed> {
    browser.click("#zoom-one")?;
    // Reads from a copy: chromium warns about canvases that are read repeatedly.
    let base64 = "(context => {
        context.drawImage(document.querySelector('#view'), 0, 0);
        const { data } = context.getImageData(0, 0, 256, 256);
        return btoa(Array.from(data, byte => String.fromCharCode(byte)).join(''));
    })(new OffscreenCanvas(256, 256).getContext('2d', { willReadFrequently: true }))";
    Ok(STANDARD.decode(browser.value(base64)?.as_str().unwrap_or_default())?)
}

fn a_click_shows_state_and_picture() -> Outcome {
    let mut browser = Browser::open(page())?;
    click_draw(&mut browser, DRAW)?;
    let title = browser.text("#details-title")?;
    same("title", title.as_str(), "f339 · gmem · TRISTRIP 4")?;
    let shown_counts = String::from_utf8(a4emu(&["show", text(&many()), "-q"]))?;
    let counts = shown_counts.split(", ").skip(1).take(2).collect::<Vec<_>>().join(", ");
    let counts = counts.split(';').next().expect("two counts");
    let process = browser.text("#process")?;
    same(&process, process.contains(counts), true)?;
    let json = a4emu(&["show", text(&many()), "--draw", "f339", "--json", "-q"]);
    let draw: Value = serde_json::from_slice(&json)?;
    browser.wait("page.details.draw.id === 339")?;
    let state = browser.text("#state")?;
    let depth = format!("func{}", draw["depth"]["func"].as_str().expect("it tests depth"));
    same("depth in the state", state.contains(&depth), true)?;
    let constant = draw["shaders"][1]["constants"][0]["floats"][1].as_f64().expect("it has a colour");
    same("constant that changed", state.contains(&constant.to_string()[..6]), true)?;
    for (draw, key) in [(DRAW, "a"), (DRAW - 1, "b")] {
        browser.press(key)?;
        let moment = if key == "a" { "after" } else { "before" };
        browser.wait(&format!("document.querySelector('#view').dataset.shown === '{DRAW} {moment} 0'"))?;
        same(moment, shown(&mut browser)? == after(draw), true)?;
    }
    is_quiet(&browser, page())
}

/// The history of the pixel: the result of each draw that covered it, in the page's words, and the final
/// colour.
fn history() -> (Vec<(u64, &'static str)>, String) {
    let [x, y] = PIXEL;
    let json = a4emu(&["pixel", text(&many()), &format!("{x},{y}"), "--json", "-q"]);
    let history: Value = serde_json::from_slice(&json).expect("an object");
    let events = history["events"].as_array().expect("a list").iter();
    let word = |event: &Value| match event["verdict"].as_str().expect("a word") {
        "depth" => "depth",
        "written" => "written",
        "copied" => "copied",
        other => panic!("{other} does not occur here"),
    };
    let events = events.map(|event| (event["frame_draw"].as_u64().expect("a number"), word(event))).collect();
    let value = history["value"].as_array().expect("a colour").iter();
    let parts: Vec<String> = value.map(|part| format!("{:.4}", part.as_f64().expect("a number"))).collect();
    (events, parts.join(" "))
}

fn a_click_shows_the_history_of_a_pixel() -> Outcome {
    let mut browser = Browser::open(page())?;
    click_draw(&mut browser, DRAW)?;
    browser.click("#zoom-one")?;
    browser.click_in("#view", PIXEL)?;
    browser.wait("!document.querySelector('#events').hidden")?;
    let cells = "Array.from(document.querySelectorAll('#events tbody tr'), row => \
        Array.from(row.cells, cell => cell.textContent))";
    let rows = browser.value(cells)?;
    let rows = rows.as_array().ok_or("no rows")?;
    let (events, value) = history();
    let expected: Vec<_> = events.iter().map(|(draw, what)| json!([format!("▸f{draw}"), what])).collect();
    let found: Vec<_> = rows.iter().map(|row| json!([row[0], row[1]])).collect();
    same("history", found, expected)?;
    same("colour in the end", rows.last().ok_or("no rows")?[5].as_str(), Some(value.as_str()))?;
    browser.click("#events tbody tr:last-child [data-row].link")?;
    let selected = browser.text("[role=treeitem][aria-selected=true] b")?;
    let name = rows.last().and_then(|row| row[0].as_str()).map(|name| name.trim_start_matches('▸'));
    same("draw that a row leads to", Some(selected.as_str()), name)?;
    is_quiet(&browser, page())
}

fn search_finds_a_register() -> Outcome {
    let mut browser = Browser::open(page())?;
    browser.press("/")?;
    browser.type_text("RB_DEPTH_CONTROL")?;
    browser.press("Enter")?;
    browser.wait("document.querySelector('#packets .hit') !== null")?;
    let line = browser.text("#packets .hit")?;
    same("line of the packets", line.contains("RB_DEPTH_CONTROL = "), true)?;
    browser.click("#packets .hit [data-register=RB_DEPTH_CONTROL]")?;
    same("register", browser.text("#register-name")?.as_str(), "RB_DEPTH_CONTROL")?;
    same("its fields", browser.text("#register-text")?.contains("ZFUNC"), true)?;
    browser.press("Escape")?;
    browser.wait("!document.querySelector('#register').open")?;
    is_quiet(&browser, page())
}

fn keys_select_draws() -> Outcome {
    let mut browser = Browser::open(page())?;
    same("first", browser.text("[role=treeitem][aria-selected=true] b")?.as_str(), "f600")?;
    for (key, expected) in [("Home", "f0"), ("j", "f1"), ("j", "f2"), ("k", "f1"), ("ArrowDown", "f2")] {
        browser.press(key)?;
        same(key, browser.text("[role=treeitem][aria-selected=true] b")?.as_str(), expected)?;
    }
    let active = "document.getElementById('list').getAttribute('aria-activedescendant')";
    same("option that a screen reader reads", browser.value(active)?, json!("row-2"))?;
    browser.press("/")?;
    browser.type_text("jf3")?;
    same("typed into the search", browser.value("document.activeElement.value")?, json!("jf3"))?;
    same("and nowhere else", browser.text("[role=treeitem][aria-selected=true] b").is_err(), true)?;
    browser.press("Escape")?;
    browser.press("j")?;
    same("after the search", browser.text("[role=treeitem][aria-selected=true] b")?.as_str(), "f3")?;
    is_quiet(&browser, page())
}

/// The brightness of a colour in the browser's notation: `rgb(27, 29, 33)`.
fn brightness(color: &str) -> f64 {
    let numbers = color.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse::<f64>().ok());
    numbers.take(3).sum::<f64>() / 765.0
}

fn light_and_dark() -> Outcome {
    let mut browser = Browser::open(page())?;
    for (scheme, is_light) in [("light", true), ("dark", false)] {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        browser.command("Emulation.setEmulatedMedia", json!({ "features": features }))?;
        for part in ["body", "header", "#details", "#query"] {
            let style = format!("getComputedStyle(document.querySelector('{part}'))");
            let text = browser.value(&format!("{style}.color"))?;
            same(part, brightness(text.as_str().unwrap_or_default()) < 0.5, is_light)?;
        }
        let back = browser.value("getComputedStyle(document.body).backgroundColor")?;
        same(scheme, brightness(back.as_str().unwrap_or_default()) > 0.5, is_light)?;
    }
    is_quiet(&browser, page())
}

/// A capture whose program has a name with HTML tags.
fn a_hostile_name_is_text() -> Outcome {
    const NAME: &str = "<script>window.hacked=1</script></script><img src=x onerror=window.hacked=1>";
    let folder = TempDir::new()?;
    let [source, capture, page] = ["a.a4", "a.rd", "a.html"].map(|name| folder.path().join(name));
    fs::copy(captures().join("setup.a4i"), folder.path().join("setup.a4i"))?;
    let honest = fs::read_to_string(captures().join("verdicts.a4"))?;
    fs::write(&source, honest.replacen("verdicts/1", NAME, 1))?;
    a4emu(&["asm", text(&source), "-o", text(&capture)]);
    a4emu(&["report", text(&capture), "-o", text(&page), "-q"]);
    let mut browser = Browser::open(&page)?;
    browser.wait("document.querySelector('#view').dataset.shown !== undefined")?;
    same("name as text", browser.text("#process")?.contains(NAME), true)?;
    same("what ran", browser.value("typeof window.hacked")?, json!("undefined"))?;
    is_quiet(&browser, &page)
}

fn keys_reach_everything() -> Outcome {
    let mut browser = Browser::open(page())?;
    let focus = "document.activeElement.id";
    browser.value("document.querySelector('#tab-state').focus()")?;
    for (key, expected) in
        [("ArrowRight", "tab-mesh"), ("ArrowLeft", "tab-state"), ("ArrowLeft", "tab-packets")]
    {
        browser.press(key)?;
        same(key, browser.value(focus)?, json!(expected))?;
        same(
            "its panel is shown",
            browser.value(&format!(
                "{focus}.slice(4) in window && !document.getElementById({focus}.slice(4)).hidden"
            ))?,
            json!(true),
        )?;
    }
    browser.press("3")?;
    same("panel of 3", browser.value("document.querySelector('#textures').hidden")?, json!(false))?;
    browser.press("?")?;
    same("help", browser.value("document.querySelector('#help').open")?, json!(true))?;
    browser.press("Escape")?;
    browser.wait("!document.querySelector('#help').open")?;
    browser.value("document.querySelector('#view').focus()")?;
    browser.press("Enter")?;
    browser.wait("!document.querySelector('#events').hidden || document.querySelector('#history-note').textContent.startsWith('No')")?;
    let middle = "['x', 'y'].map(axis => document.querySelector(`#pixel-${axis}`).valueAsNumber)";
    same("pixel in the middle", browser.value(middle)?, json!([128, 128]))?;
    browser.press("ArrowRight")?;
    browser.press("ArrowDown")?;
    browser.press("Enter")?;
    browser.wait(&format!("{middle}.join() === '129,129'"))?;
    for (key, expected) in [("End", "f602"), ("k", "f601"), ("Home", "f0"), ("j", "f1")] {
        browser.value("document.querySelector('#list').focus()")?;
        browser.press(key)?;
        same(key, browser.text("[role=treeitem][aria-selected=true] b")?.as_str(), expected)?;
    }
    is_quiet(&browser, page())
}

/// A report has no server, so controls that need one are missing.
fn a_report_has_no_controls_of_serve() -> Outcome {
    let mut browser = Browser::open(page())?;
    let tabs = browser.value("Array.from(document.querySelectorAll('[role=tab]'), tab => tab.id)")?;
    same("tabs", tabs.as_array().map(Vec::len), Some(7))?;
    let range = browser.value("document.querySelector('#memory-range, #memory-who')")?;
    same("any range of memory", range, Value::Null)?;
    same("page without them", fs::read_to_string(page())?.contains("step-stage"), false)?;
    browser.value("page.showTab('mesh')")?;
    browser.value("page.select(page.frame.draws.findIndex(draw => draw.row.pass === 'resolve')), 0")?;
    browser.wait("document.querySelector('#mesh').textContent.startsWith('There')")?;
    same(
        "why there is no mesh",
        browser.text("#mesh")?.as_str(),
        "There is no mesh: this command copies tile memory.",
    )?;
    is_quiet(&browser, page())
}

/// Findings are shown beside the draws that cause them, with a fix.
fn findings_say_what_mends_them() -> Outcome {
    let folder = TempDir::new()?;
    let path = |name: &str| folder.path().join(name);
    fs::copy(captures().join("setup.a4i"), path("setup.a4i"))?;
    let source = fs::read_to_string(captures().join("triangle-by-hand.a4"))?;
    let late = "mov.f32f32 r0.z, (0.0)\n    mul.f r0.z, r0.z, c0.x";
    fs::write(path("broken.a4"), source.replacen("mov.f32f32 r0.z, (0.0)", late, 1))?;
    a4emu(&["asm", text(&path("broken.a4")), "-o", text(&path("broken.rd"))]);
    a4emu(&["report", text(&path("broken.rd")), "-o", text(&path("broken.html")), "-q"]);
    let mut browser = Browser::open(&path("broken.html"))?;
    browser.click("#tab-findings")?;
    same("tab", browser.text("#tab-findings")?.as_str(), "Findings (1)")?;
    let found = browser.text("#findings li")?;
    same("finding", found.starts_with("D1 E VS ") && found.contains("Mend: put (rptN)nop"), true)?;
    same("mark in the list", browser.text("#row-0 .finding")?.contains("1"), true)?;
    is_quiet(&browser, &path("broken.html"))
}

/// The address selects a draw and a pixel, follows the selection, and goes back and forward.
fn an_address_selects_draw_and_pixel() -> Outcome {
    let mut browser = Browser::at(&format!("file://{}#f339@128,127", page().display()))?;
    let selected = "[role=treeitem][aria-selected=true] b";
    browser.wait("document.querySelector('#history-title').textContent.includes('128, 127')")?;
    same("draw of the address", browser.text(selected)?.as_str(), "f339")?;
    browser.press("j")?;
    browser.wait("location.hash === '#f340@128,127'")?;
    browser.value("history.back()")?;
    browser.wait(&format!("document.querySelector('{selected}')?.textContent === 'f339'"))?;
    browser.value("history.forward()")?;
    browser.wait(&format!("document.querySelector('{selected}')?.textContent === 'f340'"))?;
    browser.value("location.hash = '#f5', 0")?;
    browser.wait(&format!("document.querySelector('{selected}')?.textContent === 'f5'"))?;
    same("no pixel", browser.value("page.picture.pixel")?, Value::Null)
}

/// Groups of the list fold, buttons hide passes, and only what is in sight is in the document.
fn groups_fold_and_passes_hide() -> Outcome {
    let mut browser = Browser::open(page())?;
    let shown = "page.list.items.length";
    let all = browser.value(shown)?.as_u64().ok_or("no number")?;
    same("rows of the open pass, and heads", all, 601 + 1 + 2)?;
    let made = browser.value("document.querySelectorAll('#rows > *').length")?.as_u64();
    same("few are in the document", made.is_some_and(|made| made < 60), true)?;
    let pressed = "document.querySelector('#passes [data-pass=gmem]').getAttribute('aria-pressed')";
    let title = "document.querySelector('#draws-title').textContent";
    same("all are listed", browser.value(title)?, json!("Frame draws (603)"))?;
    browser.click("#passes [data-pass=resolve]")?;
    same("the others are hidden", browser.value(pressed)?, json!("false"))?;
    same("what is left", browser.value("page.list.shown.length")?, json!(2))?;
    same("how many of how many", browser.value(title)?, json!("Frame draws (2 of 603)"))?;
    browser.value("document.querySelector('#passes [data-pass=gmem]').dispatchEvent(new MouseEvent('click', { ctrlKey: true, bubbles: true }))")?;
    same("added", browser.value("page.list.shown.length")?, json!(603))?;
    browser.click("#passes [data-pass=gmem]")?;
    same("alone", browser.value(title)?, json!("Frame draws (601 of 603)"))?;
    browser.click("#passes [data-pass=gmem]")?;
    same("all again", browser.value(title)?, json!("Frame draws (603)"))?;
    browser.value("document.querySelector('#list').focus()")?;
    browser.press("ArrowLeft")?;
    same("folded", browser.value(shown)?, json!(1 + 2))?;
    browser.press("ArrowRight")?;
    same("unfolded", browser.value(shown)?, json!(all))?;
    browser.press("ArrowLeft")?;
    browser.press("k")?;
    same("a selected draw unfolds", browser.value(shown)?, json!(all))?;
    // The strip of costs leads to the costliest draw of a column.
    browser.click("#strip")?;
    let costs = "page.frame.draws[page.row].row.share >= page.frame.draws[page.row - 1].row.share";
    same("costliest", browser.value(&format!("page.row > 250 && page.row < 350 || {costs}"))?, json!(true))?;
    is_quiet(&browser, page())
}

fn a_narrow_screen_needs_no_sideways_scroll() -> Outcome {
    let mut browser = Browser::open(page())?;
    for width in [390, 768] {
        let metrics = json!({ "width": width, "height": 844, "deviceScaleFactor": 1, "mobile": true });
        browser.command("Emulation.setDeviceMetricsOverride", metrics)?;
        browser.value("page.picture.pick({ x: 128, y: 128 }), 0")?;
        browser.wait("!document.querySelector('#events').hidden")?;
        same("width", browser.value("document.documentElement.scrollWidth")?, json!(width))?;
    }
    is_quiet(&browser, page())
}

/// Separators move by arrow keys and by dragging.
fn splitters_move() -> Outcome {
    let mut browser = Browser::open(page())?;
    let width = "Math.round(document.querySelector('#draws').getBoundingClientRect().width)";
    let before = browser.value(width)?.as_i64().ok_or("no number")?;
    browser.value("document.querySelector('[data-size=left]').focus()")?;
    browser.press("ArrowRight")?;
    same("width", browser.value(width)?.as_i64(), Some(before + 24))?;
    let value = "Number(document.querySelector('[data-size=left]').getAttribute('aria-valuenow'))";
    same("value that a screen reader reads", browser.value(value)?.as_i64(), Some(before + 24))?;
    is_quiet(&browser, page())
}

/// A row of the history opens, and says what does not fit a line.
fn an_event_opens() -> Outcome {
    let mut browser = Browser::open(page())?;
    browser.value("page.picture.pick({ x: 128, y: 128 }), 0")?;
    browser.wait("!document.querySelector('#events').hidden")?;
    let rows = "document.querySelectorAll('#events tbody tr').length";
    let closed = browser.value(rows)?.as_u64().ok_or("no number")?;
    browser.click("#events tbody tr:last-child .fold")?;
    same("one more row", browser.value(rows)?, json!(closed + 1))?;
    same("what it says", browser.text("#events .more")?.contains("a4emu pixel"), true)?;
    browser.click("#events tbody tr:nth-last-child(2) .fold")?;
    same("closed again", browser.value(rows)?, json!(closed))?;
    is_quiet(&browser, page())
}

fn main() {
    let has_browser = std::process::Command::new("chromium").arg("--version").output().is_ok();
    let can_be_had = std::env::var_os("A4EMU_NO_BROWSER").is_none();
    let must_be_there = can_be_had && std::env::var("CI").is_ok_and(|value| value == "true");
    let named = |name: &str| {
        let missing = if has_browser { "" } else { " (no chromium: apt-get install chromium)" };
        format!("{name}{missing}")
    };
    // Under CI the test fails instead, because ignored tests are easily missed there.
    let is_ignored = !has_browser && !must_be_there;
    let trial =
        |name: &str, test: fn() -> Outcome| Trial::test(named(name), test).with_ignored_flag(is_ignored);
    let agreeing = agreement::CAPTURES.map(|capture| {
        let name = named(&format!("report_serve_and_pixel_agree: {capture}"));
        Trial::test(name, move || agreement::check(capture)).with_ignored_flag(is_ignored)
    });
    let mut trials = vec![
        trial("a_click_shows_state_and_picture", a_click_shows_state_and_picture),
        trial("a_click_shows_the_history_of_a_pixel", a_click_shows_the_history_of_a_pixel),
        trial("search_finds_a_register", search_finds_a_register),
        trial("keys_select_draws", keys_select_draws),
        trial("keys_reach_everything", keys_reach_everything),
        trial("a_report_has_no_controls_of_serve", a_report_has_no_controls_of_serve),
        trial("a_lane_is_stepped_through", live::a_lane_is_stepped_through),
        trial("a_draw_is_edited", live::a_draw_is_edited),
        trial("a_register_is_explained", live::a_register_is_explained),
        trial("findings_say_what_mends_them", findings_say_what_mends_them),
        trial("a_game_agrees", agreement::a_game_agrees),
        trial("an_address_selects_draw_and_pixel", an_address_selects_draw_and_pixel),
        trial("groups_fold_and_passes_hide", groups_fold_and_passes_hide),
        trial("a_narrow_screen_needs_no_sideways_scroll", a_narrow_screen_needs_no_sideways_scroll),
        trial("an_event_opens", an_event_opens),
        trial("splitters_move", splitters_move),
        trial("the_search_knows_fields_and_values", looks::the_search_knows_fields_and_values),
        trial("the_first_look_explains_itself", looks::the_first_look_explains_itself),
        trial("parts_of_textures_are_shown", looks::parts_of_textures_are_shown),
        trial("vertices_are_a_table", looks::vertices_are_a_table),
        trial("stages_have_tables", looks::stages_have_tables),
        trial("positions_without_w_are_drawn", looks::positions_without_w_are_drawn),
        trial("a_draw_without_primitives_has_tables", looks::a_draw_without_primitives_has_tables),
        trial("a_narrow_screen_shows_the_picture_first", looks::a_narrow_screen_shows_the_picture_first),
        trial("a_stored_page_lists_what_a_draw_names", memory::a_stored_page_lists_what_a_draw_names),
        trial("a_served_page_lists_any_range", memory::a_served_page_lists_any_range),
        trial("light_and_dark", light_and_dark),
        trial("a_hostile_name_is_text", a_hostile_name_is_text),
    ];
    trials.extend(agreeing);
    trials.push(match npm::installed("axe-core", "4.14.1") {
        Ok(axe) => Trial::test("axe_finds_nothing", move || accessible::axe_finds_nothing(&axe))
            .with_ignored_flag(is_ignored),
        Err(why) if must_be_there => Trial::test("axe_finds_nothing", move || Err(why.into())),
        Err(why) => Trial::test(format!("axe_finds_nothing ({why})"), || Ok(())).with_ignored_flag(true),
    });
    let conclusion = libtest_mimic::run(&Arguments::from_args(), trials);
    devtools::end();
    conclusion.exit();
}
