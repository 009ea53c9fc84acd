//! Listings of compiled code.
use std::fmt::Write;

use iced_x86::{Formatter, Instruction, IntelFormatter};

use super::super::lowered::Lowered;
use super::Routine;
use super::coded::Coded;
use super::emit::{CodePurpose, Emitted};
use super::machine::Machine;
use super::segment::{Made, segments};

/// A listing of the code of `program`, for the instruction set that it was (to `routine`) or would be compiled for,
/// with all lanes executing. Each shader instruction (`text` of its index) precedes its machine code. Empty if no part
/// is compiled.
pub fn listing(program: &Lowered, routine: Option<&Routine>, text: &dyn Fn(u32) -> String) -> String {
    let mut listing = Listing { text, out: String::new(), formatter: IntelFormatter::new() };
    let machine = routine.map(|routine| routine.machine).or_else(Machine::here);
    if let Some(machine) = machine {
        segments(program, machine, &Coded::default(), &mut |made| listing.add(made));
        if let Some(routine) = routine {
            routine.each_variant(&mut |coded| {
                listing.beside(coded);
                segments(program, machine, coded, &mut |made| listing.add(made));
            });
        }
    }
    listing.out
}

struct Listing<'l> {
    text: &'l dyn Fn(u32) -> String,
    out: String,
    formatter: IntelFormatter,
}

impl Listing<'_> {
    /// Lists the texture reads and conversion of the code that follows.
    fn beside(&mut self, coded: &Coded) {
        if !coded.readings.is_empty() {
            self.line(format_args!("; with requests for texels:"));
        }
        for (number, reading) in coded.readings.iter().enumerate() {
            self.line(format_args!("; {number}: {reading}"));
        }
        if let Some(epilogue) = &coded.epilogue {
            self.line(format_args!("; with pixels: {epilogue}"));
        }
        self.out.push('\n');
    }

    fn add(&mut self, made: &Made<'_>) {
        let Made { step, emitted } = *made;
        let Emitted { assembled, marks, spills } = emitted;
        let (bytes, instructions) = (assembled.bytes.len(), assembled.code.len());
        self.line(format_args!(
            "; from step {step}: {instructions} instructions in {bytes} bytes, {} constants, {spills} spills",
            assembled.pool.len(),
        ));
        let mut marks = marks.iter().peekable();
        let mut last = None;
        for (index, instruction) in assembled.code.iter().enumerate() {
            while let Some(mark) = marks.next_if(|mark| assembled.body + mark.from <= index) {
                if last.replace(mark.place) != Some(mark.place) {
                    self.place(mark.place);
                }
            }
            self.machine(instruction);
        }
        self.out.push('\n');
    }

    fn place(&mut self, place: CodePurpose) {
        match place {
            CodePurpose::Instruction(at) => {
                let text = (self.text)(at);
                self.line(format_args!("{at:5} {text}"));
            }
            CodePurpose::Pixels => self.line(format_args!("      ; pixels")),
            CodePurpose::Results => self.line(format_args!("      ; registers that are read later")),
            CodePurpose::Next => self.line(format_args!("      ; the next lanes")),
        }
    }

    fn machine(&mut self, instruction: &Instruction) {
        let mut text = String::new();
        self.formatter.format(instruction, &mut text);
        self.line(format_args!("            {text}"));
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        let written = writeln!(self.out, "{line}");
        debug_assert!(written.is_ok(), "strings take everything");
    }
}
