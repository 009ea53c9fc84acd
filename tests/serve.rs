//! `a4emu serve`: which clients may connect, and the answers to their requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine;
use serde_json::Value;

/// A server that is ended when the value is dropped.
struct Server {
    child: Child,
    port: u16,
    /// Path with the access token: `/TOKEN/`.
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
        Self::by(&mut Command::new(env!("CARGO_BIN_EXE_a4emu")), name)
    }

    /// A server that `command` runs.
    fn by(command: &mut Command, name: &str) -> Self {
        let mut child =
            command.args(["serve", &capture(name), "-q"]).stdout(Stdio::piped()).spawn().expect("a4emu");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("stdout")).read_line(&mut line).expect("an address");
        let rest = line.trim().strip_prefix("http://127.0.0.1:").expect("the loopback address");
        let (port, path) = rest.split_at(rest.find('/').expect("a path"));
        Self { child, port: port.parse().expect("a port"), path: path.to_owned() }
    }

    fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Sends `request` unchanged.
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

    /// Sends a GET request for `question` below the token, with additional headers.
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

/// The stdout of a command with `input` on stdin.
fn output(arguments: &[&str], input: &str) -> Vec<u8> {
    let command = Command::new(env!("CARGO_BIN_EXE_a4emu"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = command.expect("a4emu");
    child.stdin.take().expect("stdin").write_all(input.as_bytes()).expect("it reads");
    child.wait_with_output().expect("it ends").stdout
}

#[test]
fn explain_is_what_the_command_prints() {
    let server = Server::of("triangle.rd.gz");
    let answer = server.get("explain/RB_MRT%5B0%5D.CONTROL", "").json();
    let printed = String::from_utf8(output(&["explain", "RB_MRT[0].CONTROL"], "")).expect("text");
    assert!(printed.contains("BLEND2"), "{printed}");
    assert_eq!(answer["text"], printed);
    assert_eq!(answer["offset"], "0x20a4");
    let frame = server.get("frame.json", "").json();
    assert_eq!(
        frame["registers"]["RB_MRT[0].CONTROL"], answer,
        "the page has the same of what its packets write"
    );
    let wrong = server.get("explain/RB_DEPTH_CONTRL", "");
    assert_eq!(wrong.status, 400);
    assert!(String::from_utf8_lossy(&wrong.body).contains("did you mean `RB_DEPTH_CONTROL`"));
}

/// Steps through instructions, and compares the registers before and after each with those of the debugger.
fn check_walk(server: &Server, place: &str, arguments: &[&str]) {
    let walk = server.get(place, "").json();
    let steps = walk["steps"].as_array().expect("steps");
    assert!(steps.len() > 1 && walk["end"] == "ended", "{walk}");
    let (mut commands, mut expected) = (String::new(), Vec::new());
    for step in steps {
        let registers = step["registers"].as_array().expect("registers");
        let all = |key: &'static str| {
            registers.iter().map(move |register| {
                let value = register[key].as_str().or(register["before"].as_str()).expect("a value");
                (register["name"].as_str().expect("a name"), value)
            })
        };
        let (before, after): (Vec<_>, Vec<_>) = (all("before").collect(), all("after").collect());
        let ask = |values: &[(&str, &str)]| {
            values.iter().map(|(name, _)| format!("r {name}\n")).collect::<String>()
        };
        commands += &format!("{}n\n{}", ask(&before), ask(&after));
        expected.extend(before.into_iter().chain(after));
    }
    let depth = capture("depth.rd.gz");
    let debug = [&["debug", &depth, "-q"], arguments].concat();
    let printed = String::from_utf8(output(&debug, &commands)).expect("text");
    let lines: Vec<&str> = printed.lines().filter(|line| line.contains("[lanes ")).collect();
    assert_eq!(lines.len(), steps.len());
    for (step, line) in steps.iter().zip(lines) {
        let (at, text) = (step["at"].as_u64().expect("a number"), step["text"].as_str().expect("text"));
        assert!(line.starts_with(&format!("{at:>4}  {text} ")), "{line}: {at} {text}");
    }
    let values = printed.lines().filter(|line| !line.starts_with(' ') && *line != "ended");
    let values: Vec<&str> = values.collect();
    assert_eq!(values.len(), expected.len(), "{printed}");
    for (value, (name, text)) in values.iter().zip(expected) {
        let bits = text.split("0x").nth(1).map_or("", |rest| rest.trim_end_matches(')'));
        assert!(value.starts_with(name) && value.contains(bits), "{value}: {name} {text}");
    }
}

#[test]
fn stepping_is_what_the_debugger_does() {
    let server = Server::of("depth.rd.gz");
    check_walk(
        &server,
        "step?draw=f1&stage=vs&vertex=1",
        &["--draw", "f1", "--stage", "vs", "--vertex", "1"],
    );
    let fragment = "step?draw=f1&stage=fs&pixel=128,128";
    check_walk(&server, fragment, &["--draw", "f1", "--stage", "fs", "--pixel", "128,128"]);
    for wrong in [
        "step?stage=fs&pixel=1,1",
        "step?draw=f1&stage=xs&pixel=1,1",
        "step?draw=f1&stage=fs&pixel=1,1000000",
        "step?draw=f1&stage=fs&pixel=1,x",
        "step?draw=f4000&stage=fs&pixel=1,1",
        "step?draw=f1&stage=fs&pixel=128,128&lane=32",
        "step?draw=f1&stage=fs&lane=4294967295",
        "step?draw=f1&stage=fs&pixel=128,128&sample=4",
        "step?draw=f1&stage=fs&pixel=4294967295,4294967295",
        "step?draw=f1&stage=fs&pixel=128,128&primitive=4294967295",
        "step?draw=f1&stage=fs&warp=4294967295",
        "step?draw=f1&stage=vs&vertex=4294967295",
        "step?draw=f1&stage=vs&invocation=4294967295,4294967295,4294967295",
        "pixel?x=4294967295&y=4294967295",
        "pixel?x=1&y=1&canvas=4294967295",
    ] {
        assert_eq!(server.get(wrong, "").status, 400, "{wrong}");
    }
    // A bad request does not affect the next one.
    for _ in 0..20 {
        assert_eq!(server.get("step?draw=f1&stage=fs&lane=32", "").status, 400);
    }
    assert_eq!(server.get(fragment, "").status, 200);
}

/// The pixels of a picture.
fn pixels(png: &[u8]) -> Vec<u8> {
    let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().expect("a PNG");
    let mut bytes = vec![0; reader.output_buffer_size().expect("a size")];
    reader.next_frame(&mut bytes).expect("pixels");
    bytes
}

#[test]
fn a_draw_is_run_with_other_registers() {
    let server = Server::of("many.rd.gz");
    let picture = |answer: &Value, key: &str| {
        let png = base64::engine::general_purpose::STANDARD.decode(answer[key].as_str().expect("a picture"));
        pixels(&png.expect("base64"))
    };
    // The page shows pictures without alpha.
    let picture_of = |draw: &str, moment: &str, alpha: &[&str]| {
        let arguments = ["show", &capture("many.rd.gz"), "--draw", draw, moment, "-", "-q"];
        pixels(&output(&[&arguments[..], alpha].concat(), ""))
    };
    let shown = |draw: &str, moment: &str| picture_of(draw, moment, &["--opaque"]);
    // Without a written colour component, the draw changes nothing.
    let answer = server.get("edit?draw=f339&set=RB_MRT%5B*%5D.CONTROL.COMPONENT_ENABLE:0", "").json();
    assert!(picture(&answer, "original") == shown("f339", "--after"));
    assert!(picture(&answer, "edited") == shown("f339", "--before"));
    let changed = |draw: &str| {
        let (before, after) = (picture_of(draw, "--before", &[]), picture_of(draw, "--after", &[]));
        before.chunks(4).zip(after.chunks(4)).filter(|(before, after)| before != after).count() as u64
    };
    assert_eq!(answer["pixels"], changed("f339"));
    // The next draw has the original registers, so its result is visible.
    let behind =
        server.get("edit?draw=f339&until=f340&set=RB_MRT%5B*%5D.CONTROL.COMPONENT_ENABLE:0", "").json();
    assert!(picture(&behind, "original") == shown("f340", "--after"));
    assert!(
        picture(&behind, "edited") != shown("f339", "--before")
            && behind["pixels"].as_u64() <= answer["pixels"].as_u64()
    );
    assert_eq!(server.get("edit?draw=f339", "").json()["pixels"], 0, "nothing is edited");
    // A program that only ends writes what its registers held before: not the colour of the draw.
    let shader = server.get("edit?draw=f339&set=fs:(rpt3)nop%0Aend%0A", "").json();
    assert!(shader["pixels"].as_u64() > Some(0), "{shader}");
    let constant = server.get("edit?draw=f339&set=fs.c0.x:1.0&set=fs.c0.y:0.0", "").json();
    assert_eq!(constant["pixels"], changed("f339"));
    for wrong in [
        "edit?set=RB_DEPTH_CONTROL.ZFUNC:FUNC_ALWAYS",
        "edit?draw=f4000&set=RB_DEPTH_CONTROL.ZFUNC:FUNC_ALWAYS",
        "edit?draw=f339&set=RB_DEPTH_CONTROL.ZFUNC",
        "edit?draw=f339&set=RB_DEPTH_CONTROL.ZFUNC:FUNC_SOMETIMES",
        "edit?draw=f339&set=RB_DEPTH_CONTRL:1",
        "edit?draw=f339&set=RB_DEPTH_CONTROL:x",
        "edit?draw=f339&set=fs:mov",
        "edit?draw=f339&set=fs.c0.x:blue",
        "edit?draw=f339&set=*:0",
        "edit?draw=f339&set=RB_MRT%5B0%5D.BUF_INFO.COLOR_FORMAT:RB4_R32G32B32A32_FLOAT",
        "edit?draw=f339&set=RB_FRAME_BUFFER_DIMENSION:0",
    ] {
        assert_eq!(server.get(wrong, "").status, 400, "{wrong}");
    }
}

#[test]
fn strangers_are_refused() {
    let server = Server::of("triangle.rd.gz");
    let (path, host, port) = (&server.path, server.host(), server.port);
    let status = |request: String| server.send(&request).status;
    assert_eq!(server.get("frame.json", &format!("Origin: http://{host}\r\n")).status, 200);
    for question in [
        "frame.json",
        "step?draw=f0&stage=vs&vertex=0",
        "edit?draw=f0",
        "explain/RB_MRT",
        "pixel?x=1&y=1",
        "draw/0",
    ] {
        assert_eq!(server.get(question, "Origin: http://evil.example\r\n").status, 403, "{question}");
    }
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
    let long = "x".repeat(130 << 10);
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
        let edits = scope.spawn(|| server.get("edit?draw=f0", "").status);
        let clients: Vec<_> = (0..7).map(|n| (n, scope.spawn(move || ask(n)))).collect();
        for (n, client) in clients {
            assert_eq!(client.join().expect("an answer")["pixel"][0], n);
        }
        assert_eq!(edits.join().expect("an answer"), 200);
    });
}

