//! Writes the page: one file that contains all its data.

use std::io::BufWriter;

use flate2::Compression;
use flate2::write::DeflateEncoder;

use super::fit::{self, LeftOut};
use super::frame::Frame;
use super::pictures::base64;

const HTML: &str = include_str!("page/page.html");
const CSS: &str = include_str!("page/page.css");
const JS: &[&str] = &[
    include_str!("page/data.js"),
    include_str!("page/draws.js"),
    include_str!("page/picture.js"),
    include_str!("page/mesh.js"),
    include_str!("page/details.js"),
];

/// Script of a live page, which requests more data than a report has.
const LIVE_JS: &str = include_str!("page/live.js");

/// Script that starts the page.
const PAGE_JS: &str = include_str!("page/page.js");

/// Place of the data in the page.
const DATA: &str = "<!--DATA-->";

/// The page with the data of `frame`. If it is too large, data of the last draws is removed.
///
/// # Errors
/// The call fails if `frame` cannot be serialized.
pub fn with_data(frame: &mut Frame) -> anyhow::Result<String> {
    let (limit, mut left_out) = (fit::limit(frame), LeftOut::default());
    let notes = frame.notes.clone();
    loop {
        frame.notes = notes.iter().cloned().chain(left_out.notes()).collect();
        let mut packed = DeflateEncoder::new(Vec::new(), Compression::default());
        serde_json::to_writer(BufWriter::new(&mut packed), frame)?;
        let data = base64(&packed.finish()?);
        let element = format!("<script id=\"data\" type=\"application/octet-stream\">{data}</script>");
        let page = page("'none'", "", &element);
        let excess = page.len().saturating_sub(limit);
        if excess == 0 || !left_out.add(frame, excess) {
            return Ok(page);
        }
    }
}

/// The page that requests its data below `path`.
pub fn live(path: &str) -> String {
    let element =
        format!("<script id=\"data\" type=\"application/octet-stream\" data-live=\"{path}\"></script>");
    page("'self'", LIVE_JS, &element)
}

/// Fills the page: the addresses it may connect to, additional script, and the element with the data.
fn page(connect: &str, more: &str, data: &str) -> String {
    let html = HTML.replacen("CONNECT", connect, 1).replacen("/*CSS*/", CSS, 1);
    let html = html.replacen("/*JS*/", &[&JS.concat(), more, PAGE_JS].concat(), 1);
    html.replacen(DATA, data, 1)
}
