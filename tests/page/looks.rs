//! What a newcomer sees: captions, counts, words, the search, parts of textures, the tables of vertices.

use std::path::PathBuf;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::devtools::Browser;
use super::{Outcome, a4emu, captures, click_draw, is_quiet, live, page, same, text};

/// The page of a capture of the repository.
pub fn page_of(capture: &str, folder: &TempDir) -> PathBuf {
    let page = folder.path().join(format!("{capture}.html"));
    a4emu(&["report", text(&captures().join(format!("{capture}.rd.gz"))), "-o", text(&page), "-q"]);
    page
}

fn search(browser: &mut Browser, query: &str) -> Outcome {
    browser.value(&format!("document.querySelector('#query').value = {}, page.find(), 0", json!(query)))?;
    browser.value("page.finding.then(() => 0)").map(drop)
}

/// The frame draws for which a field of the state of `show` has a value.
fn draws_with(capture: &str, is_it: impl Fn(&Value) -> bool) -> Result<Vec<u64>, libtest_mimic::Failed> {
    let capture = captures().join(format!("{capture}.rd.gz"));
    let rows: Value = serde_json::from_slice(&a4emu(&["show", text(&capture), "--json", "-q"]))?;
    let mut found = Vec::new();
    for row in rows["rows"].as_array().ok_or("no rows")? {
        let id = row["frame_draw"].as_u64().ok_or("no number")?;
        let draw = a4emu(&["show", text(&capture), "--draw", &format!("f{id}"), "--json", "-q"]);
        if is_it(&serde_json::from_slice(&draw)?) {
            found.push(id);
        }
    }
    Ok(found)
}

const LISTED: &str = "page.list.shown.map(row => page.frame.draws[row].id)";

/// The search finds registers, fields and values of fields, and says why it finds nothing.
pub fn the_search_knows_fields_and_values() -> Outcome {
    let folder = TempDir::new()?;
    let mut browser = Browser::open(&page_of("stencil", &folder))?;
    let func = |name: &'static str| move |draw: &Value| draw["stencil"]["front"]["func"] == name;
    for (query, func) in [
        ("RB_STENCIL_CONTROL.FUNC=NOTEQUAL", func("FUNC_NOTEQUAL")),
        ("rb_stencil_control.func = func_notequal", func("FUNC_NOTEQUAL")),
    ] {
        search(&mut browser, query)?;
        let expected = draws_with("stencil", func)?;
        same("some draws have it, and not all", expected.is_empty(), false)?;
        same(query, browser.value(LISTED)?, json!(expected))?;
    }
    search(&mut browser, "RB_STENCIL_CONTROL.FUNC")?;
    same("draws before which it is written", browser.value(&format!("{LISTED}.length > 0"))?, json!(true))?;
    search(&mut browser, "RB_STENCIL_CONTROL.FUNC=FUNC_GREATER")?;
    same("none", browser.value(LISTED)?, json!([]))?;
    let said = browser.text("#nothing")?;
    same(&said, said.contains("No draw runs with") && said.contains("FUNC_GREATER"), true)?;
    let active = "document.querySelector('#list').hasAttribute('aria-activedescendant')";
    same("no row is active where none is listed", browser.value(active)?, json!(false))?;
    search(&mut browser, "no such thing")?;
    let said = browser.text("#nothing")?;
    same(&said, said.contains("ZFUNC=LESS"), true)?;
    same("seen", browser.value("document.querySelector('#nothing').hidden")?, json!(false))?;
    search(&mut browser, "f1")?;
    same("hidden again", browser.value("document.querySelector('#nothing').hidden")?, json!(true))
}

