//! Section 4 of the page: the command processor.

mod bins;
mod packets;
mod traffic;
mod waits;

pub use bins::Bins;
pub use packets::{Packets, protected, trouble};
pub use traffic::Traffic;
pub use waits::Waits;
