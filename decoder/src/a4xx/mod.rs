//! The A4xx: its registers, packets, enumerations, and the words that its stages pass to each other.
pub mod enums;
pub mod pm4;
pub mod regs;
pub mod stage_words;
