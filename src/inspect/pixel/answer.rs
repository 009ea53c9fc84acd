//! The output of `pixel`.

use a4emu_decoder::adreno::address::Address;
use std::fmt;

use serde::Serialize;

use super::Wanted;
use super::trail::HistoryPart;
use super::writers::{Change, Writer};
use a4emu_gpu::cp::Call;
use a4emu_gpu::draw::fs::history::{Color, PixelValues, Touch, Verdict};
use a4emu_gpu::draw::gras::setup::Face;
use a4emu_gpu::draw::rb::rendered::Written;
use a4emu_gpu::pass::Pass;
use a4emu_gpu::settled::Synced;
use a4emu_shader::format::Codec;
use a4emu_shader::format::arrangement::resolved;

/// The history of a pixel.
#[derive(Serialize)]
pub struct Answer {
    kind: &'static str,
    /// Column and row.
    pixel: [u32; 2],
    surface: Surface,
    /// The events that affected the pixel, in order.
    events: Vec<Event>,
    /// Its value at the end; `None` if the capture has no memory there.
    value: Option<Color>,
    /// The last writer of the value.
    writer: Writer,
}

#[derive(Serialize)]
struct Surface {
    address: u64,
    width: u32,
    height: u32,
    format: String,
}

/// An event that affected the pixel.
#[derive(Serialize)]
pub(super) struct Event {
    submit: u32,
    draw: u32,
    frame_draw: u32,
    pass: &'static str,
    /// Address of the draw packet.
    address: u64,
    #[serde(flatten)]
    what: What,
}

#[derive(Serialize)]
#[serde(untagged)]
enum What {
    /// A resolve from GMEM.
    Copy {
        verdict: &'static str,
        to: u64,
        /// The colour that the resolve made of several samples.
        #[serde(skip_serializing_if = "Option::is_none")]
        resolved: Option<Color>,
    },
    Primitive(Box<Primitive>),
    /// A store by a shader.
    Stored {
        verdict: &'static str,
        before: Values,
        after: Values,
    },
}

/// The effect of a primitive.
#[derive(Serialize)]
struct Primitive {
    /// Screen position of the pixel.
    at: [i32; 2],
    primitive: u32,
    face: &'static str,
    verdict: &'static str,
    /// The reason for the verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<Why>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<Color>,
    before: Values,
    after: Values,
}

/// The reason for a verdict. For a test: `value func against` is false.
#[derive(Serialize)]
#[serde(untagged)]
enum Why {
    Kill { instruction: u32 },
    Failure { message: String },
    Floats { func: String, value: f32, against: f32 },
    Stencil { func: String, value: u32, against: u32, op: String },
}

#[derive(PartialEq, Serialize)]
struct Values {
    #[serde(skip_serializing_if = "Option::is_none")]
    color: Option<Color>,
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stencil: Option<u32>,
}

/// The state of a pixel in memory after a call.
pub(super) struct Left {
    /// Address of the pixel.
    pub to: u64,
    /// The colour that a resolve made of several samples.
    pub resolved: Option<Color>,
}

impl Event {
    /// The events of a call that is `part` of the history of a pixel, with its state `left` after the call.
    pub fn of(
        call: &Call,
        address: Address,
        part: HistoryPart,
        left: Left,
        touches: Vec<Touch>,
    ) -> Vec<Self> {
        let event = |what| Self::new(call, address, what);
        match part {
            HistoryPart::Copied => {
                let Left { to, resolved } = left;
                vec![event(What::Copy { verdict: "copied", to, resolved })]
            }
            HistoryPart::Drawn { at, target } => {
                let primitive = |touch| What::Primitive(Box::new(Primitive::new(touch, at, target)));
                touches.into_iter().map(|touch| event(primitive(touch))).collect()
            }
        }
    }
}

impl Event {
    fn new(call: &Call, address: Address, what: What) -> Self {
        Self {
            submit: call.submit(),
            draw: call.number(),
            frame_draw: call.frame_draw(),
            pass: call.pass_name(),
            address: address.get(),
            what,
        }
    }

    /// The event of a store by a shader of `call`. `codec` is the format of the pixel.
    pub fn stored(call: &Call, address: Address, codec: &Codec, change: &Change) -> Self {
        let values = |bytes: &[u8]| {
            let color = Color::new(codec, resolved(codec, bytes));
            Values { color: Some(color), depth: None, stencil: None }
        };
        let [before, after] = [&change.before, &change.after].map(|bytes| values(bytes));
        Self::new(call, address, What::Stored { verdict: "stored", before, after })
    }

    /// Whether the event rendered to memory, not to GMEM.
    pub fn writes_memory(&self) -> bool {
        match &self.what {
            What::Copy { .. } => true,
            What::Primitive(primitive) => {
                self.pass == Pass::Bypass.name()
                    && primitive.verdict == "written"
                    && primitive.after.color.is_some()
            }
            What::Stored { .. } => false,
        }
    }
}

/// Removes stores to memory that a later resolve has overwritten from `events`.
pub(super) fn of_memory(events: Vec<Event>) -> Vec<Event> {
    let mut is_in_memory = true;
    let mut kept: Vec<Event> = Vec::with_capacity(events.len());
    for event in events.into_iter().rev() {
        match &event.what {
            What::Copy { .. } => is_in_memory = false,
            What::Primitive(_) => is_in_memory |= event.pass == Pass::Restore.name(),
            What::Stored { .. } if !is_in_memory => continue,
            What::Stored { .. } => {}
        }
        kept.push(event);
    }
    kept.reverse();
    kept
}

