"""Khronos' WebGL 1 tests in Chromium: pages that one browser loads one after the other, told by a server here.

A browser that hangs in a page, or ends, is started again for the next one."""
import json
import queue
import re
import subprocess
import tempfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

# The newest version of the tests for WebGL 1, which is what the driver offers on this chip.
VERSION = (1, 0, 4)
# Seconds that a page may take until its next result, or the browser until it is there.
PATIENCE = 120
RUNNER = Path(__file__).with_suffix(".html")
BROWSER = """chromium --headless --no-first-run --no-sandbox --disable-gpu-sandbox --in-process-gpu
--ignore-gpu-blocklist --use-gl=angle --use-angle=gles-egl --ozone-platform=headless
--autoplay-policy=no-user-gesture-required --disable-domain-blocking-for-3d-apis""".split()
# For a browser that gets page after page. With this option `--dump-dom` does not end.
STAYS = "--remote-debugging-port=0"


def number(version):
    return tuple(map(int, version.split(".")))


def pages(folder, name="00_test_list.txt"):
    """The pages for `VERSION` that a list of tests names; lists name other lists."""
    for line in (folder / name).read_text().splitlines():
        words = [word for word in line.split() if word != "--slow"]
        if not words or re.match("#|;|//", words[0]):
            continue
        bounds = dict(zip(words[:-1:2], map(number, words[1:-1:2])))
        if bounds.get("--min-version", VERSION) > VERSION or bounds.get("--max-version", VERSION) < VERSION:
            continue
        path = folder / words[-1]
        yield from pages(path.parent, path.name) if path.suffix == ".txt" else [path]


class Browser(threading.Thread):
    """A browser with a server that hands it pages from `waiting`, until there are none."""

    def __init__(self, tests, waiting, start, report):
        super().__init__(daemon=True)
        self.waiting, self.start_browser, self.report = waiting, start, report
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, self, directory=tests))
        self.page, self.renderer = None, None

    def run(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        try:
            while not self.waiting.empty():
                with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
                    self.browse(home)
        finally:
            self.server.shutdown()

    def browse(self, home):
        """One browser, until a page is too much for it."""
        self.said = queue.Queue()
        process = self.start_browser(home, f"http://127.0.0.1:{self.server.server_port}/a4emu.html")
        try:
            while self.heard(process):
                pass
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def heard(self, process):
        """Waits for what the browser says of its page; whether it goes on to another."""
        for _ in range(PATIENCE):
            try:
                return self.said.get(timeout=1)
            except queue.Empty:
                if process.poll() is not None:
                    return self.end("Crash")
        return self.end("Timeout")

    def end(self, status):
        if self.page is None:
            # It never got to its first page: no other browser would.
            self.waiting.queue.clear()
            self.renderer = self.renderer or f"none: the browser did not start ({status})"
        else:
            self.report(self.page, status, "")
        self.page = None
        return False

    def next(self):
        try:
            self.page = self.waiting.get_nowait()
        except queue.Empty:
            self.page = None
        return self.page or ""

    def hear(self, path, what):
        """The browser is alive; or started, or is done with a page: gives the next."""
        if path == "/alive":
            self.said.put(True)
            return ""
        if path == "/start":
            self.renderer = what["renderer"]
        elif what["page"] == self.page:
            status = "Fail" if what["fail"] else "Pass" if what["pass"] else "Skip"
            self.report(self.page, status, what["first"])
        page = self.next()
        self.said.put(page != "")
        return page


class Handler(SimpleHTTPRequestHandler):
    """Gives the tests' files and our page; takes what the browser says."""

    def __init__(self, browser, *arguments, **named):
        self.browser = browser
        super().__init__(*arguments, **named)

    def log_message(self, *_):
        pass

    def answer(self, body, kind):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/a4emu.html":
            self.answer(RUNNER.read_bytes(), "text/html")
        else:
            super().do_GET()

    def do_POST(self):
        what = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.answer(self.browser.hear(self.path, what).encode(), "text/plain")


def run(tests, names, jobs, start, report):
    """Runs the pages `names` in as many browsers as `jobs`; gives the renderers that they had."""
    waiting = queue.Queue()
    for name in names:
        waiting.put(name)
    browsers = [Browser(tests, waiting, start, report) for _ in range(min(jobs, len(names)))]
    for browser in browsers:
        browser.start()
    for browser in browsers:
        browser.join()
    return {browser.renderer for browser in browsers if browser.renderer}
