//! Writes the page: one file that contains all its data.

use super::blocks::BlockKind;
use super::fit::{self, Packed};
use super::frame::Frame;

const HTML: &str = include_str!("page/page.html");
const CSS: &str = include_str!("page/page.css");
const JS: &[&str] = &[
    include_str!("page/data.js"),
    include_str!("page/draws.js"),
    include_str!("page/picture.js"),
    include_str!("page/textures.js"),
    include_str!("page/mesh.js"),
    include_str!("page/memory.js"),
    include_str!("page/history.js"),
    include_str!("page/details.js"),
];

/// Script of a live page, which requests more data than a report has.
const LIVE_JS: &str = include_str!("page/live.js");

/// Script that starts the page.
const PAGE_JS: &str = include_str!("page/page.js");

/// Style of a page that is read from top to bottom.
const STILL_CSS: &str = "body { display: block; height: auto; padding: 12px; } h1, h2, h3 { margin: 12px 0 4px; } \
h1 { font-size: 18px; } h2 { font-size: 15px; } h3 { font-size: 13px; } .scroll { overflow-x: auto; } \
table { width: auto; } td { max-width: none; vertical-align: top; } .chosen { background: var(--side); font-weight: 600; }";

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
    let Packed { head, blocks, extras } = fit::fitted(frame, room, max_size)?;
    let blocks = BlockKind::ALL.iter().zip(&blocks).flat_map(|(kind, blocks)| {
        blocks.iter().map(|block| element(&format!("class=\"{}\"", kind.name()), block))
    });
    let extras: Vec<String> = extras.iter().map(|(key, text)| format!("{key} {text}")).collect();
    let extras = (!extras.is_empty()).then(|| element("id=\"extras\"", &extras.join("\n")));
    let head = std::iter::once(element("id=\"data\"", &head));
    let data: Vec<String> = head.chain(blocks).chain(extras).collect();
    Ok(page("'none'", "", &data.concat()))
}

/// A page of its own with the style of the report: without scripts, with `body` as its content.
pub fn still(title: &str, body: &str) -> String {
    let head = HTML.split_once("</head>").map_or(HTML, |(head, _)| head);
    let head =
        head.replacen("CONNECT", "'none'", 1).replacen("script-src 'unsafe-inline'", "script-src 'none'", 1);
    let head = head.replacen("/*CSS*/", &[CSS, STILL_CSS].concat(), 1);
    let head = head.replacen("<title>a4emu</title>", &format!("<title>{}</title>", escaped(title)), 1);
    format!("{head}</head>\n<body>\n{body}</body>\n</html>\n")
}

/// `text` as the content of an element or of an attribute.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
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
