//! `--query-mode values`: the values that registers have at draws, with the number of runs of each.

use std::io::{self, Write};

use hashbrown::HashMap;

use super::Format;
use super::jsonl::{self, DrawPlace};
use super::lines::Lines;
use super::query::Held;
use crate::subjects::Subject;

/// Most values that are listed, of all registers together.
const MAX_VALUES: usize = 1 << 16;

/// The values of registers.
pub struct Values {
    registers: Vec<Register>,
    /// How many more values may be kept.
    room: usize,
}

/// The values of a register, in the order of their first use.
#[derive(Clone, Default)]
struct Register {
    /// The index of each value. `None` is a register that was never written.
    indices: HashMap<Option<u32>, usize>,
    values: Vec<Used>,
    /// Runs with values for which there was no room.
    others: u64,
}

/// The runs with a value.
#[derive(Clone, Copy)]
struct Used {
    value: Option<u32>,
    runs: u64,
    first: DrawPlace,
    last: DrawPlace,
}

impl Values {
    /// Makes a list for `count` registers.
    pub fn new(count: usize) -> Self {
        Self { registers: vec![Register::default(); count], room: MAX_VALUES }
    }

    /// Counts a run at `place`, at which register number `index` has this value.
    pub fn count(&mut self, index: usize, value: Option<u32>, place: DrawPlace) {
        let Self { registers, room } = self;
        let Register { indices, values, others } = &mut registers[index];
        if let Some(index) = indices.get(&value) {
            let used = &mut values[*index];
            (used.runs, used.last) = (used.runs + 1, place);
        } else if *room == 0 {
            *others += 1;
        } else {
            *room -= 1;
            indices.insert(value, values.len());
            values.push(Used { value, runs: 1, first: place, last: place });
        }
    }

    /// Writes the values of register number `index`, which is `subject`.
    ///
    /// # Errors
    /// The call fails if the output cannot be written.
    pub fn put(
        &self,
        index: usize,
        subject: &Subject,
        format: Format,
        lines: &mut Lines<'_>,
    ) -> io::Result<()> {
        let Register { values, others, .. } = &self.registers[index];
        let is_json = format == Format::Jsonl;
        for Used { value, runs, first, last } in values.iter().copied() {
            let held = Held { subject, value };
            match runs {
                _ if is_json => lines.put(&jsonl::value(subject, value, runs, [first, last]))?,
                1 => writeln!(lines.out, "{held}: 1 run, {first}")?,
                _ => writeln!(lines.out, "{held}: {runs} runs, {first} to {last}")?,
            }
        }
        match others {
            0 => Ok(()),
            _ if is_json => lines.put(&jsonl::others(subject, *others)),
            _ => {
                let name = subject.source.name();
                writeln!(lines.out, "{name}: {others} runs with further values")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_without_room_are_counted_together() {
        let mut all = Values { room: 2, ..Values::new(1) };
        let place = |draw| DrawPlace { submit: 0, draw, frame_draw: draw };
        for (draw, value) in (0..).zip([1, 2, 1, 3, 1]) {
            all.count(0, Some(value), place(draw));
        }
        let Register { values, others, .. } = &all.registers[0];
        assert_eq!((values[0].runs, values[0].first, values[0].last), (3, place(0), place(4)));
        assert_eq!((values.len(), *others), (2, 1));
    }
}
