//! The two endpoint colours of a partition.
//!
//! Source: Khronos Data Format Specification 1.3, sections 23.14 and 23.15.
use super::Profile;

/// Scale on which a component is interpolated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    /// A fraction of 8 bits.
    Fraction,
    /// A logarithm of 12 bits.
    Logarithm,
}

/// The two endpoint colours.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends {
    pub low: [i32; 4],
    pub high: [i32; 4],
    /// Scale of x, y, z.
    pub color: Scale,
    /// Scale of w.
    pub alpha: Scale,
}

/// Default alpha of 1, as a logarithm.
const OPAQUE: i32 = 0x780;

/// Number of values that `mode` uses.
pub(super) fn values(mode: u32) -> usize {
    2 * (mode as usize / 4) + 2
}

/// The endpoints for `values` in `mode`. Without HDR, modes that need it give the error colour.
pub(super) fn ends(mode: u32, values: &[u8], profile: Profile) -> Ends {
    let mut v = [0; 8];
    v.iter_mut().zip(values).for_each(|(v, value)| *v = i32::from(*value));
    match (mode, profile) {
        (2 | 3 | 7 | 11 | 14 | 15, Profile::Ldr) => fractions([[255, 0, 255, 255]; 2]),
        (2 | 3, Profile::Hdr) => logarithms(gray(luminance(mode, &v), [OPAQUE; 2])),
        (7, Profile::Hdr) => logarithms(scaled(&v)),
        (11, Profile::Hdr) => logarithms(direct(&v, [OPAQUE; 2])),
        (14, Profile::Hdr) => Ends { alpha: Scale::Fraction, ..logarithms(direct(&v, [v[6], v[7]])) },
        (15, Profile::Hdr) => logarithms(direct(&v, alpha(v[6], v[7]))),
        (_, _) => fractions(ldr(mode, v)),
    }
}

fn fractions(ends: [[i32; 4]; 2]) -> Ends {
    let [low, high] = ends.map(|end| end.map(|c| c.clamp(0, 255)));
    Ends { low, high, color: Scale::Fraction, alpha: Scale::Fraction }
}

fn logarithms(ends: [[i32; 4]; 2]) -> Ends {
    let [low, high] = ends.map(|end| end.map(|c| c.clamp(0, 0xfff)));
    Ends { low, high, color: Scale::Logarithm, alpha: Scale::Logarithm }
}

fn gray(luminance: [i32; 2], alpha: [i32; 2]) -> [[i32; 4]; 2] {
    [0, 1].map(|end| [luminance[end], luminance[end], luminance[end], alpha[end]])
}

fn ldr(mode: u32, v: [i32; 8]) -> [[i32; 4]; 2] {
    match mode {
        0 => gray([v[0], v[1]], [255; 2]),
        1 => {
            let low = v[0] >> 2 | v[1] & 0xc0;
            gray([low, low + (v[1] & 0x3f)], [255; 2])
        }
        4 => gray([v[0], v[1]], [v[2], v[3]]),
        5 => {
            let ([l, dl], [a, da]) = (offset(v[0], v[1]), offset(v[2], v[3]));
            gray([l, l + dl], [a, a + da])
        }
        6 | 10 => {
            let scaled = [0, 1, 2].map(|c| (v[c] * v[3]) >> 8);
            let [low, high] = if mode == 6 { [255; 2] } else { [v[4], v[5]] };
            [with_alpha(scaled, low), [v[0], v[1], v[2], high]]
        }
        8 | 12 => {
            let [low, high] = if mode == 8 { [255; 2] } else { [v[6], v[7]] };
            let ends = [[v[0], v[2], v[4], low], [v[1], v[3], v[5], high]];
            if sum(ends[1]) >= sum(ends[0]) { ends } else { [contracted(ends[1]), contracted(ends[0])] }
        }
        _ => offsets(mode, v),
    }
}

/// Modes 9 and 13: one colour, and the difference of the other.
fn offsets(mode: u32, v: [i32; 8]) -> [[i32; 4]; 2] {
    let pairs = [0, 2, 4, 6].map(|c| offset(v[c], v[c + 1]));
    let mut base = pairs.map(|[base, _]| base);
    let mut other = pairs.map(|[base, by]| base + by);
    if mode == 9 {
        (base[3], other[3]) = (255, 255);
    }
    let grows = pairs[..3].iter().map(|[_, by]| by).sum::<i32>() >= 0;
    if grows { [base, other] } else { [contracted(other), contracted(base)] }
}

fn with_alpha([r, g, b]: [i32; 3], alpha: i32) -> [i32; 4] {
    [r, g, b, alpha]
}

fn sum([r, g, b, _]: [i32; 4]) -> i32 {
    r + g + b
}

/// Blue contraction: red and green are averaged with blue.
fn contracted([r, g, b, a]: [i32; 4]) -> [i32; 4] {
    [(r + b) >> 1, (g + b) >> 1, b, a]
}

/// Splits a value and its signed six-bit offset. The top bit of the offset byte becomes the value's top bit.
fn offset(base: i32, by: i32) -> [i32; 2] {
    [base >> 1 | by & 0x80, ((by >> 1 & 0x3f) ^ 0x20) - 0x20]
}

