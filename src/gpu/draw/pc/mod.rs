//! PC, the primitive control: which vertices make a primitive, and the tessellator.
//!
//! 1. [`state`] reads the registers: restart index, provoking vertex, patches.
//! 2. [`assembler`] selects the vertices of each primitive of a list, strip, fan or patch, with adjacent ones.
//! 3. [`topology`] makes points, lines, triangles and rectangles of them, for set-up in `gras`.
//!
//! Of a patch, the hull shader (`hs`) stores factors, which [`factors`] reads. [`tessellator`] makes points of the domain and
//! their connections from them; the domain shader (`ds`) runs for each point.
pub mod assembler;
pub mod factors;
pub mod state;
pub mod tessellator;
pub mod topology;
