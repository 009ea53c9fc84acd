//! Compares the ledger of a run with what has arrived from its processes.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Pid;

use super::descendants::descendants;
use a4emu_process::ledger::{self, Row, Word};
use a4emu_process::report;
use a4emu_process::summary::Summary;
use a4emu_support::out_file::Inputs;

/// Time that processes have to end after the program.
const GRACE: Duration = Duration::from_millis(500);
/// Time between two checks of these processes.
const TICK: Duration = Duration::from_millis(10);

/// What the processes of a run have left.
pub struct Arrived {
    /// The summaries, in the order in which the processes opened the device.
    pub summaries: Vec<Summary>,
    /// A sentence for each summary, recording or frame that did not arrive.
    pub missing: Vec<String>,
    /// Frames that were sent.
    frames: u64,
    /// Whether a process has opened the device.
    pub any: bool,
}

impl Arrived {
    /// Reads what is in the `folder` of a run whose program has ended. Processes that still use the device have
    /// a moment to end.
    pub fn read(folder: &Path) -> Self {
        let (rows, unread) = match rows_of_the_ended(folder) {
            Ok(rows) => (rows, None),
            Err(error) => (Vec::new(), Some(format!("what the program did is not known: {error}"))),
        };
        let any = !rows.is_empty();
        let mut all = Self { summaries: Vec::new(), missing: unread.into_iter().collect(), frames: 0, any };
        let alive = descendants();
        for (row, number) in rows.iter().zip(1..) {
            let summary = report::read(folder, number).ok();
            all.missing.extend(missing(row, summary.as_ref(), is_in(row, &alive)));
            all.frames += u64::from(row.get(Word::Frames));
            all.summaries.extend(summary);
        }
        all
    }

    /// Compares the number of `received` frames with those that were sent.
    pub fn expect_frames(&mut self, received: u64) {
        if received < self.frames {
            let lost = self.frames - received;
            self.missing.push(format!("{lost} of {} frames did not arrive", self.frames));
        }
    }

    /// Moves the recordings to their target paths.
    pub fn finish_recordings(&mut self, inputs: &Inputs) {
        for summary in &mut self.summaries {
            let Some(recording) = summary.recording.take() else { continue };
            let place = super::may_write(&recording.place(), inputs).and_then(|()| Ok(recording.finish()?));
            match place {
                Ok(place) => summary.recorded = Some(place.display().to_string()),
                Err(error) => self.missing.push(format!(
                    "the recording of {} is not in its place, but in {}: {error:#}",
                    summary.process,
                    recording.keep().display()
                )),
            }
        }
    }
}

/// The rows of the ledger, when all processes have ended or their time is over.
fn rows_of_the_ended(folder: &Path) -> std::io::Result<Vec<Row>> {
    let start = Instant::now();
    loop {
        let rows = ledger::read(folder)?;
        let alive = if rows.is_empty() { Vec::new() } else { descendants() };
        if start.elapsed() > GRACE || !rows.iter().any(|row| is_in(row, &alive)) {
            return Ok(rows);
        }
        thread::sleep(TICK);
    }
}

fn is_in(row: &Row, processes: &[Pid]) -> bool {
    let pid = Pid::from_raw(row.get(Word::Pid) as i32);
    pid.is_some_and(|pid| processes.contains(&pid))
}

/// Sentences for what the process with this `row` has lost.
fn missing(row: &Row, summary: Option<&Summary>, is_alive: bool) -> Vec<String> {
    let name = summary.map_or_else(|| format!("process {}", row.get(Word::Pid)), |it| it.process.clone());
    let why = |word| row.error(word);
    let mut all = Vec::new();
    if let Some(error) = why(Word::DeviceError) {
        all.push(format!("the device's files could not be made for {name}: {error}"));
    }
    let is_stale = |it: &Summary| (it.submits as u32) < row.get(Word::Submits);
    match (why(Word::SummaryError), summary) {
        (Some(error), Some(it)) => {
            all.push(format!("the summary of {name} ends after {} submits: {error}", it.submits));
        }
        (Some(error), None) => all.push(format!("the summary of {name} could not be written: {error}")),
        (None, it) if row.get(Word::Summaries) > 0 && it.is_none_or(is_stale) => {
            all.push(format!("the summary of {name} was written, but is not there"));
        }
        (None, _) => {}
    }
    if let Some(error) = why(Word::RecordingError) {
        all.push(match summary.is_some_and(|it| it.recording.is_some()) {
            true => format!("the recording of {name} ends early: {error}"),
            false => format!("nothing of {name} was recorded: {error}"),
        });
    }
    if let Some(error) = why(Word::FramesError) {
        all.push(format!("the frames of {name} end after {}: {error}", row.get(Word::Frames)));
    }
    if is_alive {
        all.push(format!("{name} runs on, and what it does after the end of the run is not reported"));
    }
    all
}
