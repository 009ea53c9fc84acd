//! Footprints: the registers that packets read (inputs) and write (outputs).

use std::cell::{Cell, RefCell};

use super::{RegFile, RegSet, Seen, Value};

/// The input and output registers of packets that ran. If the inputs have the same values, the packets have
/// the same effect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Registers that were read before one of the packets wrote them.
    inputs: Vec<Value>,
    /// Registers that the packets wrote, with their final values.
    outputs: Vec<Value>,
}

/// Registers that a value was made from during the recording of a footprint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// All of the registers.
    values: Vec<Value>,
    /// The registers that packets of the recording had written before. A replay always sets the same values.
    fixed: Vec<Value>,
}

/// A [`Footprint`] that is being recorded.
#[derive(Clone, Default)]
pub(super) struct Recorder {
    /// Registers that packets have written.
    written: RegSet,
    /// Registers that were read before they were written.
    read: RefCell<RegSet>,
    inputs: RefCell<Vec<Value>>,
    /// Whether reads are currently ignored.
    is_paused: Cell<bool>,
    /// Number of this footprint in the register file.
    number: u64,
    /// Number of registers that packets have written.
    count: usize,
}

impl Recorder {
    /// Notes a read of the register at `offset`, which holds `value`.
    pub fn read(&self, offset: u32, value: u32) {
        if !self.is_paused.get() && !self.written.contains(offset) && self.read.borrow_mut().insert(offset) {
            self.inputs.borrow_mut().push((offset as u16, value));
        }
    }

    /// Notes a write of the register at `offset`.
    pub fn write(&mut self, offset: u32) {
        self.count += usize::from(self.written.insert(offset));
    }
}

impl RegFile {
    /// Starts to record which registers are read and written.
    pub fn begin_footprint(&mut self) {
        self.footprints += 1;
        self.noting = Some(Box::new(Recorder { number: self.footprints, ..Recorder::default() }));
    }

    /// Ends the recording and returns the footprint.
    pub fn end_footprint(&mut self) -> Option<Footprint> {
        let Recorder { written, inputs, .. } = *self.noting.take()?;
        let outputs = written.iter().map(|offset| (offset as u16, self.words[offset as usize])).collect();
        Some(Footprint { inputs: inputs.into_inner(), outputs })
    }

    /// The result of `make`. Its register reads are not part of a footprint.
    pub fn untracked<T>(&self, make: impl FnOnce(&Self) -> T) -> T {
        let pause = |is_paused| self.noting.iter().for_each(|noting| noting.is_paused.set(is_paused));
        pause(true);
        let made = make(self);
        pause(false);
        made
    }

    /// Notes the registers of `seen` as read, because a value made from them is used again.
    pub fn note_seen(&self, seen: &Seen) {
        // Already in this recording: each of these registers is an input or was written earlier.
        if let Some(noting) = &self.noting
            && !noting.is_paused.get()
            && seen.noted.replace(noting.number) != noting.number
        {
            seen.values.iter().for_each(|(offset, value)| noting.read((*offset).into(), *value));
        }
    }

    /// Number of registers that packets have written since [`RegFile::begin_footprint`].
    pub fn written_since(&self) -> usize {
        self.noting.as_ref().map_or(0, |noting| noting.count)
    }

    /// The registers of `seen`, split by the footprint that is being recorded.
    pub fn sources(&self, seen: &Seen) -> Sources {
        let is_written = |offset| self.noting.as_ref().is_some_and(|noting| noting.written.contains(offset));
        let values = seen.values.clone();
        let fixed = values.iter().copied().filter(|(offset, _)| is_written(u32::from(*offset))).collect();
        Sources { values, fixed }
    }

    /// Whether the inputs of `footprint` have their recorded values.
    pub fn inputs_match(&self, footprint: &Footprint) -> bool {
        self.holds(&footprint.inputs)
    }

    /// Sets the outputs of `footprint` to their recorded values.
    pub fn apply_outputs(&mut self, footprint: &Footprint) {
        for (offset, value) in &footprint.outputs {
            self.set((*offset).into(), *value);
            self.note_write((*offset).into());
        }
    }

