//! A headless browser, driven through the DevTools protocol over a pipe. It needs no port and no client
//! library: the protocol is JSON with zero bytes between messages.
//!
//! One browser serves all tests. Each page has a context of its own, so that no test sees what another left behind.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Time limit for each action of the browser.
const PATIENCE: Duration = Duration::from_secs(120);

/// Size of the page in pixels.
const SIZE: [u32; 2] = [1600, 1000];

/// The browser, from the first test that needs it to [`end`].
static BROWSER: Mutex<Option<Arc<Chromium>>> = Mutex::new(None);

/// Who waits for messages: sessions by their names, and commands to the browser itself by their numbers.
type Listeners = Mutex<HashMap<String, Sender<Value>>>;

/// The process of the browser.
struct Chromium {
    process: Mutex<Child>,
    commands: Mutex<ChildStdin>,
    listeners: Arc<Listeners>,
    number: AtomicU64,
    _profile: TempDir,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the browser, if one was started.
pub fn end() {
    if let Some(browser) = locked(&BROWSER).take() {
        let mut process = locked(&browser.process);
        let _gone_already = process.kill();
        let _reaped = process.wait();
    }
}

impl Chromium {
    /// The browser, which the first call starts.
    fn get() -> Result<Arc<Self>, Failed> {
        let mut browser = locked(&BROWSER);
        if browser.is_none() {
            *browser = Some(Arc::new(Self::start()?));
        }
        Ok(browser.clone().expect("just started"))
    }

