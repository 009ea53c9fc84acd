//! Names of primitive types.

use a4emu_decoder::a4xx::pm4::VGT_DRAW_INITIATOR_A4XX;
use serde::Serialize;

/// Name of a primitive type, or its number if it has no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Primitive {
    /// The name in the database without its prefix.
    Name(&'static str),
    /// A value without a name.
    Number(u32),
}

impl std::fmt::Display for Primitive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Number(number) => write!(f, "{number:#x}"),
        }
    }
}

impl Primitive {
    /// The primitive type in the `initiator` of a draw.
    pub fn of(initiator: u32) -> Self {
        let value = VGT_DRAW_INITIATOR_A4XX(initiator).PRIM_TYPE().to_bits();
        let name = a4emu_decoder::a4xx::enums::PrimType::TABLE.name_of(value);
        name.map_or(Self::Number(value), |name| Self::Name(name.strip_prefix("DI_PT_").unwrap_or(name)))
    }
}
