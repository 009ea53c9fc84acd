//! An Adreno A4xx in software.
pub mod draw;
