//! JSON objects, one a line, with the file that they are of if there are several.

use std::io::{self, Write};

use serde::Serialize;

use super::output::Output;

/// Where the lines go.
pub struct Lines<'a> {
    /// The sink.
    pub out: Output<'a>,
    /// What stands at the end of each object: `,"file":"name"}`, or only the brace.
    end: String,
    /// An object that is being written.
    object: Vec<u8>,
}

impl<'a> Lines<'a> {
    /// Into `out`; each object names `file`, if there is one.
    pub fn new(out: Output<'a>, file: Option<&str>) -> Self {
        let end =
            file.map_or("}\n".into(), |file| format!(",\"file\":{}}}\n", serde_json::Value::from(file)));
        Self { out, end, object: Vec::new() }
    }

    /// Writes an object that has members.
    ///
    /// # Errors
    /// Those of the sink.
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
    /// Those of the sink.
    pub fn raw(&mut self, object: &[u8]) -> io::Result<()> {
        self.out.write_all(object.strip_suffix(b"}").unwrap_or(object))?;
        self.out.write_all(self.end.as_bytes())
    }
}
