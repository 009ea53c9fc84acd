//! The page of `corpus compare`: one file that needs no network.

use std::io::Write;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::pictures::{Difference, Kept};
use super::{Change, Counts, speed_words};
use a4emu_inspect::report::html::escaped;
use a4emu_support::out_file::OutFile;

/// Maximum size of all pictures on a page, in bytes.
const MAX_PICTURES: usize = 64 << 20;

const HEAD: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\">\
<title>a4emu corpus compare</title><style>\
body{font:15px system-ui,sans-serif;margin:2em;max-width:80em;color:#222;background:#fff}\
h2{font-size:1.05em;margin:2em 0 .3em;border-top:1px solid #ccc;padding-top:1em}\
ul{margin:.3em 0;padding-left:1.2em}figure{display:inline-block;margin:.5em 1em .5em 0}\
figcaption{font-size:.85em;color:#555}img{max-width:24em;max-height:24em;border:1px solid #ccc;image-rendering:pixelated;\
background:repeating-conic-gradient(#ddd 0 25%,#fff 0 50%) 0 0/16px 16px}\
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}figcaption{color:#aaa}}</style>";

/// What a page says that has no picture of a surface. Both runs need the option.
pub const WITHOUT: &str = "There are surfaces without pictures: <code>a4emu corpus run CAPTURES -o DIR --pictures</code> keeps \
                           them, and it has to make both runs.";

/// Writes the page.
///
/// # Errors
/// The call fails if a picture is damaged, or if the page cannot be written.
pub fn write(out: OutFile, folders: [&Path; 2], changes: &[Change], counts: &Counts) -> anyhow::Result<()> {
    let mut page = Page { out, folders, room: MAX_PICTURES, lacks: false };
    let [a, b] = folders.map(|folder| escaped(&folder.display().to_string()));
    writeln!(page.out, "{HEAD}<h1>{a} and {b}</h1><p>{}</p>", counts.words())?;
    for change in changes.iter().filter(|change| !change.is_plain()) {
        page.change(change)?;
    }
    if page.lacks {
        writeln!(page.out, "<p>{WITHOUT}</p>")?;
    }
    if page.room == 0 {
        let limit = MAX_PICTURES >> 20;
        writeln!(page.out, "<p>Only the first {limit} MB of pictures are on this page.</p>")?;
    }
    page.out.finish()
}

struct Page<'a> {
    out: OutFile,
    folders: [&'a Path; 2],
    /// Bytes of pictures that still fit.
    room: usize,
    /// Whether a picture of a surface was not kept.
    lacks: bool,
}

impl Page<'_> {
    fn change(&mut self, change: &Change) -> anyhow::Result<()> {
        let (name, speed) = (escaped(&change.name), speed_words(change));
        writeln!(self.out, "<h2>{name}: {}{speed}</h2>", change.result.words())?;
        if !change.differences.is_empty() {
            let items = change.differences.iter().map(|difference| format!("<li>{}", escaped(difference)));
            writeln!(self.out, "<ul>{}</ul>", items.collect::<String>())?;
        }
        change.pictures.iter().try_for_each(|(surface, hashes)| self.surface(surface, hashes))
    }

    /// Writes both pictures of a surface, and their difference.
    fn surface(&mut self, surface: &str, hashes: &[Option<String>; 2]) -> anyhow::Result<()> {
        let read = |index: usize| match &hashes[index] {
            Some(hash) => Kept::read(self.folders[index], hash),
            None => Ok(None),
        };
        let kept = [read(0)?, read(1)?];
        self.lacks |= kept.iter().zip(hashes).any(|(kept, hash)| kept.is_none() && hash.is_some());
        writeln!(self.out, "<div>")?;
        for (kept, side) in kept.iter().zip(["A", "B"]) {
            let caption = format!("{side}: {}", escaped(surface));
            match kept {
                Some(kept) => self.figure(&kept.png, &caption)?,
                None => writeln!(
                    self.out,
                    "<figure><figcaption>{caption}: no picture was kept</figcaption></figure>"
                )?,
            }
        }
        if let [Some(a), Some(b)] = &kept {
            match Difference::of(a, b)? {
                Some(Difference { png, pixels, largest }) => {
                    let caption = format!("{pixels} pixels differ, by up to {largest} of 255");
                    self.figure(&png, &caption)?;
                }
                None => writeln!(self.out, "<figure><figcaption>not of one size</figcaption></figure>")?,
            }
        }
        Ok(writeln!(self.out, "</div>")?)
    }

    fn figure(&mut self, png: &[u8], caption: &str) -> anyhow::Result<()> {
        let Some(room) = self.room.checked_sub(png.len()) else {
            self.room = 0;
            return Ok(());
        };
        self.room = room;
        let data = STANDARD.encode(png);
        let image = format!("<img alt=\"{caption}\" src=\"data:image/png;base64,{data}\">");
        Ok(writeln!(self.out, "<figure>{image}<figcaption>{caption}</figcaption></figure>")?)
    }
}
