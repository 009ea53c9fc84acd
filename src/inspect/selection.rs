//! The submits and draws that a command shows.
//!
//! `--submit` and `--draw` have one meaning in all commands. Everything before the selection runs too, since
//! state carries over. Only the selected commands are shown, and the run ends after the last of them. An
//! empty selection is an error.

use a4emu_decoder::adreno::address::Address;
use std::fmt;
use std::str::FromStr;

use a4emu_gpu::cp::{Call, Flow, Observer};
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::settled::Running;
pub use a4emu_gpu::span::Span;
use a4emu_support::status::{Failure, Status, not_refused};

/// A part of a capture.
#[derive(Clone, Copy, Debug, Default)]
pub struct Selection {
    /// The selected submits, counted from 0 over the whole capture.
    pub submit: Option<Span>,
    /// The selected draws, counted from 0 over the whole capture.
    pub draw: Option<Draws>,
}

impl Selection {
    /// Whether `submit` is inside.
    pub fn has_submit(&self, submit: u32) -> bool {
        self.submit.is_none_or(|span| span.contains(submit.into()))
    }

    /// Whether draw `number` of `submit`, which is a run of `frame_draw`, is inside.
    pub fn contains(&self, submit: u32, number: u32, frame_draw: u32) -> bool {
        self.has_submit(submit) && self.draw.is_none_or(|draws| draws.contains(number, frame_draw))
    }

    /// Whether `call` is inside.
    pub fn has(&self, call: &Call) -> bool {
        self.contains(call.submit(), call.number(), call.frame_draw())
    }

    /// Fails if something was selected, since nothing was inside. `draws` and `submits` are the counts at the end
    /// of the run.
    ///
    /// # Errors
    /// The call fails unless everything is selected.
    pub fn found_none(&self, draws: u32, submits: u32) -> Result<(), Failure> {
        let message = match (self.draw, self.submit) {
            (None, None) => return Ok(()),
            (Some(draw), None) => format!("the capture has no draw {draw}; it has {draws}"),
            (None, Some(submit)) => format!("the capture has no submit {submit}; it has {submits}"),
            (Some(draw), Some(submit)) => format!("the capture has no draw {draw} in submit {submit}"),
        };
        Err(Failure { status: Status::Usage, message })
    }
}

/// The failure that something is not there, with the process to which the run of `gpu` keeps.
pub fn of_process(Failure { status, message }: Failure, gpu: &Gpu) -> Failure {
    let process = gpu.process.as_ref();
    let whose = process.map_or(String::new(), |process| format!(" (of the submits of process `{process}`)"));
    Failure { status, message: message + &whose }
}

/// A pixel of a picture: column and row, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
pub struct Position(pub [u32; 2]);

impl FromStr for Position {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |part: &str| part.trim().parse::<u16>().ok().map(u32::from);
        let pair = text.split_once(',').and_then(|(x, y)| Some([number(x)?, number(y)?]));
        pair.map(Self).ok_or_else(|| format!("`{text}` is not X,Y, such as 128,64"))
    }
}

/// How draws are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbering {
    /// Each run of a draw packet.
    Execution,
    /// Each draw packet once: its runs for several tiles are one frame draw.
    Frame,
}

/// A range of draws: `3..7`, or `f3..f7` for frame draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draws {
    /// How the draws are counted.
    pub numbering: Numbering,
    /// The range of indices.
    pub span: Span,
}

impl Draws {
    /// The index that the numbering uses.
    fn index(&self, number: u32, frame_draw: u32) -> u64 {
        u64::from(match self.numbering {
            Numbering::Execution => number,
            Numbering::Frame => frame_draw,
        })
    }

    /// Whether draw `number`, which is a run of `frame_draw`, is inside.
    pub fn contains(&self, number: u32, frame_draw: u32) -> bool {
        self.span.contains(self.index(number, frame_draw))
    }

    /// Whether a draw is at or after the first draw of the range.
    pub fn is_reached(&self, number: u32, frame_draw: u32) -> bool {
        self.index(number, frame_draw) >= self.span.start
    }

    /// Whether a draw is after the whole range.
    pub fn is_past(&self, number: u32, frame_draw: u32) -> bool {
        self.index(number, frame_draw) >= self.span.end
    }

    /// Parses the name of a single draw: `3` or `f3`.
    ///
    /// # Errors
    /// The call fails if `text` names no draw or more than one.
    pub fn one(text: &str) -> Result<Self, String> {
        let draws: Self = text.parse()?;
        let single = draws.span.end == draws.span.start.saturating_add(1);
        single.then_some(draws).ok_or_else(|| format!("`{text}` is more than one draw"))
    }
}

impl FromStr for Draws {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (numbering, ends) = match text.contains('f') {
            false => (Numbering::Execution, text.to_owned()),
            true => (Numbering::Frame, frame_numbers(text)?),
        };
        let span = ends.parse().map_err(|why: String| match text.contains("..") {
            true => why,
            false => format!(
                "`{text}` is no draw: write 3 (one run) or f3 (a frame draw), or a range such as 3..7"
            ),
        })?;
        Ok(Self { numbering, span })
    }
}

