//! Words as text: a float, an integer or bits.

/// What a word is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// A 32-bit float.
    Float,
    /// An integer with a sign.
    Signed,
    /// An integer without a sign.
    Unsigned,
    /// Bits, such as a mask.
    Bits,
}

/// What the instructions of a program take a word for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NumberUse {
    /// By instructions that compute with it.
    computed: Option<Number>,
    /// By moves.
    copied: Option<Number>,
    /// Whether instructions that compute with it disagree.
    is_mixed: bool,
}

/// Integers below this are also written in decimal, if they have no sign.
const DECIMAL: u32 = 1 << 24;

/// Negative integers that no instruction says anything about are at least minus this.
const NEGATIVE: i32 = 1 << 16;

/// Integers below this are written in hexadecimal.
const LEAST: i32 = -(1 << 16);

impl NumberUse {
    /// A use by an instruction that computes with the word.
    pub fn computed(number: Number) -> Self {
        Self { computed: Some(number), ..Self::default() }
    }

    /// A use by a move.
    pub fn copied(number: Number) -> Self {
        Self { copied: Some(number), ..Self::default() }
    }

    /// Adds another use of the word. Integers of two kinds are no contradiction; a float and an integer are.
    pub fn join(&mut self, other: Self) {
        let is_float = |number: Number| number == Number::Float;
        match (self.computed, other.computed) {
            (None, more) => self.computed = more,
            (Some(one), Some(more)) => self.is_mixed |= is_float(one) != is_float(more),
            (Some(_), None) => {}
        }
        self.copied = self.copied.or(other.copied);
        self.is_mixed |= other.is_mixed;
    }

    /// What the word is taken for, if the instructions agree.
    pub fn number(self) -> Option<Number> {
        self.computed.or(self.copied).filter(|_| !self.is_mixed)
    }
}

impl Number {
    /// What words are that no instruction says anything about: floats if all are of a usual size, integers if all are
    /// small, otherwise bits. Zero is both.
    pub fn guess(words: impl IntoIterator<Item = u32> + Clone) -> Self {
        let is_usual = |bits: u32| {
            let float = f32::from_bits(bits).abs();
            // The NaN is the one that the chip makes.
            float == 0.0 || (1e-30..1e30).contains(&float) || float.is_infinite() || bits << 1 == 0xff80_0000
        };
        // Negative numbers are small or else addresses: recorded buffers lie near the end of the 32-bit space.
        let is_small = |bits: u32| (-NEGATIVE..DECIMAL.cast_signed()).contains(&bits.cast_signed());
        let all = |is_it: &dyn Fn(u32) -> bool| words.clone().into_iter().all(is_it);
        match () {
            () if all(&is_usual) => Self::Float,
            () if all(&is_small) => Self::Signed,
            () => Self::Bits,
        }
    }

    /// The word as text: a float always with a point or an exponent, an integer in decimal, and others in
    /// hexadecimal.
    pub fn text(self, bits: u32) -> String {
        match self {
            Self::Float => format!("{:?}", f32::from_bits(bits)),
            // A large negative number is rather an address near the top of the space.
            Self::Signed if bits.cast_signed() < LEAST => format!("{bits:#x}"),
            Self::Signed => bits.cast_signed().to_string(),
            Self::Unsigned | Self::Bits if bits < DECIMAL => bits.to_string(),
            Self::Unsigned | Self::Bits => format!("{bits:#x}"),
        }
    }

    /// The word as text with its bits in hexadecimal.
    pub fn text_with_bits(self, bits: u32) -> String {
        let text = self.text(bits);
        if text.starts_with("0x") { text } else { format!("{text} ({bits:#x})") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_float_has_a_point_and_an_integer_has_none() {
        assert_eq!(Number::Float.text(2.0f32.to_bits()), "2.0");
        assert_eq!(Number::Float.text(1e-20f32.to_bits()), "1e-20");
        assert_eq!(Number::Float.text_with_bits(0xcccc_cccd), "-107374184.0 (0xcccccccd)");
        assert_eq!(Number::Unsigned.text_with_bits(0xcccc_cccd), "0xcccccccd");
        assert_eq!(Number::Unsigned.text_with_bits(5), "5 (0x5)");
        assert_eq!(Number::Signed.text_with_bits(u32::MAX), "-1 (0xffffffff)");
        assert_eq!(Number::Signed.text_with_bits(0xfff6_6000), "0xfff66000");
    }

    #[test]
    fn words_without_a_use_are_guessed_together() {
        assert_eq!(Number::guess([0, 1.5f32.to_bits()]), Number::Float);
        assert_eq!(Number::guess([0, 0x7fc0_0000]), Number::Float);
        assert_eq!(Number::guess([0, 5, u32::MAX]), Number::Signed);
        assert_eq!(Number::guess([0xfff6_3000]), Number::Bits);
    }
}
