//! Section 4 of the page: the command processor.

mod bins;
mod packets;
mod waits;

pub use bins::Bins;
pub use packets::{Packets, protected, trouble};
pub use waits::Waits;
