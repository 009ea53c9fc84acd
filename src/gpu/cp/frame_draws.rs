//! Numbers of a frame's draws, independent of its number of tiles.

use crate::memo::Numbers;
use a4emu_decoder::adreno::address::Address;

/// Numbers draws by the address of their packet. Drivers run one buffer of draws for the binning pass and
/// again for each tile, so a packet runs several times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrameDraws {
    /// Numbers of the draws of this submit.
    numbers: Numbers,
    /// Number of frame draws before this submit.
    before: u32,
}

impl FrameDraws {
    /// Begins the next submit. Its packets are new, even at the same addresses.
    pub fn begin_submit(&mut self) {
        self.before = self.count();
        self.numbers.clear();
    }

    /// The number of the draw whose packet is at `address`. New packets count up over the capture.
    pub fn number(&mut self, address: Address) -> u32 {
        self.before + self.numbers.of(address) as u32
    }

    /// Number of frame draws so far.
    pub fn count(&self) -> u32 {
        self.before + self.numbers.len() as u32
    }
}
