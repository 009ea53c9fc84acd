//! Finds the packet at which the GPU stood when the kernel made a dump (devcoredump).

use a4emu_decoder::adreno::address::Address;
use a4emu_decoder::adreno::capture::{Hang, IbPlace};
use a4emu_decoder::adreno::packet::Packet;
use a4emu_decoder::adreno::pm4::Outline;
use a4emu_decoder::generation::Generation;

use crate::memory::Memory;

/// Where the GPU stood, and how far the run has come on the way there.
///
/// The way begins at the ring's dword [`Hang::ring_at`] and goes down into the buffers that are called there.
/// In a buffer, the GPU stood at the packet of which it had read the last dword: BUFSZ counts the rest. If that
/// packet is a call, it stood in the called buffer. Where nothing of that one was read, or it is not in the dump,
/// it stood at the call.
#[derive(Clone, Copy, Debug)]
pub struct HangSearch {
    /// What the dump says.
    pub hang: Hang,
    /// The next dword on the way. `None` once the packet has been found.
    next: Option<Step>,
    /// Number of calls around the packet that was found.
    depth: u32,
    /// Whether the packet that executes now is the one.
    is_here: bool,
}

/// A dword in a buffer.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// Number of calls around the buffer.
    depth: u32,
    /// Address of the buffer. `None` stands for a submit, wherever it begins.
    base: Option<Address>,
    /// Address of the dword.
    at: Address,
}

impl HangSearch {
    /// Begins at the ring.
    pub fn new(hang: Hang) -> Self {
        let next =
            (hang.ring_at != 0).then_some(Step { depth: 0, base: None, at: Address::new(hang.ring_at) });
        Self { hang, next, depth: 0, is_here: false }
    }

    /// Whether the GPU stood at the packet that executes now.
    pub fn is_here(&self) -> bool {
        self.is_here
    }

    /// The registers that name the place, for people.
    pub fn registers(&self) -> String {
        let Hang { rptr, wptr, ib1, ib2, .. } = self.hang;
        let ib = |name: &str, IbPlace { base, left }: IbPlace| {
            format!("CP_{name}_BASE {base:#010x}, {left} dwords left")
        };
        match self.depth.max(self.hang.depth()) {
            0 => format!("CP_RB_RPTR {rptr}, CP_RB_WPTR {wptr}"),
            1 => ib("IB1", ib1),
            _ => format!("{}; {}", ib("IB2", ib2), ib("IB1", ib1)),
        }
    }

    /// Looks at `packet` of `generation`, which begins at address `at` of the buffer at `base`, inside of `depth` calls.
    pub(super) fn look(
        &mut self,
        generation: &Generation,
        packet: &Packet<'_>,
        [base, at]: [Address; 2],
        depth: u32,
        memory: &Memory,
    ) {
        self.is_here = false;
        let Some(step) = self.next else { return };
        let bytes = u64::from(4 * (1 + length(packet)));
        let is_on_the_way = step.depth == depth
            && step.base.is_none_or(|wanted| wanted == base)
            && step.at.get().checked_sub(at.get()).is_some_and(|ahead| ahead < bytes);
        if !is_on_the_way {
            return;
        }
        self.next = self.below(generation, packet, depth, memory);
        self.is_here = self.next.is_none();
        self.depth = depth;
    }

    /// The next dword on the way, if it is in the buffer that `packet` calls.
    fn below(
        &self,
        generation: &Generation,
        packet: &Packet<'_>,
        depth: u32,
        memory: &Memory,
    ) -> Option<Step> {
        let Packet::Command { opcode, payload, .. } = *packet else { return None };
        let Outline::Call(call) = (generation.outline)(opcode, payload) else { return None };
        let depth = depth + 1;
        let IbPlace { base, left } = self.hang.ib(depth).filter(|ib| call.address.get() == ib.base)?;
        let last = call.dwords.checked_sub(left)?.checked_sub(1)?;
        let base = Address::new(base);
        let at = base + u64::from(last) * 4;
        memory.read(at, &mut [0; 4]).then_some(Step { depth, base: Some(base), at })
    }
}

/// Dwords after the header.
fn length(packet: &Packet<'_>) -> u32 {
    let dwords = match packet {
        Packet::Registers { values, .. } | Packet::TwoRegisters { values, .. } => values.len(),
        Packet::Filler => 0,
        Packet::Command { payload, .. } => payload.len(),
    };
    dwords as u32
}
