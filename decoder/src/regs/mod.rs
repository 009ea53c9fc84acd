//! The A4xx register database, one file per hardware block.
pub mod enums;
pub mod rb;
pub mod tex;