/// Modes 2 and 3.
fn luminance(mode: u32, v: &[i32; 8]) -> [i32; 2] {
    match (mode, v[0] & 0x80) {
        (2, _) if v[1] >= v[0] => [v[0] << 4, v[1] << 4],
        (2, _) => [(v[1] << 4) + 8, (v[0] << 4) - 8],
        (_, 0) => {
            let low = (v[1] & 0xf0) << 4 | (v[0] & 0x7f) << 1;
            [low, low + ((v[1] & 0x0f) << 1)]
        }
        (_, _) => {
            let low = (v[1] & 0xe0) << 4 | (v[0] & 0x7f) << 2;
            [low, low + ((v[1] & 0x1f) << 2)]
        }
    }
}

/// Adds bits at positions that depend on the mode. Each row gives the modes (bit m), the index in `bits` and
/// the position.
fn placed(mode: u32, value: i32, bits: &[i32], rows: &[(u32, usize, u32)]) -> i32 {
    let here = rows.iter().filter(|(modes, ..)| modes >> mode & 1 != 0);
    here.fold(value, |value, (_, bit, at)| value | bits[*bit] << at)
}

/// Exchanges component `major` with the first component.
fn exchanged(mut ends: [[i32; 4]; 2], major: i32) -> [[i32; 4]; 2] {
    ends.iter_mut().for_each(|end| end.swap(0, major as usize));
    ends
}

/// Mode 7: a colour, and how far the other is below it.
fn scaled(v: &[i32; 8]) -> [[i32; 4]; 2] {
    let word = v[0] >> 6 & 3 | v[1] >> 5 & 4 | v[2] >> 4 & 8;
    let (major, mode) = match word {
        _ if word & 0xc != 0xc => (word >> 2, word as u32 & 3),
        0xf => (0, 5),
        _ => (word & 3, 4),
    };
    let bit = |i: usize, at: u32| v[i] >> at & 1;
    let x = [bit(1, 6), bit(1, 5), bit(2, 6), bit(2, 5), bit(3, 7), bit(3, 6), bit(3, 5)];
    let placed = |value, rows: &[_]| placed(mode, value, &x, rows) << [1, 1, 2, 3, 4, 5][mode as usize];
    let red = placed(
        v[0] & 0x3f,
        &[
            (0x3b, 4, 6),
            (0x04, 3, 6),
            (0x10, 5, 7),
            (0x0f, 2, 7),
            (0x05, 1, 8),
            (0x0a, 0, 8),
            (0x05, 0, 9),
            (0x02, 6, 9),
            (0x01, 3, 10),
            (0x02, 5, 10),
        ],
    );
    let green = placed(v[1] & 0x1f, &[(0x30, 0, 6), (0x3a, 1, 5)]);
    let blue = placed(v[2] & 0x1f, &[(0x30, 2, 6), (0x3a, 3, 5)]);
    let scale = placed(v[3] & 0x1f, &[(0x3d, 6, 5), (0x2d, 5, 6), (0x04, 4, 7)]);
    let (green, blue) = if mode == 5 { (green, blue) } else { (red - green, red - blue) };
    let high = [red, green, blue];
    let ends = [with_alpha(high.map(|c| c - scale), OPAQUE), with_alpha(high, OPAQUE)];
    exchanged(ends, major)
}

/// Modes 11, 14 and 15: the major component, and the differences of the others from it.
fn direct(v: &[i32; 8], alpha: [i32; 2]) -> [[i32; 4]; 2] {
    let major = v[4] >> 7 & 1 | v[5] >> 6 & 2;
    if major == 3 {
        let end = |i: usize| [v[i] << 4, v[i + 2] << 4, (v[i + 4] & 0x7f) << 5, alpha[i]];
        return [end(0), end(1)];
    }
    let mode = (v[1] >> 7 & 1 | v[2] >> 6 & 2 | v[3] >> 5 & 4) as u32;
    let bit = |i: usize, at: u32| v[i] >> at & 1;
    let x = [bit(2, 6), bit(3, 6), bit(4, 6), bit(5, 6), bit(4, 5), bit(5, 5)];
    let shift = mode >> 1 ^ 3;
    let placed = |value, rows: &[_]| placed(mode, value, &x, rows) << shift;
    let a = placed(
        v[0] | (v[1] & 0x40) << 2,
        &[(0xa4, 0, 9), (0x08, 2, 9), (0x50, 4, 9), (0x50, 5, 10), (0xa0, 1, 10), (0xc0, 2, 11)],
    );
    let c = placed(v[1] & 0x3f, &[(0x04, 1, 6), (0xe8, 3, 6), (0x20, 2, 7)]);
    let b0 = placed(v[2] & 0x3f, &[(0x5b, 0, 6), (0x12, 2, 7)]);
    let b1 = placed(v[3] & 0x3f, &[(0x5b, 1, 6), (0x12, 3, 7)]);
    let unused = 32 - [7, 6, 7, 6, 5, 6, 5, 6][mode as usize];
    let [d0, d1] = [v[4], v[5]].map(|d| d << unused >> unused << shift);
    let low = [a - c, a - b0 - c - d0, a - b1 - c - d1];
    exchanged([with_alpha(low, alpha[0]), with_alpha([a, a - b0, a - b1], alpha[1])], major)
}

/// Alpha of mode 15.
fn alpha(v6: i32, v7: i32) -> [i32; 2] {
    let selector = v6 >> 7 & 1 | v7 >> 6 & 2;
    let (low, by) = (v6 & 0x7f, v7 & 0x7f);
    if selector == 3 {
        return [low << 5, by << 5];
    }
    let low = (low | by << (selector + 1) & 0x780) << (4 - selector);
    let half = 0x20 >> selector;
    let by = ((by & 0x3f >> selector) ^ half) - half;
    [low, low + (by << (4 - selector))]
}
