//! What a generation of the chip is: its tables, and how names and addresses are read by them.

use crate::adreno::address::Address;
use crate::adreno::ir3::Isa;
use crate::adreno::load_state::LoadLayout;
use crate::adreno::pm4::{Outline, PacketTable};
use crate::adreno::registers::RegisterTable;
use crate::bits::{EnumTable, WordRow};

/// A generation of Adreno chips.
#[derive(Debug)]
pub struct Generation {
    /// First digit of its chips' numbers: 4 for the A4xx.
    pub number: u32,
    /// What names in Mesa's headers begin with, such as `A4XX`. Names that generations share begin with `AXXX`.
    pub prefix: &'static str,
    /// Bits of a GPU address, below 64.
    pub address_bits: u32,
    /// The headers of packets.
    pub framing: Framing,
    /// The registers.
    pub registers: &'static RegisterTable,
    /// The packets. Their words name the enumerations that they hold, such as the events.
    pub packets: &'static PacketTable,
    /// What a packet does, by its opcode and payload.
    pub outline: fn(u8, &[u32]) -> Outline<'_>,
    /// The enumerations of registers, packets and descriptors, by what they are about.
    pub enums: &'static [&'static [&'static EnumTable]],
    /// The words of descriptors in memory, by descriptor.
    pub descriptors: &'static [&'static [WordRow]],
    /// The layout of state that packets load.
    pub loads: &'static LoadLayout,
    /// What kernel dumps of its chips say about the command processor.
    pub dumps: Dumps,
}

/// What kernel dumps of a generation say about the command processor.
#[derive(Clone, Copy, Debug)]
pub struct Dumps {
    /// Dwords after the header of the CP_EVENT_WRITE that ends a submit. The last one is the number of its fence.
    pub fence_dwords: usize,
    /// Whether the read pointer of the ring is the one that CP_WHERE_AM_I stored last (a6xx_get_rptr in a6xx_gpu.c). The
    /// command processor has read further then.
    pub has_old_rptr: bool,
    /// The registers of the indirect buffer that the ring calls, and of the one which that buffer calls.
    pub ibs: [IbRegisters; 2],
}

/// Names of the registers that say the place in an indirect buffer.
#[derive(Clone, Copy, Debug)]
pub struct IbRegisters {
    /// The address: the low dword, then the high one if addresses have two.
    pub base: &'static [&'static str],
    /// The dwords that are not read yet.
    pub left: &'static str,
}

/// The kinds of headers that streams of packets are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Type 0 writes registers, type 3 is a command; before A5xx.
    Types0To3,
    /// Type 4 writes registers, type 7 is a command, both with parity bits; A5xx and later.
    Types4And7,
}

impl Framing {
    /// The type of the packet with this header.
    pub const fn type_of(self, header: u32) -> u32 {
        match self {
            Self::Types0To3 => header >> 30,
            Self::Types4And7 => header >> 28,
        }
    }

    /// The type of commands.
    pub const fn command_type(self) -> u32 {
        match self {
            Self::Types0To3 => 3,
            Self::Types4And7 => 7,
        }
    }
}

impl Generation {
    /// The instruction set of its shaders.
    pub fn isa(&self) -> Isa {
        Isa::of_generation(self.number).unwrap_or(Isa::A6xx)
    }

    /// `name` without what names in Mesa's headers begin with.
    pub fn unprefixed<'n>(&self, name: &'n str) -> &'n str {
        let own = [self.prefix, "AXXX"].into_iter().filter_map(|prefix| name.strip_prefix(prefix));
        own.filter_map(|rest| rest.strip_prefix('_')).next().unwrap_or(name)
    }

    /// The name behind what names in Mesa's headers begin with: `REG_A4XX_`, `A4XX_`, and `AXXX_` of registers of all
    /// generations.
    pub fn without_prefix<'n>(&self, text: &'n str) -> Option<&'n str> {
        let text = text.strip_prefix("REG_").unwrap_or(text);
        Some(self.unprefixed(text)).filter(|name| name.len() < text.len())
    }

    /// The offset of a register as [`RegisterTable::by_name`] finds it, or with the name in Mesa's headers:
    /// `REG_A4XX_RB_MRT_CONTROL(0)`, `A4XX_RB_DEPTH_CONTROL`.
    pub fn register(&self, text: &str) -> Option<u32> {
        let of_headers = || self.registers.by_header(self.without_prefix(text)?);
        self.registers.by_name(text).or_else(of_headers)
    }

    /// Whether its chips reach `address`.
    pub fn reaches(&self, address: Address) -> bool {
        address.get() >> self.address_bits == 0
    }

    /// The address `bytes` behind `address`. It goes on from 0 behind the last one.
    pub fn behind(&self, address: Address, bytes: u64) -> Address {
        Address::new(address.get().wrapping_add(bytes) & ((1 << self.address_bits) - 1))
    }

    /// Every enumeration.
    pub fn enums(&self) -> impl Iterator<Item = &'static EnumTable> + use<> {
        self.enums.iter().copied().flatten().copied()
    }

    /// The words of all descriptors.
    pub fn descriptor_words(&self) -> impl Iterator<Item = &'static WordRow> + use<> {
        self.descriptors.iter().copied().flatten()
    }
}