/// Captions, counts of what is listed, words of the glossary, and the hottest draw.
pub fn the_first_look_explains_itself() -> Outcome {
    let mut browser = Browser::open(page())?;
    let shown: Value = serde_json::from_slice(&a4emu(&["show", text(&super::many()), "--json", "-q"]))?;
    let rows = shown["rows"].as_array().ok_or("no rows")?;
    let hottest =
        rows.iter().max_by(|a, b| a["share"].as_f64().partial_cmp(&b["share"].as_f64()).expect("numbers"));
    let hottest = hottest.ok_or("no rows")?["frame_draw"].as_u64().ok_or("no number")?;
    same("hottest", browser.text("#hottest")?.starts_with(&format!("Hottest: f{hottest}, ")), true)?;
    browser.click("#hottest")?;
    same("it is selected", browser.text("[role=treeitem][aria-selected=true] b")?, format!("f{hottest}"))?;
    same("its mark", browser.text("[role=treeitem][aria-selected=true] .hot")?.contains("hottest"), true)?;
    let gmem = browser.value("document.querySelector('#passes [data-pass=gmem]').title")?;
    let word: Value = serde_json::from_slice(&a4emu(&["explain", "gmem", "--json"]))?;
    let word = word["terms"][0]["text"].as_str().ok_or("no text")?;
    same("word of the glossary", gmem.as_str().is_some_and(|title| title.contains(word)), true)?;
    same("words in the help", browser.text("#words")?.contains(word), true)?;
    // The whole strip, a part of it, and the whole again.
    let length = "page.strip.length";
    let all = browser.value(length)?.as_f64().ok_or("no number")?;
    browser.value("document.querySelector('#strip').focus()")?;
    browser.press("+")?;
    same("half", browser.value(length)?.as_f64(), Some(all / 2.0))?;
    same(
        "the selected draw stays in sight",
        browser.value("page.strip.from <= page.row && page.row < page.strip.from + page.strip.length")?,
        json!(true),
    )?;
    browser.click("#strip-all")?;
    same("all", browser.value(length)?.as_f64(), Some(all))?;
    // Constants have the names that instructions have.
    click_draw(&mut browser, super::DRAW)?;
    browser.wait("page.details.draw.id === 339 && document.querySelector('#state .changes li') !== null")?;
    let changes = browser.text("#state .changes")?;
    same(&changes, changes.contains("FS c0.") && !changes.contains("shaders["), true)?;
    is_quiet(&browser, page())
}

/// The bytes of a picture that `show --textures` writes, in RGBA.
fn written(
    capture: &str,
    draw: &str,
    options: &[&str],
    file: &str,
) -> Result<Vec<u8>, libtest_mimic::Failed> {
    let folder = TempDir::new()?;
    let capture = captures().join(format!("{capture}.rd.gz"));
    let arguments = ["show", text(&capture), "--draw", draw, "-q", "--textures", text(folder.path())];
    a4emu(&[&arguments[..], options].concat());
    let bytes = std::fs::read(folder.path().join(file))?;
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info()?;
    let mut pixels = vec![0; reader.output_buffer_size().ok_or("a size")?];
    reader.next_frame(&mut pixels)?;
    Ok(pixels)
}

/// The texels that the first texture's view shows, in RGBA.
fn texels(browser: &mut Browser) -> Result<Vec<u8>, libtest_mimic::Failed> {
    let script = "(view => {
        const copy = new OffscreenCanvas(view.width, view.height).getContext('2d', { willReadFrequently: true });
        copy.drawImage(view, 0, 0);
        return btoa(Array.from(copy.getImageData(0, 0, view.width, view.height).data, byte => String.fromCharCode(byte)).join(''));
    })(document.querySelector('#textures canvas.texels'))";
    Ok(STANDARD.decode(browser.value(script)?.as_str().unwrap_or_default())?)
}

/// Chooses a part of the first texture.
fn choose(browser: &mut Browser, part: &str, index: u32) -> Outcome {
    browser.value(&format!(
        "(select => {{ select.selectedIndex = {index}; select.onchange(); }})(document.querySelector('#textures [data-part={part}]'))"
    ))?;
    Ok(())
}

