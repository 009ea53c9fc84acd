//! `--timeline`: writes the times of a run as trace events, which Perfetto and chrome://tracing display.
//!
//! Submits, passes and draws are measured around the calls of the command processor. Draws wait in a queue, so their
//! fragments run later: the rows of the threads show when, and what threads wait for.

use a4emu_decoder::adreno::address::Address;
use std::cell::RefCell;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use serde::Serialize;

use a4emu_gpu::budget::Work;
use a4emu_gpu::cp::{Call, Engine, Flow, Observer, Renderer};
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::settled::Running;
use a4emu_gpu::work_trace::spans::{self, Spans};

/// Numbers of the rows of the timeline.
const SUBMITS: usize = 1;
const PASSES: usize = 2;
const DRAWS: usize = 3;
/// Number of the row of the first worker thread.
const THREADS: usize = 10;

/// Text of the events of a draw and of its share of the threads, in blocks of 16 bytes (a rough value).
const DRAW_TEXT: u64 = 64;

/// A trace event; times are in microseconds.
#[derive(Serialize)]
struct Event<'a, A: Serialize> {
    name: &'a str,
    /// `X` for a duration, `M` for a name.
    ph: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    pid: u32,
    tid: usize,
    args: A,
}

/// Arguments of the event that names a row.
#[derive(Serialize)]
struct Named<'a> {
    name: &'a str,
}

/// Arguments of the event of a submit, pass, draw or activity of a thread.
#[derive(Default, Serialize)]
struct Details {
    #[serde(skip_serializing_if = "Option::is_none")]
    submit: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    draw: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frame_draw: Option<u32>,
}

/// A span of time.
#[derive(Clone, Copy)]
struct Span {
    start: Duration,
    end: Duration,
}

impl Span {
    fn micros(self) -> [f64; 2] {
        [self.start, self.end.saturating_sub(self.start)].map(|time| time.as_secs_f64() * 1e6)
    }
}

/// The output of events. The first write error ends the output and is kept.
struct Events<W> {
    out: W,
    count: u64,
    error: io::Result<()>,
}

impl<W: Write> Events<W> {
    fn put(&mut self, event: &Event<'_, impl Serialize>) {
        if self.error.is_ok() {
            self.error = self.write(event);
        }
    }

    fn write(&mut self, event: &Event<'_, impl Serialize>) -> io::Result<()> {
        self.out.write_all(if self.count == 0 { b"{\"traceEvents\":[\n" } else { b",\n" })?;
        self.count += 1;
        Ok(serde_json::to_writer(&mut self.out, event)?)
    }

    fn row(&mut self, tid: usize, name: &str) {
        let args = Named { name };
        self.put(&Event { name: "thread_name", ph: "M", ts: None, dur: None, pid: 1, tid, args });
    }

    fn span(&mut self, tid: usize, name: &str, span: Span, args: Details) {
        let [ts, dur] = span.micros();
        self.put(&Event { name, ph: "X", ts: Some(ts), dur: Some(dur), pid: 1, tid, args });
    }
}

/// Writes the timeline of a run.
pub struct Timeline<W> {
    events: Events<W>,
    since: Instant,
    /// Number of the running submit, and its start.
    submit: Option<(u32, Duration)>,
    /// The current pass.
    pass: Option<(&'static str, Span)>,
    /// Activities of threads that are missing, because there were too many.
    left_out: u64,
}

impl<W: Write> Timeline<W> {
    /// Makes a timeline into `out`, for the current thread pool.
    pub fn new(out: W) -> Self {
        let mut events = Events { out, count: 0, error: Ok(()) };
        for (tid, name) in [(SUBMITS, "submits"), (PASSES, "passes"), (DRAWS, "draws")] {
            events.row(tid, name);
        }
        let threads = rayon::current_num_threads();
        (0..threads).for_each(|thread| events.row(THREADS + thread, &format!("thread {thread}")));
        let since = Instant::now();
        spans::start(since);
        Self { events, since, submit: None, pass: None, left_out: 0 }
    }

    /// Writes the end of the run, which may be in the middle of a submit. Returns the output, and how many activities of
    /// threads are missing because there were too many.
    ///
    /// # Errors
    /// The call fails with the first write error of the timeline.
    pub fn finish(mut self) -> io::Result<(W, u64)> {
        self.end_submit();
        self.put_spans(&spans::stop());
        self.events.error?;
        self.events.out.write_all(b"\n],\"displayTimeUnit\":\"ms\"}\n")?;
        Ok((self.events.out, self.left_out))
    }

    /// Writes a draw that ran in `span`.
    fn drawn(&mut self, call: &Call, span: Span) {
        let pass = call.pass_name();
        let (submit, draw, frame_draw) = (call.submit(), call.number(), call.frame_draw());
        let name = format!("draw {draw} f{frame_draw} {pass}");
        let details = Details { submit: Some(submit), draw: Some(draw), frame_draw: Some(frame_draw) };
        self.events.span(DRAWS, &name, span, details);
        match &mut self.pass {
            Some((name, whole)) if *name == pass => whole.end = span.end,
            _ => {
                self.end_pass(submit);
                self.pass = Some((pass, span));
            }
        }
    }

    fn end_pass(&mut self, submit: u32) {
        if let Some((name, span)) = self.pass.take() {
            self.events.span(PASSES, name, span, Details { submit: Some(submit), ..Details::default() });
        }
    }

    fn end_submit(&mut self) {
        let Some((submit, start)) = self.submit.take() else { return };
        self.end_pass(submit);
        let span = Span { start, end: self.since.elapsed() };
        let details = Details { submit: Some(submit), ..Details::default() };
        self.events.span(SUBMITS, &format!("submit {submit}"), span, details);
    }

    /// Writes what the threads did.
    fn put_spans(&mut self, spans: &Spans) {
        self.left_out += spans.left_out;
        for (thread, spans) in spans.threads.iter().enumerate() {
            for spans::Span { activity, start, end } in spans {
                let span = Span { start: *start, end: *end };
                self.events.span(THREADS + thread, activity.name(), span, Details::default());
            }
        }
    }
}

/// An engine that draws like [`Renderer`] and measures the time.
pub struct Timed<'a, W>(pub &'a RefCell<Timeline<W>>);

impl<W: Write> Engine for Timed<'_, W> {
    fn run(&mut self, gpu: &mut Gpu, call: &Call) -> Flow {
        let mut timeline = self.0.borrow_mut();
        let start = timeline.since.elapsed();
        let flow = Renderer.run(gpu, call);
        let span = Span { start, end: timeline.since.elapsed() };
        gpu.budget.observe(Work::Draw, 2);
        gpu.budget.observe(Work::Text16, DRAW_TEXT);
        timeline.drawn(call, span);
        flow
    }
}

/// An observer that measures submits.
pub struct Clock<'a, W>(pub &'a RefCell<Timeline<W>>);

impl<W: Write> Observer for Clock<'_, W> {
    fn submit(&mut self, gpu: &mut Running<'_>, _: Address, _: u32) -> Flow {
        let mut timeline = self.0.borrow_mut();
        timeline.submit = Some((gpu.at.submit, timeline.since.elapsed()));
        Flow::Continue
    }

    fn submitted(&mut self, _: &mut Running<'_>) -> Flow {
        let mut timeline = self.0.borrow_mut();
        timeline.end_submit();
        timeline.put_spans(&spans::take());
        Flow::Continue
    }
}
