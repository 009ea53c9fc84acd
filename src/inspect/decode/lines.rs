//! Writes JSON objects, one a line. Each names its file if there are several.

use std::io::{self, Write};

use serde::Serialize;

use super::output::Output;

/// A writer of JSON lines.
pub struct Lines<'a> {
    /// The output.
    pub out: Output<'a>,
    /// The end of each object: `,"file":"name"}`, or only the brace.
    end: String,
    /// Buffer for the object that is being written.
    object: Vec<u8>,
}

impl<'a> Lines<'a> {
    /// Makes a writer to `out`. Each object names `file`, if given.
    pub fn new(out: Output<'a>, file: Option<&str>) -> Self {
        let end =
            file.map_or("}\n".into(), |file| format!(",\"file\":{}}}\n", serde_json::Value::from(file)));
        Self { out, end, object: Vec::new() }
    }

    /// Writes an object that has members.
    ///
    /// # Errors
    /// The call fails if the output cannot be written.
    pub fn put(&mut self, object: &impl Serialize) -> io::Result<()> {
        let mut text = std::mem::take(&mut self.object);
        text.clear();
        serde_json::to_writer(&mut text, object)?;
        let put = self.raw(&text);
        self.object = text;
        put
    }

    /// Writes an object that is text already, with or without its opening brace.
    ///
    /// # Errors
    /// The call fails if the output cannot be written.
    pub fn raw(&mut self, object: &[u8]) -> io::Result<()> {
        self.out.write_all(object.strip_suffix(b"}").unwrap_or(object))?;
        self.out.write_all(self.end.as_bytes())
    }
}