    /// Makes a value again from `sources`, with the register values after a replay of their packets.
    /// [`Recomputed::Same`] if these equal the recorded values; [`Recomputed::OtherInputs`] if `make` reads other
    /// registers now.
    pub fn recompute<T>(&mut self, sources: &Sources, make: impl FnOnce(&Self) -> T) -> Recomputed<T> {
        let offset = |(offset, _): &Value| *offset;
        let held = |value: &Value| (offset(value), self.words[usize::from(offset(value))]);
        let now: Vec<Value> = sources.fixed.iter().map(held).collect();
        self.hold(&sources.fixed);
        let remade = match self.holds(&sources.values) {
            true => Recomputed::Same,
            false => {
                let (made, seen) = self.watch(make);
                let is_whole = seen.values.iter().map(offset).eq(sources.values.iter().map(offset));
                if is_whole { Recomputed::New(made) } else { Recomputed::OtherInputs }
            }
        };
        self.hold(&now);
        remade
    }

    /// Sets registers to `values`, without noting a write or a change.
    fn hold(&mut self, values: &[Value]) {
        values.iter().for_each(|(offset, value)| self.words[*offset as usize] = *value);
    }
}

/// Result of [`RegFile::recompute`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recomputed<T> {
    /// The value is unchanged.
    Same,
    /// The new value.
    New(T),
    /// The value is now made from other registers.
    OtherInputs,
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: u32 = 0x2100;
    const B: u32 = 0x2101;
    const C: u32 = 0x3000;

    fn write(regs: &mut RegFile, offset: u32, value: u32) {
        regs.write(offset, value).expect("a register");
    }

    /// A register file in which A was 1 and B was 2, and the footprint of `packets` on it.
    fn noted(packets: impl FnOnce(&mut RegFile)) -> (RegFile, Footprint) {
        let mut regs = RegFile::default();
        assert!(regs.write_run(A, &[1, 2]));
        regs.begin_footprint();
        packets(&mut regs);
        let footprint = regs.end_footprint().expect("it was noted");
        (regs, footprint)
    }

    #[test]
    fn registers_read_before_a_write_are_inputs() {
        let (_, footprint) = noted(|regs| {
            regs.read(A);
            write(regs, A, 5);
            write(regs, B, 6);
            regs.read(A);
            regs.read(B);
            regs.untracked(|regs| regs.read(C));
            assert!(regs.write_run(B, &[7, 8]));
        });
        let inputs = vec![(A as u16, 1)];
        let outputs = vec![(A as u16, 5), (B as u16, 7), (B as u16 + 1, 8)];
        assert_eq!(footprint, Footprint { inputs, outputs });
    }

    /// A cached value is used without reading its registers again; they count as read.
    #[test]
    fn registers_of_reused_values_count_as_read() {
        let mut regs = RegFile::default();
        let (_, seen) = regs.watch(|regs| (regs.read(A), regs.read(C)));
        for _ in 0..2 {
            regs.begin_footprint();
            regs.untracked(|regs| regs.note_seen(&seen));
            write(&mut regs, C, 9);
            regs.note_seen(&seen);
            let footprint = regs.end_footprint().expect("it was noted");
            assert_eq!(footprint.inputs, [(A as u16, 0)]);
        }
    }

    #[test]
    fn applied_footprint_outputs_count_as_register_writes() {
        let (_, footprint) = noted(|regs| {
            regs.read(A);
            write(regs, C, 3);
        });
        let mut regs = RegFile::default();
        assert!(!regs.inputs_match(&footprint));
        write(&mut regs, A, 1);
        let (_, seen) = regs.watch(|regs| regs.read(C));
        assert!(regs.inputs_match(&footprint));
        regs.apply_outputs(&footprint);
        assert_eq!((regs.written(A), regs.written(B), regs.written(C)), (Some(1), None, Some(3)));
        assert!(!regs.is_untouched(&seen));
    }

    #[test]
    fn recomputed_values_use_packet_outputs_and_current_registers() {
        let sum = |regs: &RegFile| regs.read(A) + regs.read(C);
        let mut regs = RegFile::default();
        regs.begin_footprint();
        write(&mut regs, A, 5);
        let (_, seen) = regs.watch(sum);
        let sources = regs.sources(&seen);
        regs.end_footprint();
        write(&mut regs, A, 1);
        assert_eq!(regs.recompute(&sources, sum), Recomputed::Same, "packets will have written it");
        write(&mut regs, C, 20);
        assert_eq!(regs.recompute(&sources, sum), Recomputed::New(25));
        assert_eq!(regs.read(A), 1, "as it was");
        let other = |regs: &RegFile| if regs.read(C) == 20 { sum(regs) + regs.read(B) } else { sum(regs) };
        assert_eq!(regs.recompute(&sources, other), Recomputed::OtherInputs);
    }
}
