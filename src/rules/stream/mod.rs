//! Checks section 4 of the page: the command processor.

mod bins;
mod packets;
mod tiles;
mod traffic;
mod waits;
mod writers;

pub use bins::Bins;
pub use packets::{Packets, protected, trouble};
pub use tiles::Tiles;
pub use traffic::{Traffic, unwritten};
pub use waits::Waits;
pub use writers::Writers;
