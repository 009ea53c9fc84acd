//! VFD, vertex fetch and decode: indices and attributes.
pub mod fetch;
pub mod indices;
pub mod parts;
pub mod state;
