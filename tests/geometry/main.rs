//! Geometry and tessellation shaders: what goes wrong, what is fed back, how work is laid on
//! lanes. That pictures are right is the fixtures' business.

mod budget;
mod cli;
mod cost;
mod dispatch;
mod feedback;
mod hostile;
mod layers;
mod malformed;
mod page;
pub mod scene;
