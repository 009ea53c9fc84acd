//! What generations of Adreno share: the container of captures, the framing of packets, the tables of packets and
//! registers, the kinds of loaded state, ir3.
pub mod address;
pub mod capture;
pub mod generation;
pub mod ir3;
pub mod load_state;
pub mod packet;
pub mod pm4;
pub mod registers;
