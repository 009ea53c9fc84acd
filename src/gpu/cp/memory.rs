//! Packets that store, copy, compare and wait on memory.

use a4emu_decoder::a4xx::enums::{CondFunction, PollMemoryType};
use a4emu_decoder::a4xx::pm4::{
    CP_MEM_TO_MEM_0, CP_WAIT_REG_MEM_0, CondExec, CondWrite, MemToMem, WaitRegMem,
};
use a4emu_decoder::adreno::address::Address;

use super::Cp;
use super::stream::Step;
use crate::fault::{Client, Fault};

/// Whether `value` FUNCTION `reference` holds. Unknown functions hold.
fn holds<T: Ord>(function: CondFunction, value: T, reference: T) -> bool {
    match function {
        CondFunction::WRITE_ALWAYS | CondFunction::Other(_) => true,
        CondFunction::WRITE_LT => value < reference,
        CondFunction::WRITE_LE => value <= reference,
        CondFunction::WRITE_EQ => value == reference,
        CondFunction::WRITE_NE => value != reference,
        CondFunction::WRITE_GE => value >= reference,
        CondFunction::WRITE_GT => value > reference,
    }
}

/// What a packet compares a value with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Comparison {
    /// The comparison, and where the value is.
    pub(super) control: CP_WAIT_REG_MEM_0,
    /// Address or register of the value.
    pub(super) polled: Address,
    /// What the value is compared with.
    pub(super) reference: u32,
    /// The bits of the value that count.
    pub(super) mask: u32,
}

impl Comparison {
    /// Whether it holds for `value`.
    fn holds(&self, value: u32) -> bool {
        let (control, value) = (self.control, value & self.mask);
        match control.SIGNED_COMPARE() {
            true => holds(control.FUNCTION(), value.cast_signed(), self.reference.cast_signed()),
            false => holds(control.FUNCTION(), value, self.reference),
        }
    }
}

impl Cp<'_> {
    /// CP_MEM_WRITE: stores the dwords that follow the address.
    pub(super) fn mem_write(&mut self, to: impl Into<Address>, words: &[u32]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.store(to, &bytes);
    }

    /// CP_MEM_TO_MEM.
    pub(super) fn mem_to_mem(&mut self, packet: &MemToMem<'_>) {
        let sources: Vec<Address> = packet.rest.iter().copied().map(Address::from).collect();
        self.add_memory(packet.control, packet.DST.into(), &sources);
    }

    /// Stores the sum of up to three sources. Each may be negated.
    pub(super) fn add_memory(&mut self, control: CP_MEM_TO_MEM_0, to: Address, sources: &[Address]) {
        let len = if control.DOUBLE() { 8 } else { 4 };
        let negate = [control.NEG_A(), control.NEG_B(), control.NEG_C()];
        let mut sum = 0u64;
        let stale = sources.iter().take(negate.len()).any(|source| self.engine.is_stale(*source));
        for (&source, negate) in sources.iter().zip(negate) {
            self.depends_on_draws("what CP_MEM_TO_MEM copies", source);
            let value = self.load_wide(source, len);
            sum = if negate { sum.wrapping_sub(value) } else { sum.wrapping_add(value) };
        }
        self.store(to, &sum.to_le_bytes()[..len]);
        if stale {
            self.engine.mark_stale(to, len as u32);
        }
    }

    /// CP_COND_WRITE: stores if the comparison of memory or a register holds.
    pub(super) fn cond_write(&mut self, packet: &CondWrite<'_>) {
        let control = packet.control;
        let polled = match control.POLL_MEMORY() {
            true => {
                self.depends_on_draws("the condition of CP_COND_WRITE", packet.POLL_ADDR);
                self.gpu.fetch_u32(Client::Packet, packet.POLL_ADDR)
            }
            false => self.read_reg(packet.POLL_ADDR),
        };
        if !holds(control.FUNCTION(), polled & packet.MASK, packet.REF) {
            return;
        }
        match control.WRITE_MEMORY() {
            true => self.store(packet.WRITE_ADDR, &packet.WRITE_DATA.to_le_bytes()),
            false => self.write_reg(packet.WRITE_ADDR, packet.WRITE_DATA),
        }
    }

    /// CP_WAIT_REG_MEM.
    pub(super) fn wait_reg_mem(&mut self, packet: &WaitRegMem<'_>) {
        let (polled, reference, mask) = (packet.POLL_ADDR.into(), packet.REF, packet.MASK);
        self.wait(Comparison { control: packet.control, polled, reference, mask });
    }

    /// Waits until a comparison holds. In a replay memory does not change during a wait, so that it is tested once. A wait
    /// that would never end is a fault; execution continues.
    pub(super) fn wait(&mut self, until: Comparison) {
        self.gpu.mem.host_may_have_written();
        let value = self.polled(&until, "the condition of CP_WAIT_REG_MEM");
        if !until.holds(value) && !self.is_met_by_host(&until) {
            let (polled, value) = (until.polled, value & until.mask);
            self.trouble(Fault::EndlessWait { polled, value, reference: until.reference });
        }
    }

    /// Waits for the program beside the GPU, if there is one that sees the polled memory. Returns whether the comparison
    /// came to hold.
    fn is_met_by_host(&mut self, until: &Comparison) -> bool {
        let polls_memory = until.control.POLL() != PollMemoryType::POLL_REGISTER;
        let Some(mut host) = self.gpu.host.filter(|_| polls_memory && self.gpu.mem.is_seen(until.polled))
        else {
            return false;
        };
        // The program may first look at the results of the work so far.
        self.gpu.settle();
        let is_met = host.wait(|| until.holds(self.gpu.fetch_u32(Client::Packet, until.polled)));
        self.gpu.mem.host_may_have_written();
        self.gpu.host = Some(host);
        is_met
    }

    /// Whether a comparison holds. `what` names it.
    pub(super) fn is_met(&mut self, comparison: Comparison, what: &str) -> bool {
        let value = self.polled(&comparison, what);
        comparison.holds(value)
    }

    /// The value that is compared.
    fn polled(&mut self, comparison: &Comparison, what: &str) -> u32 {
        let at = comparison.polled;
        match comparison.control.POLL() {
            PollMemoryType::POLL_REGISTER => self.read_reg(at.get() as u32),
            _ => {
                self.depends_on_draws(what, at);
                self.gpu.fetch_u32(Client::Packet, at)
            }
        }
    }

    /// CP_COND_EXEC.
    pub(super) fn cond_exec(&mut self, packet: &CondExec<'_>) -> Step {
        let addresses = [packet.ADDR0, packet.ADDR1].map(Address::from);
        self.skip_unless(addresses, packet.REF, packet.DWORDS)
    }

    /// Skips the next `dwords` unless the first value is not 0, and the second one is less than `reference`.
    pub(super) fn skip_unless(&mut self, addresses: [Address; 2], reference: u32, dwords: u32) -> Step {
        for address in addresses {
            self.depends_on_draws("the condition of CP_COND_EXEC", address);
        }
        let [first, second] = addresses.map(|address| self.gpu.fetch_u32(Client::Packet, address));
        let execute = first != 0 && second.cast_signed() < reference.cast_signed();
        if execute { Step::Next } else { Step::Skip(dwords) }
    }
}