    fn start() -> Result<Self, Failed> {
        let profile = TempDir::new()?;
        // The protocol uses descriptors 3 and 4.
        let redirected = r#"exec chromium "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#;
        let mut process = Command::new("sh")
            .args(["-c", redirected, "sh", "--headless=new", "--no-sandbox", "--disable-gpu"])
            .args(["--remote-debugging-pipe", "about:blank"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let commands = Mutex::new(process.stdin.take().expect("piped"));
        let listeners = Arc::default();
        listen(process.stdout.take().expect("piped"), Arc::clone(&listeners));
        let (process, number) = (Mutex::new(process), AtomicU64::new(1));
        Ok(Self { process, commands, listeners, number, _profile: profile })
    }

    /// Registers a listener.
    fn listener(&self, name: String) -> Receiver<Value> {
        let (sender, receiver) = mpsc::channel();
        locked(&self.listeners).insert(name, sender);
        receiver
    }

    /// Sends a command, with a number of its own, to a session or to the browser.
    fn send(&self, number: u64, session: Option<&str>, method: &str, params: &Value) -> Result<(), Failed> {
        let mut message = json!({ "id": number, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        Ok(locked(&self.commands).write_all(format!("{message}\0").as_bytes())?)
    }

    fn next_number(&self) -> u64 {
        self.number.fetch_add(1, Ordering::Relaxed)
    }

    /// Sends a command to the browser itself, and returns its result.
    fn command(&self, method: &str, params: &Value) -> Result<Value, Failed> {
        let number = self.next_number();
        let answers = self.listener(number.to_string());
        self.send(number, None, method, params)?;
        result(method, answers.recv_timeout(PATIENCE).map_err(|why| format!("{method}: {why}"))?)
    }
}

/// The result in an answer to a command.
fn result(method: &str, mut answer: Value) -> Result<Value, Failed> {
    match answer["error"].is_null() {
        true => Ok(answer["result"].take()),
        false => Err(format!("{method}: {}", answer["error"]).into()),
    }
}

/// A page of the browser, closed when this is dropped.
pub struct Browser {
    chromium: Arc<Chromium>,
    /// The context with the page.
    context: Value,
    session: String,
    messages: Receiver<Value>,
    events: Vec<Value>,
}

impl Browser {
    /// Opens a file.
    pub fn open(page: &Path) -> Result<Self, Failed> {
        Self::at(&format!("file://{}", page.display()))
    }

    /// Opens an address.
    pub fn at(address: &str) -> Result<Self, Failed> {
        let chromium = Chromium::get()?;
        let context = chromium.command("Target.createBrowserContext", &json!({}))?["browserContextId"].take();
        let page = json!({ "url": "about:blank", "browserContextId": context });
        let target = chromium.command("Target.createTarget", &page)?["targetId"].take();
        let attach = json!({ "targetId": target, "flatten": true });
        let session = chromium.command("Target.attachToTarget", &attach)?["sessionId"].take();
        let session = session.as_str().ok_or("no session")?.to_owned();
        let messages = chromium.listener(session.clone());
        let mut browser = Self { chromium, context, session, messages, events: Vec::new() };
        for domain in ["Runtime", "Log", "Network", "Page"] {
            browser.command(&format!("{domain}.enable"), json!({}))?;
        }
        let [width, height] = SIZE;
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        browser.command("Emulation.setDeviceMetricsOverride", metrics)?;
        // Other pages are open meanwhile, and one of them has the focus of the browser.
        browser.command("Emulation.setFocusEmulationEnabled", json!({ "enabled": true }))?;
        browser.command("Page.navigate", json!({ "url": address }))?;
        browser.wait("document.readyState === 'complete' && document.title !== 'a4emu'")?;
        Ok(browser)
    }

    /// Sends a command of the protocol and returns its result. Events that arrive in between are kept.
    pub fn command(&mut self, method: &str, params: Value) -> Result<Value, Failed> {
        let number = self.chromium.next_number();
        self.chromium.send(number, Some(&self.session), method, &params)?;
        loop {
            let answer = self.messages.recv_timeout(PATIENCE).map_err(|why| format!("{method}: {why}"))?;
            if answer["id"] == number {
                return result(method, answer);
            }
            self.events.push(answer);
        }
    }

    /// Evaluates an expression in the page.
    pub fn value(&mut self, expression: &str) -> Result<Value, Failed> {
        let params = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let mut answer = self.command("Runtime.evaluate", params)?;
        match answer["exceptionDetails"].is_null() {
            true => Ok(answer["result"]["value"].take()),
            false => Err(format!("{expression}: {}", answer["exceptionDetails"]).into()),
        }
    }

    /// The text of the first element that a selector matches.
    pub fn text(&mut self, selector: &str) -> Result<String, Failed> {
        let text = self.value(&format!("document.querySelector({}).textContent", json!(selector)))?;
        Ok(text.as_str().unwrap_or_default().to_owned())
    }

    /// Waits until `condition` holds in the page.
    pub fn wait(&mut self, condition: &str) -> Result<(), Failed> {
        let start = Instant::now();
        while self.value(condition)? != true {
            if start.elapsed() > PATIENCE {
                return Err(format!("waited in vain for {condition}; {:?}", self.complaints()).into());
            }
            sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Scrolls to the element of a selector and clicks its middle.
    pub fn click(&mut self, selector: &str) -> Result<(), Failed> {
        let selected = format!("document.querySelector({})", json!(selector));
        self.value(&format!("{selected}.scrollIntoView({{ block: 'nearest' }})"))?;
        let middle =
            format!("(box => [box.x + box.width / 2, box.y + box.height / 2])({})", bounds(selector));
        self.click_at(&middle)
    }

    /// Clicks at an offset from the upper left corner of the element of a selector.
    pub fn click_in(&mut self, selector: &str, [x, y]: [u32; 2]) -> Result<(), Failed> {
        self.click_at(&format!("(box => [box.x + {x} + 0.5, box.y + {y} + 0.5])({})", bounds(selector)))
    }

    fn click_at(&mut self, place: &str) -> Result<(), Failed> {
        let place = self.value(place)?;
        for kind in ["mousePressed", "mouseReleased"] {
            let (x, y) = (&place[0], &place[1]);
            let event = json!({ "type": kind, "x": x, "y": y, "button": "left", "clickCount": 1 });
            self.command("Input.dispatchMouseEvent", event)?;
        }
        Ok(())
    }

    /// Presses a key, by its name: `j`, `Enter`.
    pub fn press(&mut self, key: &str) -> Result<(), Failed> {
        let (text, code) = match key {
            "Enter" => (Some("\r"), 13),
            "Escape" => (None, 27),
            "ArrowLeft" => (None, 37),
            "ArrowUp" => (None, 38),
            "ArrowRight" => (None, 39),
            "ArrowDown" => (None, 40),
            "Tab" => (None, 9),
            "Home" => (None, 36),
            "End" => (None, 35),
            letter => (Some(letter), 0),
        };
        let mut down = json!({ "type": "keyDown", "key": key, "windowsVirtualKeyCode": code });
        if let Some(text) = text {
            down["text"] = json!(text);
        }
        self.command("Input.dispatchKeyEvent", down)?;
        self.command("Input.dispatchKeyEvent", json!({ "type": "keyUp", "key": key })).map(drop)
    }

    /// Types `text`.
    pub fn type_text(&mut self, text: &str) -> Result<(), Failed> {
        text.chars().try_for_each(|letter| self.press(&letter.to_string()))
    }

    /// The requested addresses, without data inside the page.
    pub fn requests(&self) -> Vec<&str> {
        let requests = self.events.iter().filter(|event| event["method"] == "Network.requestWillBeSent");
        let urls = requests.filter_map(|event| event["params"]["request"]["url"].as_str());
        urls.filter(|url| !url.starts_with("data:") && !url.starts_with("blob:")).collect()
    }

    /// Errors and warnings of scripts, of the console and of the browser.
    pub fn complaints(&self) -> Vec<String> {
        let is_bad = |event: &&Value| match event["method"].as_str() {
            Some("Runtime.exceptionThrown" | "Log.entryAdded") => true,
            Some("Runtime.consoleAPICalled") => event["params"]["type"] != "log",
            _ => false,
        };
        self.events.iter().filter(is_bad).map(|event| event["params"].to_string()).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let context = json!({ "browserContextId": self.context });
        let _gone_already = self.chromium.command("Target.disposeBrowserContext", &context);
        locked(&self.chromium.listeners).remove(&self.session);
    }
}

fn bounds(selector: &str) -> String {
    format!("document.querySelector({}).getBoundingClientRect()", json!(selector))
}

/// Receives the messages of the browser on a thread, and gives each to its listener.
fn listen(pipe: ChildStdout, listeners: Arc<Listeners>) {
    thread::spawn(move || {
        for message in BufReader::new(pipe).split(0).map_while(Result::ok) {
            let Ok(message) = serde_json::from_slice::<Value>(&message) else { break };
            let mut listeners = locked(&listeners);
            let listener = match message["sessionId"].as_str() {
                Some(session) => listeners.get(session).cloned(),
                None => listeners.remove(&message["id"].to_string()),
            };
            // Events of the browser itself, and of pages that are closed, have no listener.
            let _nobody_waits = listener.map(|listener| listener.send(message));
        }
        // The browser has ended: nobody has to wait for an answer.
        locked(&listeners).clear();
    });
}