/// Removes the letters of `f3..f7`.
fn frame_numbers(text: &str) -> Result<String, String> {
    let end = |end: &str| {
        let (open, number) = end.trim().strip_prefix('=').map_or(("", end.trim()), |rest| ("=", rest));
        match number.strip_prefix('f') {
            Some(number) => Ok(format!("{open}{number}")),
            None if number.is_empty() => Ok(String::new()),
            None => Err(format!("`{text}` mixes frame draws with others")),
        }
    };
    match text.split_once("..") {
        None => end(text),
        Some((first, last)) => Ok(format!("{}..{}", end(first)?, end(last)?)),
    }
}

impl fmt::Display for Draws {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.numbering, self.span.to_string()) {
            (Numbering::Execution, span) => f.write_str(&span),
            (Numbering::Frame, span) => f.write_str(
                &span
                    .split("..")
                    .map(|end| if end.is_empty() { String::new() } else { format!("f{end}") })
                    .collect::<Vec<_>>()
                    .join(".."),
            ),
        }
    }
}

/// An observer that ends a run after a selection, and records whether anything was inside it.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    selection: Selection,
    /// Draws before which the run stops.
    stop: Option<Draws>,
    found: bool,
    stopped: bool,
}

impl Window {
    /// Makes a window around `selection`. The run also ends before `stop`.
    pub fn new(selection: Selection, stop: Option<Draws>) -> Self {
        Self { selection, stop, found: false, stopped: false }
    }

    /// Whether `submit` is after the whole selection.
    fn is_past(&self, submit: u32, gpu: &Gpu) -> bool {
        let Selection { submit: submits, draw } = self.selection;
        // The frame draws of earlier submits do not run again.
        let frames_end = draw.filter(|draw| draw.numbering == Numbering::Frame);
        submits.is_some_and(|span| u64::from(submit) >= span.end)
            || frames_end.is_some_and(|draw| draw.is_past(gpu.at.draws, gpu.at.frame_draw))
    }

    /// Checks that the run met the selection.
    ///
    /// # Errors
    /// The call fails if the capture has no such submit or draw.
    pub fn finish(self, gpu: &Gpu) -> Result<(), Failure> {
        not_refused(&gpu.report)?;
        let (draws, submits) = (gpu.at.draws, gpu.at.submit);
        let stop = Selection { submit: None, draw: self.stop };
        let unmet = if self.stopped { Ok(()) } else { stop.found_none(draws, submits) };
        let nothing = !(self.found || self.stopped);
        unmet
            .and_then(|()| if nothing { self.selection.found_none(draws, submits) } else { Ok(()) })
            .map_err(|failure| of_process(failure, gpu))
    }
}

impl Observer for Window {
    fn submit(&mut self, gpu: &mut Running<'_>, _: Address, _: u32) -> Flow {
        if self.is_past(gpu.at.submit, gpu) {
            return Flow::Stop;
        }
        self.found |= self.selection.draw.is_none() && self.selection.has_submit(gpu.at.submit);
        Flow::Continue
    }

    /// Ends the run here, before the buffers of the next submit are loaded into memory.
    fn submitted(&mut self, gpu: &mut Running<'_>) -> Flow {
        if self.is_past(gpu.at.submit.saturating_add(1), gpu) { Flow::Stop } else { Flow::Continue }
    }

    fn call(&mut self, _: &mut Running<'_>, call: &Call) -> Flow {
        let (number, frame_draw) = (call.number(), call.frame_draw());
        self.stopped = self.stop.is_some_and(|stop| stop.is_reached(number, frame_draw));
        let ends = self.selection.draw.filter(|draw| draw.numbering == Numbering::Execution);
        if self.stopped || ends.is_some_and(|draw| draw.is_past(number, frame_draw)) {
            return Flow::Stop;
        }
        self.found |= self.selection.has(call);
        Flow::Continue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_named_by_run_or_by_frame() {
        let parse = |text: &str| text.parse::<Draws>().map(|draws| draws.to_string());
        for text in ["3", "3..7", "3..", "f3", "f3..f7", "f3.."] {
            assert_eq!(parse(text).as_deref(), Ok(text));
        }
        assert_eq!(parse("..f7").as_deref(), Ok("f0..f7"));
        assert_eq!(parse("f1..=f3").as_deref(), Ok("f1..f4"));
        for text in ["f", "f3..7", "3..f7", "7..3", "f7..f7", "x"] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(Draws::one("f3").is_ok() && Draws::one("3..5").is_err());
    }

    #[test]
    fn a_pixel_is_two_numbers() {
        assert_eq!("3, 65535".parse(), Ok(Position([3, 65535])));
        for text in ["3", "3,", "3;4", "3,4,5", "-1,0", "0,65536"] {
            assert!(text.parse::<Position>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_frame_draw_is_all_its_runs() {
        let draws: Draws = "f2..f4".parse().unwrap();
        assert!(draws.contains(9, 2) && draws.contains(1, 3) && !draws.contains(3, 4));
        let runs: Draws = "2..4".parse().unwrap();
        assert!(runs.contains(3, 9) && !runs.contains(9, 3));
    }

    /// A run that ends before the selection as requested is no failure.
    #[test]
    fn ending_early_is_no_failure() {
        let gpu = Gpu::new(a4emu_gpu::gpu::Chip::default());
        let window = |found: bool, stopped: bool| {
            let selection = Selection { submit: None, draw: "5".parse().ok() };
            let stop = stopped.then(|| "3".parse().expect("a draw"));
            Window { found, stopped, ..Window::new(selection, stop) }.finish(&gpu).is_ok()
        };
        assert_eq!([window(false, false), window(true, false), window(false, true)], [false, true, true]);
    }
}
