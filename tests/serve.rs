//! `a4emu serve`: who may ask, and what is answered.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

/// A server that ends with the test.
struct Server {
    child: Child,
    port: u16,
    /// `/TOKEN/`.
    path: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _status = self.child.wait();
    }
}

/// A response.
struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }
}

fn capture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("captures").join(name);
    path.to_str().expect("a name in UTF-8").to_owned()
}

impl Server {
    fn of(name: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_a4emu"))
            .args(["serve", &capture(name), "-q"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("a4emu");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("stdout")).read_line(&mut line).expect("an address");
        let rest = line.trim().strip_prefix("http://127.0.0.1:").expect("the loopback address");
        let (port, path) = rest.split_at(rest.find('/').expect("a path"));
        Self { child, port: port.parse().expect("a port"), path: path.to_owned() }
    }

    fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Sends `request` as it is.
    fn send(&self, request: &str) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(120))).expect("a limit");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("it answers");
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a header");
        let head = String::from_utf8(bytes[..end].to_vec()).expect("text");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        Answer { status, head, body: bytes[end + 4..].to_vec() }
    }

    /// Asks what stands behind the token, with more headers.
    fn get(&self, question: &str, headers: &str) -> Answer {
        let (path, host) = (&self.path, self.host());
        self.send(&format!("GET {path}{question} HTTP/1.1\r\nHost: {host}\r\n{headers}\r\n"))
    }
}

#[test]
fn the_page_and_its_frame_are_there() {
    let server = Server::of("depth.rd.gz");
    let page = server.get("", "");
    assert_eq!(page.status, 200);
    let text = String::from_utf8(page.body).expect("text");
    assert!(text.contains(&format!("data-live=\"{}\"", server.path)), "it knows where to ask");
    assert!(text.contains("connect-src 'self'"), "and may");
    assert!(page.head.contains("text/html") && page.head.contains("nosniff"), "{}", page.head);
    let frame = server.get("frame.json", "").json();
    assert_eq!(frame["title"], "depth.rd.gz");
    assert!(frame["draws"].as_array().is_some_and(|draws| draws.len() > 1));
}

#[test]
fn questions_have_the_answers_of_the_commands() {
    let server = Server::of("depth.rd.gz");
    let run = |arguments: &[&str]| -> Value {
        let done = Command::new(env!("CARGO_BIN_EXE_a4emu")).args(arguments).output().expect("a4emu");
        serde_json::from_slice(&done.stdout).expect("JSON")
    };
    let frame = server.get("frame.json", "").json();
    let canvases = frame["canvases"].as_array().expect("canvases");
    let color =
        canvases.iter().rposition(|canvas| canvas["name"].as_str().expect("a name").starts_with("color"));
    let answer = server.get(&format!("pixel?x=100&y=90&canvas={}", color.expect("colours")), "");
    assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
    assert_eq!(answer.json(), run(&["pixel", &capture("depth.rd.gz"), "100,90", "--json"]));
    let state = server.get("draw/1", "").json();
    let shown = run(&["show", &capture("depth.rd.gz"), "--draw", "1", "--json"]);
    let state = state.as_object().expect("a state");
    assert!(state.len() > 10 && state.iter().all(|(key, value)| shown[key] == *value));
    for wrong in ["pixel?x=1", "pixel?x=1&y=100000", "pixel?x=1&y=1&canvas=99", "draw/4000000"] {
        assert_eq!(server.get(wrong, "").status, 400, "{wrong}");
    }
    for nothing in ["x", "draw/../Cargo.toml", "../Cargo.toml", "draw/", "frame.json/"] {
        assert_eq!(server.get(nothing, "").status, 404, "{nothing}");
    }
}

#[test]
fn strangers_are_refused() {
    let server = Server::of("triangle.rd.gz");
    let (path, host, port) = (&server.path, server.host(), server.port);
    let status = |request: String| server.send(&request).status;
    assert_eq!(server.get("frame.json", &format!("Origin: http://{host}\r\n")).status, 200);
    assert_eq!(server.get("frame.json", "Origin: http://evil.example\r\n").status, 403);
    assert_eq!(server.get("frame.json", "Origin: null\r\n").status, 403);
    assert_eq!(server.get("frame.json", "Host: evil.example\r\n").status, 403, "two hosts");
    assert_eq!(status(format!("GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n")), 200);
    assert_eq!(status(format!("GET {path} HTTP/1.1\r\nHost: evil.example:{port}\r\n\r\n")), 403);
    assert_eq!(status(format!("GET {path} HTTP/1.1\r\n\r\n")), 403);
    let token = path.trim_matches('/');
    let wrong: String = token.chars().rev().collect();
    for path in ["/".to_owned(), format!("/{wrong}/"), format!("/{token}"), format!("http://{host}{path}")] {
        assert_eq!(status(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n")), 403, "{path}");
    }
    assert_eq!(status(format!("POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\n\r\n")), 405);
    assert_eq!(status("\u{1}\u{2}\r\n\r\n".to_owned()), 400);
    let long = "x".repeat(20 << 10);
    assert!(matches!(status(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nA: {long}")), 431));
    assert_ne!(token, Server::of("triangle.rd.gz").path.trim_matches('/'), "each run has its own");
}

#[test]
fn eight_clients_are_served_beside_idle_ones() {
    let server = Server::of("triangle.rd.gz");
    let _idle: Vec<TcpStream> =
        (0..4).map(|_| TcpStream::connect(("127.0.0.1", server.port)).expect("a connection")).collect();
    thread::scope(|scope| {
        let ask = |n: u32| server.get(&format!("pixel?x={n}&y=128"), "").json();
        let clients: Vec<_> = (0..8).map(|n| (n, scope.spawn(move || ask(n)))).collect();
        for (n, client) in clients {
            assert_eq!(client.join().expect("an answer")["pixel"][0], n);
        }
    });
}

/// Nobody listens on another address of this machine.
#[test]
#[cfg(target_os = "linux")]
fn only_the_loopback_address_listens() {
    let server = Server::of("triangle.rd.gz");
    let table = std::fs::read_to_string("/proc/net/tcp").expect("the table of sockets");
    let suffix = format!(":{:04X}", server.port);
    let mut here = table.lines().filter_map(|line| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        (columns.get(1)?.ends_with(&suffix) && columns.get(3) == Some(&"0A")).then(|| columns[1].to_owned())
    });
    assert_eq!(here.next(), Some(format!("0100007F{suffix}")));
    assert_eq!(here.next(), None);
    let six = std::fs::read_to_string("/proc/net/tcp6").unwrap_or_default();
    assert!(!six.lines().any(|line| line.split_whitespace().nth(1).is_some_and(|at| at.ends_with(&suffix))));
}
