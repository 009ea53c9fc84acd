//! Draws of a frame, whatever the number of its tiles.

use crate::memo::Numbers;

/// Numbers draws by the packet that they run: drivers run one buffer of draws for the binning
/// pass and again for each tile of a pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrameDraws {
    /// Those of this submit.
    numbers: Numbers,
    /// How many there were before it.
    before: u32,
}

impl FrameDraws {
    /// The next submit: its packets are others, wherever they lie.
    pub fn begin_submit(&mut self) {
        self.before = self.count();
        self.numbers.clear();
    }

    /// The number of the draw whose packet is at `address`; new ones count up over the capture.
    pub fn number(&mut self, address: u32) -> u32 {
        self.before + self.numbers.of(address) as u32
    }

    /// How many there have been.
    pub fn count(&self) -> u32 {
        self.before + self.numbers.len() as u32
    }
}
