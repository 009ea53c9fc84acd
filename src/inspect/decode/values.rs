//! `--query-mode values`: the values that chosen registers have at draws, with the number of runs of each.

use std::io::{self, Write};

use a4emu_decoder::bits::value::{Show, WordText};
use a4emu_decoder::regs::RegName;
use hashbrown::HashMap;

use super::jsonl::{self, Place};
use super::lines::Lines;
use super::output::{Hold, Palette};
use super::sink::Sink;
use super::tracker::Tracker;
use super::{Format, Options};
use crate::register_names::{Asked, find};
use a4emu_gpu::budget::{Budget, Work};
use a4emu_gpu::cp::Call;
use a4emu_gpu::gpu::Gpu;

/// Most values that are listed, of all registers together.
const MAX_VALUES: usize = 1 << 16;

/// The values of registers.
pub struct Values<'a> {
    lines: Lines<'a>,
    palette: Palette,
    format: Format,
    registers: Vec<Register>,
    /// Number of values of all registers.
    count: usize,
}

/// A register, with its values in the order of their first use.
struct Register {
    asked: Asked,
    /// The index of each value. `None` is a register that was never written.
    indices: HashMap<Option<u32>, usize>,
    values: Vec<Used>,
    /// Draws with values beyond [`MAX_VALUES`].
    others: u64,
}

/// The draws with a value.
struct Used {
    value: Option<u32>,
    draws: u64,
    first: Place,
    last: Place,
}

impl<'a> Values<'a> {
    /// Makes a list for the registers of `options` that writes to `lines`.
    ///
    /// # Errors
    /// The call fails if a register is unknown.
    pub fn new(lines: Lines<'a>, palette: Palette, options: &Options) -> anyhow::Result<Self> {
        let asked = options.query.iter().map(|text| find(text)).collect::<Result<Vec<_>, _>>()?.concat();
        let register = |asked| Register { asked, indices: HashMap::new(), values: Vec::new(), others: 0 };
        let registers = asked.into_iter().map(register).collect();
        Ok(Self { lines, palette, format: options.format, registers, count: 0 })
    }

    fn put(&mut self, index: usize) -> io::Result<()> {
        let Register { asked, values, others, .. } = &self.registers[index];
        let Palette { name, .. } = self.palette;
        let reg = RegName { offset: asked.offset };
        if self.format == Format::Jsonl {
            for Used { value, draws, first, last } in values {
                self.lines.put(&jsonl::value(asked, *value, *draws, [*first, *last]))?;
            }
            return if *others > 0 { self.lines.put(&jsonl::others(asked, *others)) } else { Ok(()) };
        }
        for Used { value, draws, first, last } in values {
            let out = &mut self.lines.out;
            match value {
                Some(word) => {
                    let text = WordText { rows: asked.fields(), word: *word, show: Show::Full };
                    write!(out, "{name}{reg}{name:#} = {word:08x} {text}")?;
                }
                None => write!(out, "{name}{reg}{name:#} was never written")?,
            }
            match draws {
                1 => writeln!(out, ": 1 run, {first}")?,
                _ => writeln!(out, ": {draws} runs, {first} to {last}")?,
            }
        }
        if *others > 0 {
            writeln!(self.lines.out, "{name}{reg}{name:#}: {others} runs with further values")?;
        }
        Ok(())
    }
}

impl Register {
    /// Counts a draw at `place` with `value`. A new value is kept if there is `room`. Returns whether it was.
    fn count(&mut self, value: Option<u32>, place: Place, room: bool) -> bool {
        if let Some(index) = self.indices.get(&value) {
            let used = &mut self.values[*index];
            (used.draws, used.last) = (used.draws + 1, place);
            return false;
        }
        if !room {
            self.others += 1;
            return false;
        }
        self.indices.insert(value, self.values.len());
        self.values.push(Used { value, draws: 1, first: place, last: place });
        true
    }
}

impl Sink for Values<'_> {
    fn lists_packets(&self) -> bool {
        false
    }

    fn pay(&mut self, budget: &Budget) {
        self.lines.out.pay(budget);
    }

    fn hold(&mut self, hold: Hold) -> io::Result<()> {
        self.lines.out.hold(hold)
    }

    fn call(&mut self, gpu: &Gpu, call: &Call, _: &Tracker) -> io::Result<()> {
        gpu.budget.observe(Work::Dword, self.registers.len() as u64);
        let place = Place::of(call);
        for register in &mut self.registers {
            let asked = register.asked;
            let value = gpu.regs.written(asked.offset).map(|value| value & asked.mask());
            if value.is_some() || !asked.by_pattern {
                self.count += usize::from(register.count(value, place, self.count < MAX_VALUES));
            }
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        (0..self.registers.len()).try_for_each(|index| self.put(index))?;
        self.lines.out.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_without_room_are_counted_together() {
        let asked = find("RB_DEPTH_CONTROL").unwrap()[0];
        let mut register = Register { asked, indices: HashMap::new(), values: Vec::new(), others: 0 };
        let place = |draw| Place { submit: 0, draw, frame_draw: draw };
        for (draw, (value, room)) in (0..).zip([(1, true), (2, true), (1, false), (3, false), (1, false)]) {
            register.count(Some(value), place(draw), room);
        }
        let ones = &register.values[0];
        assert_eq!((ones.draws, ones.first, ones.last), (3, place(0), place(4)));
        assert_eq!((register.values.len(), register.others), (2, 1));
    }
}
