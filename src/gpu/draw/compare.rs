//! Comparisons of depth, stencil, alpha and shadow textures.

/// A comparison of a value with a reference. The order is that of OpenGL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// Never holds.
    Never,
    /// Less than.
    Less,
    /// Equal to.
    Equal,
    /// At most.
    LessEqual,
    /// Greater than.
    Greater,
    /// Not equal to.
    NotEqual,
    /// At least.
    GreaterEqual,
    /// Always holds.
    Always,
}

impl Compare {
    /// Returns OpenGL's name without `GL_`, as answers have it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Never => "NEVER",
            Self::Less => "LESS",
            Self::Equal => "EQUAL",
            Self::LessEqual => "LEQUAL",
            Self::Greater => "GREATER",
            Self::NotEqual => "NOTEQUAL",
            Self::GreaterEqual => "GEQUAL",
            Self::Always => "ALWAYS",
        }
    }
}
