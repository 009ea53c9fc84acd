//! The page of `report` and `serve` in a real browser: clicks and their effects. Without chromium the tests
//! are ignored, with the reason in their names; under CI they fail.

mod accessible;
mod devtools;
mod live;
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
    browser.value(&format!("document.querySelector('#list').scrollTop = {draw} * 46 - 200"))?;
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
    let json = a4emu(&["show", text(&many()), "--draw", "f339", "--json", "-q"]);
    let draw: Value = serde_json::from_slice(&json)?;
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
fn history() -> (Vec<(u64, &'static str)>, Vec<u8>) {
    let [x, y] = PIXEL;
    let json = a4emu(&["pixel", text(&many()), &format!("{x},{y}"), "--json", "-q"]);
    let history: Value = serde_json::from_slice(&json).expect("an object");
    let events = history["events"].as_array().expect("a list").iter();
    let word = |event: &Value| match event["verdict"].as_str().expect("a word") {
        "copied" | "scissored" | "culled" => None,
        "written" => Some("written"),
        "depth" | "stencil" => Some("failed depth or stencil"),
        "killed" | "alpha" => Some("killed by the shader or the alpha test"),
        _ => Some("covered, not written"),
    };
    let events = events.filter_map(|event| Some((event["frame_draw"].as_u64()?, word(event)?))).collect();
    let value = history["value"].as_array().expect("a colour").iter();
    (events, value.map(|part| (part.as_f64().expect("a number") * 255.0).round() as u8).collect())
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
    let expected: Vec<_> = events.iter().map(|(draw, what)| json!([format!("f{draw}"), what])).collect();
    let found: Vec<_> = rows.iter().map(|row| json!([row[0], row[1]])).collect();
    same("history", found, expected)?;
    let last: Vec<_> = value.iter().map(u8::to_string).collect();
    same("colour in the end", rows.last().ok_or("no rows")?[3].as_str(), Some(last.join(" ").as_str()))?;
    browser.click("#events tbody tr:last-child button")?;
    let selected = browser.text("[role=option][aria-selected=true] b")?;
    same("draw that a row leads to", Some(selected.as_str()), rows.last().and_then(|row| row[0].as_str()))?;
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
    for (key, expected) in [("j", "f1"), ("j", "f2"), ("k", "f1"), ("ArrowDown", "f2")] {
        browser.press(key)?;
        same(key, browser.text("[role=option][aria-selected=true] b")?.as_str(), expected)?;
    }
    let active = "document.getElementById('list').getAttribute('aria-activedescendant')";
    same("option that a screen reader reads", browser.value(active)?, json!("row-2"))?;
    browser.press("/")?;
    browser.type_text("jf3")?;
    same("typed into the search", browser.value("document.activeElement.value")?, json!("jf3"))?;
    same("and nowhere else", browser.text("[role=option][aria-selected=true] b").is_err(), true)?;
    browser.press("Escape")?;
    browser.press("j")?;
    same("after the search", browser.text("[role=option][aria-selected=true] b")?.as_str(), "f3")?;
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
        same(key, browser.text("[role=option][aria-selected=true] b")?.as_str(), expected)?;
    }
    is_quiet(&browser, page())
}

/// A report has no server, so controls that need one are missing.
fn a_report_has_no_controls_of_serve() -> Outcome {
    let mut browser = Browser::open(page())?;
    let tabs = browser.value("Array.from(document.querySelectorAll('[role=tab]'), tab => tab.id)")?;
    same("tabs", tabs.as_array().map(Vec::len), Some(6))?;
    same("page without them", fs::read_to_string(page())?.contains("step-stage"), false)?;
    browser.value("page.showTab('mesh')")?;
    browser.value("page.select(page.frame.draws.findIndex(draw => draw.row.pass === 'resolve'))")?;
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

fn main() {
    let has_browser = std::process::Command::new("chromium").arg("--version").output().is_ok();
    let can_be_had = std::env::var_os("A4EMU_NO_BROWSER").is_none();
    let must_be_there = can_be_had && std::env::var("CI").is_ok_and(|value| value == "true");
    let trial = |name: &str, test: fn() -> Outcome| {
        let missing = if has_browser { "" } else { " (no chromium: apt-get install chromium)" };
        // Under CI the test fails instead, because ignored tests are easily missed there.
        Trial::test(format!("{name}{missing}"), test).with_ignored_flag(!has_browser && !must_be_there)
    };
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
        trial("light_and_dark", light_and_dark),
        trial("a_hostile_name_is_text", a_hostile_name_is_text),
    ];
    trials.push(match npm::installed("axe-core", "4.14.1") {
        Ok(axe) => Trial::test("axe_finds_nothing", move || accessible::axe_finds_nothing(&axe))
            .with_ignored_flag(!has_browser && !must_be_there),
        Err(why) if must_be_there => Trial::test("axe_finds_nothing", move || Err(why.into())),
        Err(why) => Trial::test(format!("axe_finds_nothing ({why})"), || Ok(())).with_ignored_flag(true),
    });
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
