//! Reads the request of a connection and writes the response.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Maximum size of a request in bytes.
const MAX_REQUEST: usize = 128 << 10;

/// Maximum number of headers of a request.
const MAX_HEADERS: usize = 64;

/// Time limit for receiving a request.
const PATIENCE: Duration = Duration::from_secs(5);

/// Time that a client may still send after the response.
const LINGER: Duration = Duration::from_secs(1);

/// Time limit for a blocked write.
const WRITE_PATIENCE: Duration = Duration::from_secs(30);

/// A request of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Method, such as `GET`.
    pub method: String,
    /// Path and query.
    pub target: String,
    /// Values of all Host headers.
    pub hosts: Vec<String>,
    /// Values of all Origin headers.
    pub origins: Vec<String>,
}

/// The response to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// HTTP status.
    pub status: u16,
    /// MIME type of the body.
    pub kind: &'static str,
    /// The body.
    pub body: Arc<[u8]>,
}

/// The reason why there is no request.
pub enum Refused {
    /// The client has disconnected.
    Gone,
    /// The request is invalid and gets this response.
    With(Response),
}

impl Response {
    /// A response of one line of text.
    pub fn text(status: u16, text: &str) -> Self {
        Self { status, kind: "text/plain; charset=utf-8", body: text.as_bytes().into() }
    }

    /// A response of JSON.
    pub fn json(body: impl Into<Arc<[u8]>>) -> Self {
        Self { status: 200, kind: "application/json", body: body.into() }
    }

    fn reason(&self) -> &'static str {
        match self.status {
            200 => "OK",
            400 => "Bad Request",
            403 => "Forbidden",
            404 => "Not Found",
            405 => "Method Not Allowed",
            431 => "Request Header Fields Too Large",
            _ => "Error",
        }
    }
}

/// Reads the request of a connection.
pub fn read(mut stream: &TcpStream) -> Result<Request, Refused> {
    let deadline = Instant::now() + PATIENCE;
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
            return Err(Refused::Gone);
        }
        match stream.read(&mut chunk) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Ok(0) | Err(_) => return Err(Refused::Gone),
            Ok(count) => bytes.extend_from_slice(&chunk[..count]),
        }
        if let Some(request) = parse(&bytes)? {
            return Ok(request);
        }
        if bytes.len() >= MAX_REQUEST {
            return Err(Refused::With(Response::text(431, "the request is too large")));
        }
    }
}

/// Parses the request in `bytes`; `None` if it is incomplete.
fn parse(bytes: &[u8]) -> Result<Option<Request>, Refused> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(bytes) {
        Ok(httparse::Status::Partial) => return Ok(None),
        Ok(httparse::Status::Complete(_)) => {}
        Err(error) => return Err(Refused::With(Response::text(400, &error.to_string()))),
    }
    let all = |name: &str| {
        let named = request.headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name));
        named.map(|header| String::from_utf8_lossy(header.value).into_owned()).collect()
    };
    Ok(Some(Request {
        method: request.method.unwrap_or_default().to_owned(),
        target: request.path.unwrap_or_default().to_owned(),
        hosts: all("host"),
        origins: all("origin"),
    }))
}

/// Writes the response and ends the connection.
pub fn write(mut stream: &TcpStream, response: &Response) -> io::Result<()> {
    stream.set_write_timeout(Some(WRITE_PATIENCE))?;
    let Response { status, kind, body } = response;
    let head = format!(
        "HTTP/1.1 {status} {}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\
         Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\nReferrer-Policy: no-referrer\r\n\r\n",
        response.reason(),
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)?;
    finish(stream)
}

/// Reads what the client still sends. If the connection were closed before that, the response could be lost.
fn finish(mut stream: &TcpStream) -> io::Result<()> {
    stream.shutdown(Shutdown::Write)?;
    let deadline = Instant::now() + LINGER;
    let mut chunk = [0; 4096];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        stream.set_read_timeout(Some(left))?;
        if stream.read(&mut chunk)? == 0 {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_when_it_is_whole() {
        let text = b"GET /a?b HTTP/1.1\r\nhost: x\r\nOrigin: y\r\n\r\n";
        assert!(matches!(parse(&text[..20]), Ok(None)));
        let Ok(Some(request)) = parse(text) else { panic!("a request") };
        assert_eq!((request.method.as_str(), request.target.as_str()), ("GET", "/a?b"));
        assert_eq!((request.hosts, request.origins), (vec!["x".to_owned()], vec!["y".to_owned()]));
        assert!(matches!(parse(b"\0\0\0\r\n\r\n"), Err(Refused::With(response)) if response.status == 400));
    }
}
