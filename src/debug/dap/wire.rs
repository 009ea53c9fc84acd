//! Reads and writes messages: JSON after a header with its length.

use std::io::{self, BufRead, Read, Write};

use serde::Deserialize;
use serde_json::{Value, json};

/// Maximum size of a message in bytes. Editors send none that is longer.
const MAX_MESSAGE: u64 = 16 << 20;

/// Maximum size of a header line in bytes.
const MAX_HEADER: u64 = 4096;

/// Maximum number of header lines of a message.
const MAX_HEADERS: usize = 64;

/// A request of a client.
#[derive(Clone, Debug, Deserialize)]
pub struct Request {
    seq: u64,
    /// Name of the request.
    pub command: String,
    /// Arguments of the request.
    #[serde(default)]
    pub arguments: Value,
}

/// The connection to a client.
pub struct Wire<R, W> {
    input: R,
    output: W,
    sent: u64,
}

impl<R: BufRead, W: Write> Wire<R, W> {
    /// Makes a connection without any message yet.
    pub fn new(input: R, output: W) -> Self {
        Self { input, output, sent: 0 }
    }

    /// Reads the next request; `None` if the client has closed the connection.
    ///
    /// # Errors
    /// The call fails if the input is no message.
    pub fn receive(&mut self) -> io::Result<Option<Request>> {
        let Some(length) = self.header()? else { return Ok(None) };
        let mut bytes = Vec::new();
        self.input.by_ref().take(length).read_to_end(&mut bytes)?;
        if (bytes.len() as u64) < length {
            return Err(wrong("the message ends early"));
        }
        serde_json::from_slice(&bytes).map(Some).map_err(|error| wrong(&format!("no request: {error}")))
    }

    /// Reads the length in the header of the next message.
    fn header(&mut self) -> io::Result<Option<u64>> {
        let mut length = None;
        for _ in 0..MAX_HEADERS {
            let mut line = String::new();
            if self.input.by_ref().take(MAX_HEADER).read_line(&mut line)? == 0 {
                return Ok(None);
            }
            match line.trim_end().split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    let value = value.trim().parse().ok().filter(|length| *length <= MAX_MESSAGE);
                    length = Some(value.ok_or_else(|| wrong("no usable Content-Length"))?);
                }
                Some(_) => {}
                None if line.trim_end().is_empty() => {
                    return length.map(Some).ok_or_else(|| wrong("a header without Content-Length"));
                }
                None => return Err(wrong("a line that is no header")),
            }
        }
        Err(wrong("too many lines of a header"))
    }

    /// Answers `request` with a body or an error text.
    ///
    /// # Errors
    /// The call fails if the client has closed the connection.
    pub fn answer(&mut self, request: &Request, body: anyhow::Result<Value>) -> io::Result<()> {
        let mut message = json!({
            "type": "response", "request_seq": request.seq, "command": request.command,
            "success": body.is_ok(),
        });
        match body {
            Ok(Value::Null) => {}
            Ok(body) => message["body"] = body,
            Err(error) => {
                let text = format!("{error:#}");
                message["body"] = json!({ "error": { "id": 1, "format": text } });
                message["message"] = text.into();
            }
        }
        self.send(message)
    }

    /// Sends an event.
    ///
    /// # Errors
    /// The call fails if the client has closed the connection.
    pub fn event(&mut self, name: &str, body: Value) -> io::Result<()> {
        let mut message = json!({ "type": "event", "event": name });
        if !body.is_null() {
            message["body"] = body;
        }
        self.send(message)
    }

    fn send(&mut self, mut message: Value) -> io::Result<()> {
        self.sent += 1;
        message["seq"] = self.sent.into();
        let text = message.to_string();
        write!(self.output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
        self.output.flush()
    }
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receive(text: &str) -> io::Result<Option<Request>> {
        Wire::new(text.as_bytes(), io::sink()).receive()
    }

    #[test]
    fn a_message_is_as_long_as_its_header_says() {
        let body = r#"{"seq":1,"type":"request","command":"threads"}"#;
        let request = receive(&format!("X: y\r\ncontent-length: {}\r\n\r\n{body}rest", body.len()));
        assert_eq!(request.expect("a message").expect("a request").command, "threads");
        assert!(receive("").expect("the end").is_none());
    }

    #[test]
    fn malformed_messages_are_refused() {
        let wrong = [
            "\r\n",
            "Content-Length: x\r\n\r\n{}",
            "Content-Length: 2\r\n\r\n{}",
            "Content-Length: 9\r\n\r\n{}",
            "Content-Length: 99999999999\r\n\r\n{}",
            "nonsense\r\n\r\n",
        ];
        for text in wrong {
            assert!(receive(text).is_err(), "{text:?}");
        }
        let mut endless = io::BufReader::new("a: b\r\n".as_bytes().chain(io::repeat(b'\n')));
        assert!(Wire::new(&mut endless, io::sink()).receive().is_err());
        let endless = "a: b\r\n".repeat(1 << 10);
        assert!(receive(&endless).unwrap_err().to_string().contains("too many"));
    }
}
