//! Lists the packets before each draw, as `decode` does.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::rc::Rc;

use a4emu_decoder::adreno::packet::Packet;

use super::commands::{Command, Commands};
use super::frame::Register;
use super::room::{DataKind, Room, kept};
use crate::decode::{Listing, Output};
use a4emu_gpu::cp::observer::Load;
use a4emu_gpu::cp::{Call, Flow, Observer};
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::settled::Running;

/// Maximum number of lines of a draw: half of them from the start, half from the end.
const MAX_LINES: usize = 400;

/// Maximum size of the text before a draw, in bytes.
const MAX_BYTES: usize = 1 << 20;

/// An observer that lists the packets of the first run of each command.
#[derive(Default)]
pub struct Packets {
    commands: Commands,
    process: String,
    listing: Option<Listing<'static>>,
    text: Rc<RefCell<Text>>,
    /// Lines of packets by number of the command.
    pub lines: Vec<Vec<String>>,
    /// Registers by name.
    pub registers: BTreeMap<String, Register>,
    /// The first draw with omitted lines, and the number of such draws.
    cut: Option<(u32, u32)>,
    /// The room that is used.
    pub room: Room,
}

/// The text since the last draw. Text beyond its maximum is dropped.
#[derive(Default)]
struct Text(Vec<u8>);

/// A writer to a shared text.
struct Writer(Rc<RefCell<Text>>);

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Text(text) = &mut *self.0.borrow_mut();
        let fits = (MAX_BYTES - text.len().min(MAX_BYTES)).min(bytes.len());
        text.extend_from_slice(&bytes[..fits]);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Packets {
    /// The first process that the capture names.
    pub fn process(&self) -> &str {
        &self.process
    }

    /// Notes about omitted lines.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        let cut = self.cut.map(|(draw, count)| {
            format!("of the packets of {count} frame draws, f{draw} first, {MAX_LINES} lines are shown, the first and the last")
        });
        self.room.notes().chain(cut)
    }

    /// The listing, unless the current packet is a repetition.
    fn listing(&mut self, gpu: &Gpu) -> Option<&mut Listing<'static>> {
        if gpu.at.repeated || !self.room.has(DataKind::Packets) || self.text.borrow().0.len() >= MAX_BYTES {
            return None;
        }
        let text = &self.text;
        Some(self.listing.get_or_insert_with(|| Listing::plain(Output::new(Box::new(Writer(text.clone()))))))
    }

    /// The text since the last draw.
    fn take(&mut self) -> String {
        if let Some(listing) = self.listing.take() {
            let written = listing.finish();
            debug_assert!(written.is_ok(), "the writer takes everything");
        }
        let Text(text) = std::mem::take(&mut *self.text.borrow_mut());
        String::from_utf8_lossy(&text).into_owned()
    }

    /// The lines of `text` for `draw`, cut to the maximum.
    fn cut(&mut self, text: &str, draw: u32) -> Vec<String> {
        let all: Vec<&str> = text.lines().collect();
        let lines = match all.len().checked_sub(MAX_LINES) {
            None | Some(0) => all.into_iter().map(str::to_owned).collect(),
            Some(more) => {
                self.cut.get_or_insert((draw, 0)).1 += 1;
                let (first, last) = (&all[..MAX_LINES / 2], &all[all.len() - MAX_LINES / 2..]);
                let gap = format!("          ... {more} lines ...");
                let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
                [owned(first), vec![gap], owned(last)].concat()
            }
        };
        let bytes = lines.iter().map(|line| kept(line)).sum();
        if self.room.take(DataKind::Packets, bytes, draw) { lines } else { Vec::new() }
    }
}

impl Observer for Packets {
    fn process(&mut self, command: &str) {
        if self.process.is_empty() {
            command.clone_into(&mut self.process);
        }
    }

    fn packet(&mut self, gpu: &mut Running<'_>, packet: &Packet<'_>) {
        if let Some(listing) = self.listing(gpu) {
            listing.packet(gpu, packet);
        }
    }

    fn register(&mut self, gpu: &mut Running<'_>, offset: u32, _: Option<u32>) {
        let Some(listing) = self.listing(gpu) else { return };
        listing.register(gpu, offset);
        let registers = gpu.chip.generation().registers;
        let name = registers.name(offset).to_string();
        self.registers.entry(name).or_insert_with(|| Register::at(registers, offset));
    }

    fn load(&mut self, gpu: &mut Running<'_>, load: Load<'_>) {
        if let Some(listing) = self.listing(gpu) {
            listing.load(gpu, &load);
        }
    }

    fn call(&mut self, gpu: &mut Running<'_>, call: &Call) -> Flow {
        let text = self.take();
        if let Some(Command::New(_)) = self.commands.of(gpu) {
            let lines = self.cut(&text, call.frame_draw());
            self.lines.push(lines);
        }
        Flow::Continue
    }
}