fn check_textures(browser: &mut Browser, capture: &str, draw: &str, faces: bool) -> Outcome {
    let part = if faces { "layer" } else { "level" };
    browser.value("page.showTab('textures'), 0")?;
    for index in [1, 2] {
        choose(browser, part, index)?;
        let path = if faces { format!("0/{index}/0") } else { format!("{index}/0/0") };
        browser.wait(&format!("document.querySelector('#textures figure').dataset.shown?.endsWith('/{path}') && !document.querySelector('#textures canvas.texels').hidden"))?;
        let option = format!("--{part}");
        let file =
            if faces { format!("FS0-level0-layer{index}.png") } else { format!("FS0-level{index}.png") };
        let index = index.to_string();
        let expected = written(capture, draw, &[&option, &index, "--channels", "RGB"], &file)?;
        same(&file, texels(browser)? == expected, true)?;
        // Red alone is grey, from its least to its greatest value.
        browser.value("document.querySelectorAll('#textures figure [aria-label=Green], #textures figure [aria-label=Blue]').forEach(button => button.click())")?;
        browser.value("document.querySelector('#textures [data-range=fit]').click()")?;
        let expected =
            written(capture, draw, &[&option, &index, "--channels", "r", "--range", "fit"], &file)?;
        let near = texels(browser)?.iter().zip(&expected).all(|(a, b)| a.abs_diff(*b) <= 1);
        same("red alone, fitted", near, true)?;
        browser.value("document.querySelectorAll('#textures figure [aria-label=Green], #textures figure [aria-label=Blue]').forEach(button => button.click())")?;
        browser.value("document.querySelector('#textures [data-range=whole]').click()")?;
    }
    // The texel under the pointer, with its address.
    browser.value("document.querySelector('#textures canvas.texels').focus()")?;
    for key in ["ArrowRight", "ArrowRight", "ArrowDown", "ArrowDown"] {
        browser.press(key)?;
    }
    let said = browser.text("#textures output.texel")?;
    let places = browser.value("(({ texture: { places }, chosen }) => [places, chosen])({ texture: page.frame.textures[page.details.draw.texture_use[0]], chosen: page.frame.textureChoices[page.details.draw.texture_use[0]] })")?;
    let number = |value: &Value| value.as_u64().expect("a number");
    let (place, chosen) = (&places[0], &places[1]);
    let level = &place["levels"][number(&chosen["level"]) as usize];
    same("row by row, one texel a block", [&place["tile"], &place["block"][0]], [&json!(1), &json!(1)])?;
    let at = said.split(',').next().and_then(|x| x.parse::<u64>().ok()).ok_or("no column")?;
    let row = said.split([',', ':']).nth(1).and_then(|y| y.trim().parse::<u64>().ok()).ok_or("no row")?;
    let address = number(&place["base"])
        + number(&level[0])
        + number(&chosen["layer"]) * number(&level[2])
        + row * number(&level[1])
        + at * number(&place["block"][2]);
    same(&said, said.ends_with(&format!("at {address:#010x}")), true)
}

/// Levels and faces on a stored page and under `serve`, through channels and a range: as `show --textures` writes them.
pub fn parts_of_textures_are_shown() -> Outcome {
    let folder = TempDir::new()?;
    for (capture, faces) in [("mipmap", false), ("cubemap", true)] {
        let mut browser = Browser::open(&page_of(capture, &folder))?;
        let has_parts = "(draw => draw?.texture_use.some(key => page.frame.textures[key].layers.concat(page.frame.textures[key].layers[0] - 1).some((layers, at) => at > 0 && layers > 0)))";
        let row = format!("page.select(page.frame.draws.findIndex({has_parts})), 0");
        let row = row.as_str();
        browser.value(row)?;
        browser.wait(&format!("{has_parts}(page.details.draw)"))?;
        let draw = format!("f{}", browser.value("page.details.draw.id")?);
        check_textures(&mut browser, capture, &draw, faces)?;
        same("console", browser.complaints(), Vec::new())?;
        let (_server, mut browser) = live::open(&captures().join(format!("{capture}.rd.gz")))?;
        browser.value(row)?;
        browser.wait(&format!("{has_parts}(page.details.draw)"))?;
        check_textures(&mut browser, capture, &draw, faces)?;
    }
    Ok(())
}

