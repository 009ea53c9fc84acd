//! PC, the primitive control: which vertices make a primitive, and the tessellator.
pub mod assembler;
pub mod factors;
pub mod state;
pub mod tessellator;
pub mod topology;
