//! An address as answers list it.

use std::fmt;

use a4emu_decoder::adreno::address::Address;
use serde::Serialize;

/// An address of a chip of any generation; a number in JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Listed(pub u64);

impl Listed {
    /// The address of memory.
    pub fn of(address: Address) -> Self {
        Self(address.get())
    }
}

impl fmt::Display for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Address::new(self.0).fmt(f)
    }
}
