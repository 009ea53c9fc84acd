//! Tracks which registers changed since the last draw.

use a4emu_gpu::regfile::RegFile;

/// A register that was written since the last draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Dword offset.
    pub offset: u32,
    /// Value at the last draw; `None` if the register was unwritten.
    pub before: Option<u32>,
}

/// The registers written since the last draw.
pub struct Tracker {
    changes: Vec<Change>,
    /// Which registers are in `changes`, by the number of the draw being set up.
    marks: Vec<u32>,
    draw: u32,
}

impl Default for Tracker {
    fn default() -> Self {
        Self { changes: Vec::new(), marks: Vec::new(), draw: 1 }
    }
}

impl Tracker {
    /// Registers written since the last draw, in order of their first write.
    pub fn written(&self) -> &[Change] {
        &self.changes
    }

    /// The written registers whose value differs from the one at the last draw.
    pub fn changed<'a>(&'a self, regs: &'a RegFile) -> impl Iterator<Item = Change> + 'a {
        self.changes.iter().copied().filter(|change| regs.written(change.offset) != change.before)
    }

    /// The change of register `offset` since the last draw, if it was written.
    pub fn change(&self, offset: u32) -> Option<Change> {
        let mark = self.marks.get(offset as usize)?;
        let written = *mark == self.draw;
        written.then(|| self.changes.iter().copied().find(|change| change.offset == offset)).flatten()
    }

    /// Records a write to register `offset`, which held `before`.
    #[inline]
    pub fn write(&mut self, offset: u32, before: Option<u32>) {
        if offset as usize >= self.marks.len() {
            self.marks.resize(offset as usize + 1, 0);
        }
        let mark = &mut self.marks[offset as usize];
        if *mark != self.draw {
            *mark = self.draw;
            self.changes.push(Change { offset, before });
        }
    }

    /// Begins the next draw: changes count from here.
    pub fn next_draw(&mut self) {
        self.changes.clear();
        self.draw = self.draw.wrapping_add(1);
    }
}
