//! Words that the hardware and geometry, hull and domain shaders pass to each other in registers.
//!
//! Source: docs/hardware/geometry-and-tessellation.md and docs/hardware/registers.md, section 10.3. Fields
//! marked inferred are not described there.
use crate::bits::*;

descriptors! {
    /// r0.x of a geometry or hull shader at its start.
    STAGE_ENTRY {
        /// Where the primitive lies in the local buffer, in primitives.
        0..4 SLOT: Uint;
        /// Invocation of a geometry shader, output vertex of a hull shader.
        10..14 INVOCATION: Uint;
        /// The vertex that this run makes (geometry shaders).
        15..24 VERTEX: Uint;
    }
    /// What a geometry shader says of the vertex that it made, in PRIMREGID.
    PRIMITIVE_WORD {
        /// Inferred: the stream of a point; the two bits below the known ones have room for
        /// GL's four. A vendor stream with multi-stream feedback would settle it.
        inferred 0..1 STREAM: Uint;
        /// The vertex begins a new primitive.
        2..2 CUT: Bool;
        /// Four bits for the sixteen viewports. People who read traces of the vendor's driver describe it so.
        inferred 3..6 VIEWPORT: Uint;
        /// From bit 7 on; the width is that of the greatest number of layers, 2048.
        7..17 LAYER: Uint;
    }
}

impl STAGE_ENTRY {
    /// The word with these values, each cut to its field.
    pub const fn new(slot: u32, invocation: u32, vertex: u32) -> Self {
        Self(slot & 0x1f | (invocation & 0x1f) << 10 | (vertex & 0x3ff) << 15)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_word_says_what_it_was_made_of() {
        let word = STAGE_ENTRY::new(3, 31, 1023);
        assert_eq!((word.SLOT(), word.INVOCATION(), word.VERTEX()), (3, 31, 1023));
        assert_eq!(STAGE_ENTRY::new(32, 0, 1024).0, 0);
    }

    #[test]
    fn a_primitive_word_has_the_layer_from_bit_7() {
        let word = PRIMITIVE_WORD(5 << 7 | 9 << 3 | 4 | 2);
        assert_eq!((word.STREAM(), word.CUT(), word.VIEWPORT(), word.LAYER()), (2, true, 9, 5));
    }
}