impl Primitive {
    fn new(touch: Touch, at: [i32; 2], target: Option<usize>) -> Self {
        let values = |values: &PixelValues| Values {
            color: target.and_then(|target| values.colors.get(target).copied()),
            depth: values.depth,
            stencil: values.stencil,
        };
        let (verdict, why) = verdict(&touch.verdict);
        Self {
            at,
            primitive: touch.primitive,
            face: if touch.face == Face::Front { "front" } else { "back" },
            verdict,
            why,
            output: touch.outputs.and_then(|outputs| outputs.get(target?).copied()),
            before: values(&touch.before),
            after: values(&touch.after),
        }
    }
}

fn verdict(verdict: &Verdict) -> (&'static str, Option<Why>) {
    match verdict {
        Verdict::Scissored => ("scissored", None),
        Verdict::Culled => ("culled", None),
        Verdict::Masked => ("masked", None),
        Verdict::Written => ("written", None),
        Verdict::Killed { instruction } => ("killed", Some(Why::Kill { instruction: *instruction })),
        Verdict::Failed(message) => ("failed", Some(Why::Failure { message: message.clone() })),
        Verdict::Alpha { func, alpha, reference } => {
            ("alpha", Some(Why::Floats { func: func.name().to_owned(), value: *alpha, against: *reference }))
        }
        Verdict::Depth { func, z, stored } => {
            ("depth", Some(Why::Floats { func: func.name().to_owned(), value: *z, against: *stored }))
        }
        Verdict::Stencil { func, reference, stored, op } => {
            let op = op.name().to_owned();
            (
                "stencil",
                Some(Why::Stencil { func: func.name().to_owned(), value: *reference, against: *stored, op }),
            )
        }
    }
}

impl Answer {
    /// The history of `wanted` on `surface`, with its value at the `end` of the run.
    pub(super) fn new(
        wanted: &Wanted,
        surface: &Written,
        events: Vec<Event>,
        writer: Writer,
        end: Synced<'_>,
    ) -> Self {
        let Written { address, width, height, format, .. } = *surface;
        Self {
            kind: "pixel",
            pixel: wanted.at.0,
            surface: Surface { address: address.get(), width, height, format: format!("{format:?}") },
            events,
            value: wanted.value(end),
            writer,
        }
    }

    /// The colour after the last event, if it has one.
    fn last(&self) -> Option<Color> {
        self.events.iter().rev().find_map(|event| match &event.what {
            What::Primitive(primitive) => primitive.after.color,
            What::Stored { after, .. } => after.color,
            What::Copy { resolved, .. } => *resolved,
        })
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([x, y], Surface { address, width, height, format }) = (self.pixel, &self.surface);
        writeln!(f, "pixel {x},{y} of the {width}x{height} {format} surface at {address:#010x}")?;
        if self.events.is_empty() {
            writeln!(f, "  no draw covered it")?;
        }
        self.events.iter().try_for_each(|event| event.fmt(f))?;
        match self.value {
            Some(value) => write!(f, "  holds {}, written by {}", Shown(value), self.writer)?,
            None => write!(f, "  the capture has no memory there")?,
        }
        // A resolve converts nothing here, so another value comes from a later writer.
        match (self.last(), self.value) {
            (Some(last), Some(value)) if Shown(last).to_string() != Shown(value).to_string() => {
                writeln!(f, ": not what the last of these left")
            }
            _ => writeln!(f),
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { draw, frame_draw, pass, .. } = self;
        write!(f, "  draw {draw:<5} {:<6} {pass:<8}", format!("f{frame_draw}"))?;
        match &self.what {
            What::Copy { verdict, to, resolved } => {
                write!(f, " {verdict:<9} to {to:#010x}")?;
                resolved.iter().try_for_each(|color| write!(f, ", samples resolved to {}", Shown(*color)))?;
                writeln!(f)
            }
            What::Primitive(primitive) => primitive.fmt(f),
            What::Stored { verdict, before, after } => {
                write!(f, " {verdict:<9}")?;
                if let Some((before, after)) = before.color.zip(after.color) {
                    write!(f, " colour {} -> {}", Shown(before), Shown(after))?;
                }
                writeln!(f)
            }
        }
    }
}

impl fmt::Display for Primitive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " {:<9} primitive {}", self.verdict, self.primitive)?;
        match &self.why {
            None => {}
            Some(Why::Kill { instruction }) => write!(f, ", instruction {instruction}")?,
            Some(Why::Failure { message }) => write!(f, ": {message}")?,
            Some(Why::Floats { func, value, against }) => write!(f, ": not {value} {func} {against}")?,
            Some(Why::Stencil { func, value, against, op }) => {
                write!(f, ": not {value:#04x} {func} {against:#04x}, {op}")?;
            }
        }
        if let Some(output) = self.output {
            write!(f, ", shader {}", Shown(output))?;
        }
        let changed = |f: &mut fmt::Formatter<'_>, name: &str, before: String, after: String| {
            if before == after {
                write!(f, ", {name} {before}")
            } else {
                write!(f, ", {name} {before} -> {after}")
            }
        };
        if let Some((before, after)) = self.before.color.zip(self.after.color) {
            changed(f, "colour", Shown(before).to_string(), Shown(after).to_string())?;
        }
        if let Some((before, after)) = self.before.depth.zip(self.after.depth) {
            changed(f, "depth", before.to_string(), after.to_string())?;
        }
        if let Some((before, after)) = self.before.stencil.zip(self.after.stencil) {
            changed(f, "stencil", format!("{before:#04x}"), format!("{after:#04x}"))?;
        }
        writeln!(f)
    }
}

/// Displays a colour with four decimals per component.
struct Shown(Color);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Color::Floats([r, g, b, a]) => write!(f, "({r:.4} {g:.4} {b:.4} {a:.4})"),
            Color::Integers([r, g, b, a]) => write!(f, "({r} {g} {b} {a})"),
        }
    }
}
