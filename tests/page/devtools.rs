//! A headless browser, driven through the DevTools protocol over a pipe. It needs no port and no client
//! library: the protocol is JSON with zero bytes between messages.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Time limit for each action of the browser.
const PATIENCE: Duration = Duration::from_secs(120);

/// Size of the page in pixels.
const SIZE: [u32; 2] = [1600, 1000];

/// A browser with one page.
pub struct Browser {
    process: Child,
    commands: ChildStdin,
    messages: Receiver<Value>,
    session: Value,
    number: u64,
    events: Vec<Value>,
    _profile: TempDir,
}

impl Browser {
    /// Starts a browser and opens the file.
    pub fn open(page: &Path) -> Result<Self, Failed> {
        Self::at(&format!("file://{}", page.display()))
    }

    /// Starts a browser and opens an address.
    pub fn at(address: &str) -> Result<Self, Failed> {
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
        let commands = process.stdin.take().expect("piped");
        let messages = listen(process.stdout.take().expect("piped"));
        let (session, events) = (Value::Null, Vec::new());
        let mut browser = Self { process, commands, messages, session, number: 0, events, _profile: profile };
        browser.attach()?;
        browser.command("Page.navigate", json!({ "url": address }))?;
        browser.wait("document.readyState === 'complete' && document.title !== 'a4emu'")?;
        Ok(browser)
    }

    fn attach(&mut self) -> Result<(), Failed> {
        let targets = self.command("Target.getTargets", json!({}))?;
        let mut all = targets["targetInfos"].as_array().into_iter().flatten();
        let target = all.find(|target| target["type"] == "page").ok_or("no page")?["targetId"].clone();
        let arguments = json!({ "targetId": target, "flatten": true });
        self.session = self.command("Target.attachToTarget", arguments)?["sessionId"].take();
        for domain in ["Runtime", "Log", "Network", "Page"] {
            self.command(&format!("{domain}.enable"), json!({}))?;
        }
        let [width, height] = SIZE;
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.command("Emulation.setDeviceMetricsOverride", metrics).map(drop)
    }

    /// Sends a command of the protocol and returns its result. Events that arrive in between are kept.
    pub fn command(&mut self, method: &str, params: Value) -> Result<Value, Failed> {
        self.number += 1;
        let mut message = json!({ "id": self.number, "method": method, "params": params });
        if !self.session.is_null() {
            message["sessionId"] = self.session.clone();
        }
        self.commands.write_all(format!("{message}\0").as_bytes())?;
        loop {
            let mut answer =
                self.messages.recv_timeout(PATIENCE).map_err(|why| format!("{method}: {why}"))?;
            if answer["id"] != self.number {
                self.events.push(answer);
            } else if answer["error"].is_null() {
                return Ok(answer["result"].take());
            } else {
                return Err(format!("{method}: {}", answer["error"]).into());
            }
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
        let _gone_already = self.process.kill();
        let _reaped = self.process.wait();
    }
}

fn bounds(selector: &str) -> String {
    format!("document.querySelector({}).getBoundingClientRect()", json!(selector))
}

/// Receives the messages of the browser on a thread.
fn listen(pipe: ChildStdout) -> Receiver<Value> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for message in BufReader::new(pipe).split(0).map_while(Result::ok) {
            let Ok(message) = serde_json::from_slice(&message) else { break };
            if sender.send(message).is_err() {
                break;
            }
        }
    });
    receiver
}