/// The vertices as a table: as `show --mesh` has them, linked with the drawing both ways, and as a file.
pub fn vertices_are_a_table() -> Outcome {
    let folder = TempDir::new()?;
    let page = page_of("cube", &folder);
    let capture = captures().join("cube.rd.gz");
    let csv = String::from_utf8(a4emu(&["show", text(&capture), "--draw", "f1", "--mesh", "-", "-q"]))?;
    let mut lines = csv.lines();
    let head = lines.next().ok_or("no head")?;
    let rows: Vec<Vec<f64>> = lines
        .map(|line| line.split(',').skip(1).map(|value| value.parse().expect("a number")).collect())
        .collect();
    for is_live in [false, true] {
        let (server, mut browser) = match is_live {
            false => (None, Browser::open(&page)?),
            true => live::open(&capture).map(|(server, browser)| (Some(server), browser))?,
        };
        browser.value(
            "page.select(page.frame.draws.findIndex(draw => draw.id === 1)), page.showTab('mesh'), 0",
        )?;
        browser
            .wait("document.querySelector('#vertices tbody tr') !== null && page.details.draw.id === 1")?;
        let names = browser.value(
            "Array.from(document.querySelectorAll('#vertices th'), cell => cell.textContent).join()",
        )?;
        same("columns", names.as_str(), Some(head))?;
        let table = browser.value("Array.from(document.querySelectorAll('#vertices tbody tr'), row => Array.from(row.cells, cell => Number(cell.textContent)))")?;
        let table: Vec<Vec<f64>> = serde_json::from_value(table)?;
        // The table has each vertex once; the file has them in drawing order.
        let known = |row: &Vec<f64>| {
            table
                .iter()
                .any(|vertex| vertex[1..].iter().zip(row).all(|(a, b)| (a - b).abs() <= b.abs() * 1e-6))
        };
        same("each vertex of the file is in the table", rows.iter().all(known) && !table.is_empty(), true)?;
        // From the table to the drawing, and back.
        browser.click("#vertices tbody tr:nth-child(3) button")?;
        same("chosen", browser.value("page.details.mesh.chosen")?, json!(2))?;
        let place = "(([x, y]) => [x, y])(page.details.mesh.flat(page.details.mesh.points[1]))";
        let place = browser.value(place)?;
        let [x, y] = [0, 1].map(|axis| place[axis].as_f64().expect("a number"));
        browser.value("document.querySelector('#mesh-view').scrollIntoView()")?;
        browser.click_in("#mesh-view", [x as u32, y as u32])?;
        let same_place = "((mesh, at) => mesh.points.flatMap((point, vertex) => point && Math.hypot(mesh.flat(point)[0] - at[0], mesh.flat(point)[1] - at[1]) < 2 ? [vertex] : []))";
        let near = browser.value(&format!("{same_place}(page.details.mesh, {place})"))?;
        let chosen = browser.value("page.details.mesh.chosen")?;
        same("a vertex at this place", near.as_array().is_some_and(|all| all.contains(&chosen)), true)?;
        same(
            "its row",
            browser.value("Number(document.querySelector('#vertices .now').dataset.vertex)")?,
            chosen,
        )?;
        let saved = "new Promise(done => {
            const make = URL.createObjectURL;
            URL.createObjectURL = (blob) => (blob.text().then(done), make(blob));
            document.querySelector('#mesh-csv').click();
        })";
        let saved = browser.value(saved)?;
        same("file", saved.as_str().and_then(|text| text.lines().next()), Some(head))?;
        drop(server);
    }
    Ok(())
}

/// On a narrow screen the picture comes first, and the history of a pixel comes into sight.
pub fn a_narrow_screen_shows_the_picture_first() -> Outcome {
    let mut browser = Browser::open(page())?;
    let metrics = json!({ "width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": true });
    browser.command("Emulation.setDeviceMetricsOverride", metrics)?;
    let top = |name: &str| format!("document.querySelector('#{name}').getBoundingClientRect().top");
    same("picture first", browser.value(&format!("{} < {}", top("picture"), top("draws")))?, json!(true))?;
    browser.value("page.picture.pick({ x: 128, y: 128 }), 0")?;
    browser.wait("!document.querySelector('#events').hidden")?;
    browser.wait(&format!("{} < innerHeight - 100", top("history")))?;
    // The newest event is in sight.
    let last = "document.querySelector('#events tbody tr:last-child').getBoundingClientRect()";
    let inside = "document.querySelector('#events').parentElement.getBoundingClientRect()";
    browser.wait(&format!("{last}.bottom <= {inside}.bottom + 1"))
}

