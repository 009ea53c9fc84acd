//! `--timeline`: writes the times of a run as trace events, which Perfetto and chrome://tracing display.
//!
//! Submits, passes and draws are measured around the calls. For stages, the pipeline only counts durations.
//! The times are placed one after the other, in order, from the start of their draw. Fragments are batched, so
//! those of a draw may run, and appear, with a later draw or at the end of the submit. The work of a thread
//! during a draw is its processor time.

use std::cell::RefCell;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use serde::Serialize;

use a4emu_gpu::budget::Work;
use a4emu_gpu::cp::{Call, Engine, Flow, Observer, Renderer};
use a4emu_gpu::draw::stats::StageTimes;
use a4emu_gpu::gpu::Gpu;

/// Numbers of the rows of the timeline.
const SUBMITS: usize = 1;
const PASSES: usize = 2;
const DRAWS: usize = 3;
const STAGES: usize = 4;
/// Number of the row of the first worker thread.
const THREADS: usize = 10;

/// Text of an event, in blocks of 16 bytes (a rough value).
const EVENT: u64 = 10;

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

/// Arguments of the event of a submit, pass, draw, stage or share of a thread.
#[derive(Default, Serialize)]
struct Details {
    #[serde(skip_serializing_if = "Option::is_none")]
    submit: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    draw: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frame_draw: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pixels: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<u64>,
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
    /// End of the last draw.
    last: Duration,
    /// The current pass.
    pass: Option<(&'static str, Span)>,
    /// Times of the stages at the last call.
    stages: StageTimes,
    /// Processor time of each thread at the last call.
    threads: Vec<Duration>,
}

impl<W: Write> Timeline<W> {
    /// Makes a timeline into `out`, for the current thread pool.
    pub fn new(out: W) -> Self {
        let mut events = Events { out, count: 0, error: Ok(()) };
        for (tid, name) in [(SUBMITS, "submits"), (PASSES, "passes"), (DRAWS, "draws"), (STAGES, "stages")] {
            events.row(tid, name);
        }
        let threads = thread_times();
        (0..threads.len()).for_each(|thread| events.row(THREADS + thread, &format!("thread {thread}")));
        let (since, last, stages) = (Instant::now(), Duration::ZERO, StageTimes::default());
        Self { events, since, submit: None, last, pass: None, stages, threads }
    }

    /// Writes the end of the run, which may be in the middle of a submit. Returns the output.
    ///
    /// # Errors
    /// The call fails with the first write error of the timeline.
    pub fn finish(mut self, gpu: &Gpu) -> io::Result<W> {
        self.end_submit(gpu);
        self.events.error?;
        self.events.out.write_all(b"\n],\"displayTimeUnit\":\"ms\"}\n")?;
        Ok(self.events.out)
    }

    /// Writes a draw that ran in `span`.
    fn drawn(&mut self, gpu: &Gpu, call: &Call, span: Span, [pixels, instructions]: [u64; 2]) {
        let pass = call.pass().map_or("compute", |pass| pass.name());
        let (submit, draw, frame_draw) = (call.submit(), call.number(), call.frame_draw());
        let name = format!("draw {draw} f{frame_draw} {pass}");
        let details = Details {
            submit: Some(submit),
            draw: Some(draw),
            frame_draw: Some(frame_draw),
            pixels: Some(pixels),
            instructions: Some(instructions),
        };
        self.events.span(DRAWS, &name, span, details);
        self.put_stages(gpu, span);
        self.put_threads(&name, span);
        match &mut self.pass {
            Some((name, whole)) if *name == pass => whole.end = span.end,
            _ => {
                self.end_pass(submit);
                self.pass = Some((pass, span));
            }
        }
        self.last = span.end;
    }

    fn end_pass(&mut self, submit: u32) {
        if let Some((name, span)) = self.pass.take() {
            self.events.span(PASSES, name, span, Details { submit: Some(submit), ..Details::default() });
        }
    }