/// Idle connections do not delay requests on other connections.
#[test]
fn idle_connections_do_not_delay_requests() {
    let server = Server::of("triangle.rd.gz");
    server.get("frame.json", "");
    let connect = || TcpStream::connect(("127.0.0.1", server.port)).expect("a connection");
    crate::shortest::within(Duration::from_secs(3), || {
        let _idle: Vec<TcpStream> = (0..300).map(|_| connect()).collect();
        let start = Instant::now();
        assert_eq!(server.get("frame.json", "").status, 200);
        start.elapsed()
    });
}

/// A server that may have few files open goes on beside more silent connections than that.
#[test]
#[cfg(unix)]
fn more_connections_than_files_are_no_end() {
    let mut command = Command::new("bash");
    command.args(["-c", "ulimit -n 64 && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_a4emu")]);
    let mut server = Server::by(&mut command, "triangle.rd.gz");
    let connect = || TcpStream::connect(("127.0.0.1", server.port)).expect("a connection");
    let _idle: Vec<TcpStream> = (0..100).map(|_| connect()).collect();
    assert_eq!(server.get("frame.json", "").status, 200);
    let _more: Vec<TcpStream> = (0..100).map(|_| connect()).collect();
    assert_eq!(server.get("pixel?x=1&y=128", "").status, 200);
    assert!(server.child.try_wait().expect("it is ours").is_none());
}

/// The server does not listen on another address of this machine.
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