/// What each stage takes and makes: as `show --mesh-of` has it, linked with the drawing both ways and with each other,
/// and as a file.
pub fn stages_have_tables() -> Outcome {
    let folder = TempDir::new()?;
    let (source, capture) = (captures().join("geometry/tess-gs.a4"), folder.path().join("tess-gs.rd"));
    a4emu(&["asm", text(&source), "--include", text(&captures()), "-o", text(&capture), "-q"]);
    let page = folder.path().join("tess-gs.html");
    a4emu(&["report", text(&capture), "-o", text(&page), "-q"]);
    let cells = "Array.from(document.querySelectorAll('#vertices tbody tr'), row => Array.from(row.cells, cell => cell.textContent))";
    let chosen = "page.details.mesh.chosen";
    for is_live in [false, true] {
        let (server, mut browser) = match is_live {
            false => (None, Browser::open(&page)?),
            true => live::open(&capture).map(|(server, browser)| (Some(server), browser))?,
        };
        browser.value(
            "page.select(page.frame.draws.findIndex(draw => draw.id === 1)), page.showTab('mesh'), 0",
        )?;
        browser.wait("document.querySelector('#mesh [data-side=gs]') !== null")?;
        let sides = "Array.from(document.querySelectorAll('#mesh [data-side]'), button => button.dataset.side).join()";
        same("sides", browser.value(sides)?, json!("in,vs,hs-inputs,hs,factors,ds,gs-inputs,gs,out"))?;
        for part in ["vs", "hs-inputs", "hs", "factors", "ds", "gs-inputs", "gs"] {
            turn(&mut browser, part)?;
            let shown = ["show", text(&capture), "--draw", "f1", "--mesh", "-", "--mesh-of", part, "-q"];
            let csv = String::from_utf8(a4emu(&shown))?;
            let expected: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
            let names = "Array.from(document.querySelectorAll('#vertices thead tr:last-child th'), cell => cell.textContent).slice(1)";
            same(part, browser.value(names)?, json!(expected[0]))?;
            let rows: Vec<Vec<String>> = serde_json::from_value(browser.value(cells)?)?;
            same("rows", rows.len(), expected.len() - 1)?;
            for (row, expected) in rows.iter().zip(&expected[1..]) {
                same(part, row[1..].iter().zip(expected).all(|(a, b)| is_same_cell(a, b)), true)?;
            }
            let saved = "new Promise(done => {
                const make = URL.createObjectURL;
                URL.createObjectURL = (blob) => (blob.text().then(done), URL.createObjectURL = make, make(blob));
                document.querySelector('#mesh-csv').click();
            })";
            let saved = browser.value(saved)?;
            same("file", saved.as_str().and_then(|text| text.lines().next()), csv.lines().next())?;
            // From the table to the drawing, and back: a point belongs to the row, and the first row of its own to it.
            browser.click("#vertices tbody tr:last-child button")?;
            same("chosen", browser.value(chosen)?, json!(expected.len() - 2))?;
            let belongs = "((mesh) => mesh.points.findIndex((_, point) => mesh.isOf(mesh.chosen)(point)))(page.details.mesh)";
            let point = browser.value(belongs)?;
            same("a point is marked", point.as_i64() >= Some(0), true)?;
            browser.value("document.querySelector('#mesh-view').scrollIntoView()")?;
            let place =
                browser.value(&format!("page.details.mesh.flat(page.details.mesh.points[{point}])"))?;
            let [x, y] = [0, 1].map(|axis| place[axis].as_f64().expect("a number"));
            browser.value("page.details.mesh.choose(null), 0")?;
            browser.click_in("#mesh-view", [x as u32, y as u32])?;
            browser.wait(&format!("{chosen} !== null"))?;
            let marked = "((mesh) => mesh.points.findIndex((_, point) => mesh.isOf(mesh.chosen)(point)))(page.details.mesh)";
            let near = format!(
                "((mesh, at) => Math.hypot(mesh.flat(mesh.points[at])[0] - {x}, mesh.flat(mesh.points[at])[1] - {y}) < 3)(page.details.mesh, {marked})"
            );
            same(
                "what is there is chosen",
                browser.value(&near)? == json!(true) || part == "hs" || part == "factors",
                true,
            )?;
            same(
                "its row",
                browser.value("Number(document.querySelector('#vertices .now').dataset.vertex)")?,
                browser.value(chosen)?,
            )?;
        }
        // A vertex that the geometry shader makes leads to the corners of its primitive, and on to their points.
        turn(&mut browser, "gs")?;
        browser.click("#vertices tbody tr:nth-child(8) button")?;
        turn(&mut browser, "gs-inputs")?;
        let number = |name: &str| {
            format!(
                "((mesh) => mesh.tables[mesh.side].word(mesh.chosen, mesh.tables[mesh.side].column('{name}')))(page.details.mesh)"
            )
        };
        same("its primitive", browser.value(&number("primitive"))?, json!(2))?;
        let vertex = browser.value(&number("ds_vertex"))?;
        turn(&mut browser, "ds")?;
        same("its point", browser.value(chosen)?, vertex)?;
        same("console", browser.complaints(), Vec::new())?;
        drop(server);
    }
    Ok(())
}