    /// Writes the stage times between two draws: they come from fragments that had waited.
    fn catch_up(&mut self, gpu: &Gpu, submit: u32) {
        const NAME: &str = "fragments that waited";
        let (now, late) = (self.since.elapsed(), gpu.pipeline.stats.ms.since(&self.stages, 1).fragment);
        if late > 0.0 {
            let start = now.saturating_sub(Duration::from_secs_f64(late / 1e3)).max(self.last);
            let span = Span { start, end: now };
            self.events.span(DRAWS, NAME, span, Details { submit: Some(submit), ..Details::default() });
            self.put_stages(gpu, span);
            self.put_threads(NAME, span);
            self.last = now;
        }
    }

    fn end_submit(&mut self, gpu: &Gpu) {
        let Some((submit, start)) = self.submit.take() else { return };
        self.catch_up(gpu, submit);
        self.end_pass(submit);
        let span = Span { start, end: self.since.elapsed() };
        let details = Details { submit: Some(submit), ..Details::default() };
        self.events.span(SUBMITS, &format!("submit {submit}"), span, details);
    }

    /// Writes the time of each stage since the last call, from the start of `span` on.
    fn put_stages(&mut self, gpu: &Gpu, span: Span) {
        let now = gpu.pipeline.stats.ms;
        let took = now.since(&self.stages, 1);
        self.stages = now;
        let mut start = span.start;
        for (name, ms) in [
            ("compute", took.compute),
            ("snapshot", took.snapshot),
            ("vertex", took.vertex),
            ("primitive", took.primitive),
            ("fragment", took.fragment),
            ("resolve", took.resolve),
        ] {
            if ms > 0.0 {
                let end = start + Duration::from_secs_f64(ms / 1e3);
                self.events.span(STAGES, name, Span { start, end }, Details::default());
                start = end;
            }
        }
    }

    /// Writes the work of each thread since the last call, from the start of `span` on.
    fn put_threads(&mut self, name: &str, span: Span) {
        let now = thread_times();
        let most = span.end.saturating_sub(span.start);
        for (thread, (now, before)) in now.iter().zip(&self.threads).enumerate() {
            let busy = now.saturating_sub(*before).min(most);
            if !busy.is_zero() {
                let span = Span { start: span.start, end: span.start + busy };
                self.events.span(THREADS + thread, name, span, Details::default());
            }
        }
        self.threads = now;
    }
}

/// An engine that draws like [`Renderer`] and measures the time.
pub struct Timed<'a, W>(pub &'a RefCell<Timeline<W>>);

impl<W: Write> Engine for Timed<'_, W> {
    fn run(&mut self, gpu: &mut Gpu, call: &Call) -> Flow {
        let mut timeline = self.0.borrow_mut();
        timeline.catch_up(gpu, call.submit());
        let counts = |gpu: &Gpu| [gpu.pipeline.stats.pixels, gpu.pipeline.stats.instructions];
        let (start, before) = (timeline.since.elapsed(), counts(gpu));
        let flow = Renderer.run(gpu, call);
        let threads = timeline.threads.len() as u64;
        gpu.budget.observe(Work::Draw, 1 + threads);
        gpu.budget.observe(Work::Text16, EVENT * (4 + threads));
        let span = Span { start, end: timeline.since.elapsed() };
        let [pixels, instructions] = counts(gpu);
        timeline.drawn(gpu, call, span, [pixels - before[0], instructions - before[1]]);
        flow
    }
}

/// An observer that measures submits.
pub struct Clock<'a, W>(pub &'a RefCell<Timeline<W>>);

impl<W: Write> Observer for Clock<'_, W> {
    fn submit(&mut self, gpu: &Gpu, _: u32, _: u32) -> Flow {
        let mut timeline = self.0.borrow_mut();
        timeline.last = timeline.since.elapsed();
        timeline.submit = Some((gpu.at.submit, timeline.last));
        Flow::Continue
    }

    fn submitted(&mut self, gpu: &Gpu) -> Flow {
        self.0.borrow_mut().end_submit(gpu);
        Flow::Continue
    }
}

/// Processor time of each worker thread.
#[cfg(target_os = "linux")]
fn thread_times() -> Vec<Duration> {
    use rustix::time::{ClockId, clock_gettime};
    rayon::broadcast(|_| {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
    })
}

/// Processor times are unknown here.
#[cfg(not(target_os = "linux"))]
fn thread_times() -> Vec<Duration> {
    Vec::new()
}
