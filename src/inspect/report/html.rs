//! Writes the page: one file that contains all its data.

use super::blocks::Kind;
use super::fit::{self, Packed};
use super::frame::Frame;

const HTML: &str = include_str!("page/page.html");
const CSS: &str = include_str!("page/page.css");
const JS: &[&str] = &[
    include_str!("page/data.js"),
    include_str!("page/draws.js"),
    include_str!("page/picture.js"),
    include_str!("page/mesh.js"),
    include_str!("page/history.js"),
    include_str!("page/details.js"),
];

/// Script of a live page, which requests more data than a report has.
const LIVE_JS: &str = include_str!("page/live.js");

/// Script that starts the page.
const PAGE_JS: &str = include_str!("page/page.js");

/// Place of the data in the page.
const DATA: &str = "<!--DATA-->";

/// The page with the data of `frame`, of at most `max_size` bytes. If it has more, data is removed, and
/// [`Frame::left_out`] says so.
///
/// # Errors
/// The call fails if `frame` cannot be serialized.
pub fn with_data(frame: &mut Frame, max_size: u64) -> anyhow::Result<String> {
    let around = page("'none'", "", "").len();
    let room = usize::try_from(max_size).unwrap_or(usize::MAX).saturating_sub(around);
    let Packed { head, blocks } = fit::fitted(frame, room, max_size)?;
    let blocks = Kind::ALL.iter().zip(&blocks).flat_map(|(kind, blocks)| {
        blocks.iter().map(|block| element(&format!("class=\"{}\"", kind.name()), block))
    });
    let data: Vec<String> = std::iter::once(element("id=\"data\"", &head)).chain(blocks).collect();
    Ok(page("'none'", "", &data.concat()))
}

fn element(attribute: &str, data: &str) -> String {
    format!("<script {attribute} type=\"application/octet-stream\">{data}</script>")
}

/// The page that requests its data below `path`.
pub fn live(path: &str) -> String {
    page("'self'", LIVE_JS, &element(&format!("id=\"data\" data-live=\"{path}\""), ""))
}

/// Fills the page: the addresses it may connect to, additional script, and the element with the data.
fn page(connect: &str, more: &str, data: &str) -> String {
    let html = HTML.replacen("CONNECT", connect, 1).replacen("/*CSS*/", CSS, 1);
    let html = html.replacen("/*JS*/", &[&JS.concat(), more, PAGE_JS].concat(), 1);
    html.replacen(DATA, data, 1)
}