/// Mesa's vertex shaders before a hull shader write no w: their positions are drawn as they are.
pub fn positions_without_w_are_drawn() -> Outcome {
    let folder = TempDir::new()?;
    let page = folder.path().join("grass.html");
    a4emu(&["report", text(&captures().join("geometry/gl-grass.rd.gz")), "-o", text(&page), "-q"]);
    let mut browser = Browser::open(&page)?;
    browser
        .value("page.select(page.frame.draws.findIndex(draw => draw.id === 1)), page.showTab('mesh'), 0")?;
    browser.wait("document.querySelector('#mesh [data-side=vs]') !== null")?;
    turn(&mut browser, "vs")?;
    let mesh = "(({ points, tables, side }) => [points.length, points.every(Boolean), tables[side].word(0, tables[side].column('position.w'))])(page.details.mesh)";
    same("drawn", browser.value(mesh)?, json!([8, true, 0]))
}

/// Shows the table of a stage.
fn turn(browser: &mut Browser, part: &str) -> Outcome {
    browser.click(&format!("#mesh [data-side={part}]"))?;
    browser.wait(&format!("page.details.mesh.side === '{part}' && page.details.mesh.tables !== null && document.querySelector('#vertices tbody tr') !== null"))
}

/// Whether cells have the same text, or the same number: JavaScript writes floats with fewer digits.
fn is_same_cell(page: &str, command: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok();
    match (number(page), number(command)) {
        (Some(a), Some(b)) => (a - b).abs() <= b.abs() * 1e-6,
        _ => page == command,
    }
}

/// A draw of which no primitive is left still shows what its stages made, and nothing of a draw without a mesh stays.
pub fn a_draw_without_primitives_has_tables() -> Outcome {
    let folder = TempDir::new()?;
    let (source, capture) = (captures().join("geometry/tess-gs.a4"), folder.path().join("none.rd"));
    let text_of =
        std::fs::read_to_string(source)?.replace("f32 4.0, 4.0, 4.0, 4.0", "f32 0.0, 4.0, 4.0, 4.0");
    let changed = folder.path().join("none.a4");
    std::fs::write(&changed, text_of)?;
    let include = captures().join("geometry");
    a4emu(&[
        "asm",
        text(&changed),
        "--include",
        text(&include),
        "--include",
        text(&captures()),
        "-o",
        text(&capture),
        "-q",
    ]);
    let page = folder.path().join("none.html");
    a4emu(&["report", text(&capture), "-o", text(&page), "-q"]);
    let mut browser = Browser::open(&page)?;
    browser
        .value("page.select(page.frame.draws.findIndex(draw => draw.id === 1)), page.showTab('mesh'), 0")?;
    browser.wait("document.querySelector('#mesh [data-side=factors]') !== null")?;
    turn(&mut browser, "factors")?;
    let row = "document.querySelector('#vertices tbody tr').textContent";
    same("culled", browser.value(row)?, json!("00004440"))?;
    same("console", browser.complaints(), Vec::new())
}
