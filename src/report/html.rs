//! The page: one file with all that it shows inside.

use flate2::Compression;
use flate2::write::DeflateEncoder;

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
    include_str!("page/page.js"),
];

/// Where the data goes.
const DATA: &str = "<!--DATA-->";

/// The page that holds `frame`.
///
/// # Errors
/// It cannot be put into JSON.
pub fn with_data(frame: &Frame) -> anyhow::Result<String> {
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::best());
    serde_json::to_writer(&mut packed, frame)?;
    let data = base64(&packed.finish()?);
    let element = format!("<script id=\"data\" type=\"application/octet-stream\">{data}</script>");
    Ok(page("'none'", &element))
}

/// The page that asks for its data below `path`.
pub fn live(path: &str) -> String {
    let element =
        format!("<script id=\"data\" type=\"application/octet-stream\" data-live=\"{path}\"></script>");
    page("'self'", &element)
}

/// With what it may connect to, and the element that holds data or says where they are.
fn page(connect: &str, data: &str) -> String {
    let html = HTML.replacen("CONNECT", connect, 1).replacen("/*CSS*/", CSS, 1);
    let html = html.replacen("/*JS*/", &JS.concat(), 1);
    html.replacen(DATA, data, 1)
}
