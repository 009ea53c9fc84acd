//! Draws of a frame, whatever the number of its tiles.

use hashbrown::HashMap;

/// Numbers draws by the packet that they run: drivers run one buffer of draws for the binning
/// pass and again for each tile of a pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrameDraws {
    /// By address of the packet, in this submit.
    numbers: HashMap<u32, u32>,
    /// The number that the next new one gets.
    next: u32,
}

impl FrameDraws {
    /// The next submit: its packets are others, wherever they lie.
    pub fn begin_submit(&mut self) {
        self.numbers.clear();
    }

    /// The number of the draw whose packet is at `address`; new ones count up over the capture.
    pub fn number(&mut self, address: u32) -> u32 {
        let number = *self.numbers.entry(address).or_insert(self.next);
        self.next = self.next.max(number + 1);
        number
    }

    /// How many there have been.
    pub fn count(&self) -> u32 {
        self.next
    }
}
