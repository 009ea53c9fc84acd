//! `report`, `serve` and `pixel` have the same history of a pixel: the draws, what became of them, and the
//! colours before and after, in one notation.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::devtools::Browser;
use super::{Outcome, a4emu, captures, live, same, text};

/// Captures whose pages are compared.
pub const CAPTURES: [&str; 10] =
    ["attribs", "blend", "clip", "cube", "depth", "fbo", "many", "points", "stencil", "torus"];

/// Number of pixels of a capture.
const PIXELS: usize = 16;

/// Pseudo-random pixels of a picture, the same in each run.
fn pixels([width, height]: [u64; 2]) -> Vec<[u64; 2]> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |limit: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % limit
    };
    (0..PIXELS).map(|_| [next(width), next(height)]).collect()
}

/// The answers of `pixel` for these pixels.
fn answers(capture: &str, pixels: &[[u64; 2]]) -> Vec<Value> {
    let places: Vec<String> = pixels.iter().map(|[x, y]| format!("{x},{y}")).collect();
    let places: Vec<&str> = places.iter().map(String::as_str).collect();
    let out = a4emu(&[&["pixel", capture, "--json", "-q"][..], &places].concat());
    String::from_utf8(out)
        .expect("text")
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

/// A verdict of `pixel`.
fn word(event: &Value) -> &str {
    event["verdict"].as_str().expect("a word")
}

/// Whether the page's verdict has this word: where two tests of a draw can fail, a page without `serve` does not tell
/// them apart.
fn has_word(page: &Value, word: &Value) -> bool {
    let either = |text: &str| text.split(" or ").any(|each| Some(each) == word.as_str());
    page.as_str().is_some_and(either)
}

/// Whether both lists have the same words.
fn same_words(page: &Value, pixel: &Value) -> bool {
    let (Some(page), Some(pixel)) = (page.as_array(), pixel.as_array()) else { return false };
    page.iter().all(|page| pixel.iter().any(|word| has_word(page, word)))
        && pixel.iter().all(|word| page.iter().any(|page| has_word(page, word)))
}

fn color(values: &Value) -> String {
    let parts = values["color"].as_array().into_iter().flatten();
    parts.map(|part| format!("{:.4}", part.as_f64().expect("a number"))).collect::<Vec<_>>().join(" ")
}

/// What `pixel` says of each draw: verdicts, colour before its first primitive, and after its last.
fn by_draw(answer: &Value) -> Vec<Value> {
    let mut order = Vec::new();
    let mut draws: BTreeMap<u64, (Vec<&str>, String, String)> = BTreeMap::new();
    for event in answer["events"].as_array().expect("events") {
        let id = event["frame_draw"].as_u64().expect("a number");
        let (before, after) = (color(&event["before"]), color(&event["after"]));
        let (words, _, last) = draws.entry(id).or_insert_with(|| {
            order.push(id);
            (Vec::new(), before, String::new())
        });
        words.push(word(event));
        *last = after;
    }
    let of = |id: &u64| {
        let (words, before, after) = &draws[id];
        let mut words = words.clone();
        words.sort_unstable();
        words.dedup();
        json!([id, words, before, after])
    };
    order.iter().map(of).collect()
}

/// The stored history of each pixel, in the form of [`by_draw`].
fn stored(browser: &mut Browser, pixels: &[[u64; 2]]) -> Result<Vec<Vec<Value>>, libtest_mimic::Failed> {
    let script = format!(
        "(async () => {{
            const out = [], surface = page.surfaces[page.frame.draws[page.frame.first].canvas];
            for (const [x, y] of {}) {{
                const events = await page.history.stored(surface, x, y, () => true);
                out.push(events.map(({{ id, verdict, before, after }}) =>
                    [id, verdict.split(', ').sort(), valuesText(before.color), valuesText(after.color)]));
            }}
            return out;
        }})()",
        serde_json::to_string(pixels)?
    );
    let out = browser.value(&script)?;
    let lists =
        out.as_array().ok_or("no list")?.iter().map(|list| list.as_array().cloned().unwrap_or_default());
    Ok(lists.collect())
}

/// The answers of `serve` for each pixel.
fn served(browser: &mut Browser, pixels: &[[u64; 2]]) -> Result<Vec<Value>, libtest_mimic::Failed> {
    let script = format!(
        "(() => {{
            const canvas = page.frame.draws[page.frame.first].canvas;
            return Promise.all({}.map(([x, y]) => ask(`pixel?x=${{x}}&y=${{y}}&canvas=${{canvas}}`)));
        }})()",
        serde_json::to_string(pixels)?
    );
    Ok(browser.value(&script)?.as_array().ok_or("no list")?.clone())
}

/// Whether the page's list is that of `pixel`. An event of `pixel` without a colour says nothing of colours.
fn agree(page: &[Value], pixel: &[Value]) -> bool {
    let is_same = |(page, pixel): (&Value, &Value)| {
        let colors = |at: usize| pixel[at] == "" || pixel[at] == page[at];
        page[0] == pixel[0] && same_words(&page[1], &pixel[1]) && colors(2) && colors(3)
    };
    page.len() == pixel.len() && page.iter().zip(pixel).all(is_same)
}

/// `value` with all numbers as floats: JavaScript has no others.
fn plain(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(list) => list.iter().map(plain).collect(),
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), plain(value))).collect(),
        other => other.clone(),
    }
}

/// `report`, `serve` and `pixel` say the same about pixels of a capture.
pub fn check(name: &str) -> Outcome {
    let capture: PathBuf = captures().join(format!("{name}.rd.gz"));
    let first = &answers(text(&capture), &[[0, 0]])[0]["surface"];
    let pixels = pixels(["width", "height"].map(|side| first[side].as_u64().expect("a number")));
    check_pixels(&capture, &pixels)
}

fn check_pixels(capture: &Path, pixels: &[[u64; 2]]) -> Outcome {
    let name = capture.display();
    let folder = TempDir::new()?;
    let page = folder.path().join("page.html");
    a4emu(&["report", text(capture), "-o", text(&page), "-q"]);
    let answers = answers(text(capture), pixels);
    let mut browser = Browser::open(&page)?;
    for ((at, page), answer) in pixels.iter().zip(stored(&mut browser, pixels)?).zip(&answers) {
        let pixel = by_draw(answer);
        if !agree(&page, &pixel) {
            return Err(format!("{name} at {at:?}: the page has {page:?}, and pixel {pixel:?}").into());
        }
    }
    let (_server, mut browser) = live::open(capture)?;
    for (at, (served, answer)) in pixels.iter().zip(served(&mut browser, pixels)?.iter().zip(&answers)) {
        same(&format!("{name} at {at:?} from serve"), plain(served), plain(answer))?;
    }
    Ok(())
}

/// A game: restored tiles, draws of stencil alone, culled primitives. It is compared where it is there.
pub fn a_game_agrees() -> Outcome {
    let shared = std::env::var_os("A4EMU_SHARED").map_or(captures().join("../../shared"), PathBuf::from);
    let capture = shared.join("captures/games/neverball.rd.gz");
    if !capture.exists() {
        eprintln!("skipped: {} is not there", capture.display());
        return Ok(());
    }
    check_pixels(&capture, &[[400, 266], [400, 300], [130, 480], [700, 100]])
}
