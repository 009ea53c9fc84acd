//! Parts of the state of the rasteriser.

/// Selects the viewports of a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Viewports {
    /// The first viewport.
    First,
    /// Any viewport, selected by a geometry shader.
    Chosen,
}
