//! `--model`: the board or the specification, where they differ.

/// The behaviour to emulate where a real board differs from the OpenGL specification.
///
/// The differences that a driver can see, with the evidence, are in docs/hardware/board-a420.md, sections 3
/// and 4.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Model {
    /// An A420 board, as far as its results are known
    #[default]
    Board,
    /// The OpenGL specification
    StrictGl,
}

impl Model {
    /// All models.
    pub const ALL: [Self; 2] = [Self::Board, Self::StrictGl];

    /// The model with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|model| model.name() == name)
    }

    /// The name in the option.
    pub fn name(self) -> &'static str {
        match self {
            Self::Board => "board",
            Self::StrictGl => "strict-gl",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_option() {
        for model in Model::ALL {
            assert_eq!(Model::named(model.name()), Some(model));
        }
        assert_eq!(Model::named("gl"), None);
    }
}
