//! What generations of Adreno share: the container of captures, the framing of packets, the kinds of loaded state, ir3.
pub mod capture;
pub mod ir3;
pub mod load_state;
pub mod packet;
