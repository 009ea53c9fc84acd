//! Geometry and tessellation shaders: errors, feedback, and the assignment of work to lanes. Fixtures test
//! the pictures.

mod budget;
mod cli;
mod cost;
mod dispatch;
mod feedback;
mod hostile;
mod layers;
mod malformed;
mod page;
mod repeated;
pub mod scene;
mod stages;
