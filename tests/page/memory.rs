//! The tab of memory: on a stored page the start of each range that a draw names, under `serve` any range.

use serde_json::{Value, json};
use tempfile::TempDir;

use super::devtools::Browser;
use super::{Outcome, a4emu, captures, live, looks, same, text};

/// `memory --json` of a capture of the repository.
fn memory(capture: &str, rest: &[&str]) -> Result<Value, libtest_mimic::Failed> {
    let capture = captures().join(format!("{capture}.rd.gz"));
    let head = ["memory", text(&capture), "--json", "-q"];
    Ok(serde_json::from_slice(&a4emu(&[&head[..], rest].concat()))?)
}

/// The cells of each row of the table `id`.
fn cells(browser: &mut Browser, id: &str) -> Result<Value, libtest_mimic::Failed> {
    browser.value(&format!(
        "Array.from(document.querySelectorAll('#{id} tbody tr'), row => Array.from(row.cells, cell => cell.textContent))"
    ))
}

/// The cells that the rows of an answer of `memory` make.
fn expected(answer: &Value) -> Vec<Vec<String>> {
    let rows = answer["rows"].as_array().expect("rows");
    let text = |value: &Value| value.as_str().unwrap_or("?").to_owned();
    let values = |row: &Value, key: &str| -> Vec<String> {
        row[key].as_array().map(|values| values.iter().map(text).collect()).unwrap_or_default()
    };
    let lines = rows.iter().flat_map(|row| {
        let address = format!("{:#010x}", row["address"].as_u64().expect("a number"));
        let element: Vec<String> = row["element"].as_str().map(str::to_owned).into_iter().collect();
        let blank = element.iter().map(|_| String::new());
        let was: Vec<String> =
            ["was".to_owned()].into_iter().chain(blank).chain(values(row, "before")).collect();
        let now = [address].into_iter().chain(element).chain(values(row, "values")).collect();
        [Some(now), row["before"].is_array().then_some(was)]
    });
    lines.flatten().collect()
}

fn choose(browser: &mut Browser, id: &str, value: &str) -> Outcome {
    let script = format!(
        "(select => {{ select.value = {}; select.onchange(); }})(document.querySelector('#{id}'))",
        json!(value)
    );
    browser.value(&script).map(drop)
}

/// Each range that a draw names, in two forms, as `memory` lists it before the draw.
pub fn a_stored_page_lists_what_a_draw_names() -> Outcome {
    let folder = TempDir::new()?;
    let page = looks::page_of("cube", &folder);
    let mut browser = Browser::open(&page)?;
    browser.value("location.hash = '#f1', 0")?;
    browser
        .wait("page.details.draw?.id === 1 && document.querySelector('#state .section details') !== null")?;
    browser
        .value("document.querySelectorAll('#state .section details').forEach(part => part.open = true), 0")?;
    browser.wait("document.querySelector('#state .link[data-address]') !== null")?;
    // From an address of the state to the bytes there.
    browser.value("document.querySelector('#state .link[data-address]').click(), 0")?;
    browser.wait("!document.querySelector('#memory').hidden && document.querySelector('#bytes') !== null")?;
    let title = browser.text("#memory-title")?;
    same(
        &title,
        title.starts_with("vertex input 0: 768 bytes at 0xfff5f000 before f1, VFMT4_32_32_32_FLOAT"),
        true,
    )?;
    for place in ["vertex input 0", "indices", "FS texture 0"] {
        choose(&mut browser, "memory-place", place)?;
        // Texels are no floats: JavaScript writes the exponents of such in its own way.
        let floats = if place == "FS texture 0" { "words" } else { "floats" };
        for form in ["", "words", floats, "bytes"] {
            choose(&mut browser, "memory-form", form)?;
            // The page has the first bytes.
            let (range, form) =
                (format!("{place}+{}", if place == "indices" { 72 } else { 256 }), ["--as", form]);
            let form = if form[1].is_empty() { &[][..] } else { &form[..] };
            let answer = memory("cube", &[&[&range, "--draw", "f1", "--before"], form].concat())?;
            same(&range, cells(&mut browser, "bytes")?, json!(expected(&answer)))?;
        }
        choose(&mut browser, "memory-form", "")?;
    }
    let note = browser.text("#memory")?;
    same(&note, note.contains("a4emu memory cube.rd.gz 'FS texture 0' --draw f1 --before --who"), true)?;
    // A command without memory says so.
    browser.value("location.hash = '#f0', 0")?;
    browser
        .wait("page.details.draw?.id === 0 && document.querySelector('#memory-title').textContent !== '…'")?;
    same("console", browser.complaints(), Vec::new())
}

/// Under `serve`: after a dispatch, what it changed, who used it, and what is no memory.
pub fn a_served_page_lists_any_range() -> Outcome {
    let (_server, mut browser) = live::open(&captures().join("compute.rd.gz"))?;
    browser.wait("window.page?.details.draw !== undefined")?;
    browser.value("location.hash = '#f0', page.showTab('memory'), 0")?;
    browser.wait("document.querySelector('#bytes') !== null && page.details.draw.id === 0")?;
    let ask = |browser: &mut Browser, range: &str, until: &str| -> Outcome {
        browser.value(&format!("document.querySelector('#memory-range').value = {}, 0", json!(range)))?;
        browser.click("#memory form button")?;
        browser
            .wait(&format!("document.querySelector('#memory-title').textContent.includes({})", json!(until)))
    };
    ask(&mut browser, "buffer CS 0+4K", "4096 bytes at 0xfff63000 before f0")?;
    choose(&mut browser, "memory-when", "after")?;
    browser.wait("document.querySelector('#memory-title').textContent.includes('after f0')")?;
    browser.click("#memory-changed")?;
    browser.wait("document.querySelector('#memory-title').textContent.endsWith('changed')")?;
    let answer = memory("compute", &["buffer CS 0+4K", "--draw", "f0", "--changed", "f0"])?;
    same("some changed", answer["changed"].as_u64() > Some(0), true)?;
    same("rows with what was there", cells(&mut browser, "bytes")?, json!(expected(&answer)))?;
    browser.click("#memory-who")?;
    browser.wait("document.querySelector('#users') !== null")?;
    let users = browser.text("#users")?;
    same(&users, users.contains("CS buffer 0") && users.contains("written"), true)?;
    browser.click("#memory-changed")?;
    ask(&mut browser, "no such thing", "names no memory")?;
    same("no rows", cells(&mut browser, "bytes")?, json!([]))
}
