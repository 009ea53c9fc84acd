//! One edge: number and positions of its points.

/// 16.16 fixed point.
pub type Fixed = u32;

/// The number 1.
pub const ONE: Fixed = 1 << 16;

/// One half.
const HALF: Fixed = ONE / 2;

/// Smallest step of a factor.
const EPSILON: f32 = 1.0 / ONE as f32;

/// Division of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// Equal parts, the factor rounded up: 1 to 64.
    Equal,
    /// An odd number of parts, two of them shorter: 1 to 63.
    FractionalOdd,
    /// An even number of parts, two of them shorter: 2 to 64.
    FractionalEven,
}

impl Spacing {
    /// Limits a factor to the range of the spacing. NaN becomes the minimum.
    pub fn clamp(self, factor: f32) -> f32 {
        let (least, greatest) = match self {
            Self::Equal => (1.0, 64.0),
            Self::FractionalOdd => (1.0, 63.0),
            Self::FractionalEven => (2.0, 64.0),
        };
        let clamped = factor.max(least).min(greatest);
        if self == Self::Equal { clamped.ceil() } else { clamped }
    }

    /// Limits an inner factor. A factor of 1 counts as slightly more unless the outer factors are 1 too, so
    /// that there is an inside: GL rounds it to 2 or 3.
    pub fn clamp_inner(self, factor: f32, framed: Framed) -> f32 {
        let clamped = self.clamp(factor);
        match (self, framed) {
            (Self::FractionalOdd, Framed::Yes) => clamped.max(1.0 + EPSILON),
            _ => clamped,
        }
    }
}

/// Whether a factor of a patch is above 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framed {
    /// A factor is above 1, so there must be an inside.
    Yes,
    /// All factors are at most 1.
    No,
}

impl Framed {
    /// Checks the factors.
    pub fn of(spacing: Spacing, factors: &[f32]) -> Self {
        let above = |factor: &f32| spacing.clamp(*factor) > 1.0 + EPSILON / 2.0;
        if factors.iter().any(above) { Self::Yes } else { Self::No }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parity {
    Even,
    Odd,
}

/// A divided edge.
///
/// Its points blend two equal divisions: into the next smaller and into the next greater number of parts. The
/// fraction of the factor is the blend weight. The two additional points of the greater division start at
/// `split`, one in each half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    parity: Parity,
    /// Points in half of the edge, without the middle of an even edge.
    half_points: u32,
    /// First point of the greater division whose counterpart in the smaller one has an index lower by one.
    split: u32,
    /// Blend weight of the greater division.
    fraction: Fixed,
    /// 1 / parts of the smaller division.
    step_floor: Fixed,
    /// 1 / parts of the greater division.
    step_ceil: Fixed,
}

impl Edge {
    /// Creates an edge with an outer factor.
    pub fn outer(factor: f32, spacing: Spacing) -> Self {
        Self::new(spacing.clamp(factor), spacing, Parity::Odd)
    }

    /// Creates the division of the inside. An equal division by 1 counts as 2, with the centre.
    pub fn inner(factor: f32, spacing: Spacing, framed: Framed) -> Self {
        Self::new(spacing.clamp_inner(factor, framed), spacing, Parity::Even)
    }

    /// Creates an edge. `single` is the parity of an equal division by 1.
    fn new(factor: f32, spacing: Spacing, single: Parity) -> Self {
        let parity = match spacing {
            Spacing::FractionalOdd => Parity::Odd,
            Spacing::FractionalEven => Parity::Even,
            Spacing::Equal if factor == 1.0 => single,
            Spacing::Equal if factor % 2.0 == 0.0 => Parity::Even,
            Spacing::Equal => Parity::Odd,
        };
        let odd = u32::from(parity == Parity::Odd);
        let mut half = ((factor * ONE as f32) as Fixed).div_ceil(2);
        if odd == 1 || half == HALF {
            half += HALF;
        }
        let (floor, ceil) = (half / ONE, half.div_ceil(ONE));
        Self {
            parity,
            half_points: ceil,
            split: if floor == ceil { u32::MAX } else { split(floor, parity) },
            fraction: half % ONE,
            step_floor: reciprocal(2 * floor - odd),
            step_ceil: reciprocal(2 * ceil - odd),
        }
    }

    /// Returns the number of parts.
    pub fn segments(&self) -> u32 {
        2 * self.half_points - u32::from(self.parity == Parity::Odd)
    }

    /// Returns the position of `point`, from 0 to [`Edge::segments`].
    pub fn at(&self, point: u32) -> Fixed {
        let mirrored = self.segments().saturating_sub(point);
        if self.parity == Parity::Even && point == self.half_points {
            HALF
        } else if point >= self.half_points {
            ONE - self.in_first_half(mirrored)
        } else {
            self.in_first_half(point)
        }
    }

    fn in_first_half(&self, point: u32) -> Fixed {
        let lagging = point - u32::from(point > self.split);
        let (floor, ceil) = (u64::from(lagging * self.step_floor), u64::from(point * self.step_ceil));
        let mixed = floor * u64::from(ONE - self.fraction) + ceil * u64::from(self.fraction);
        ((mixed + u64::from(HALF)) / u64::from(ONE)) as Fixed
    }
}

/// Returns the index of the point by which a half edge of `floor` parts gets one part more. As the number of parts grows from
/// a power of two to the next, each part is divided once, in order.
fn split(floor: u32, parity: Parity) -> u32 {
    let below = |n: u32| n - (1 << n.ilog2());
    match (parity, floor) {
        (Parity::Odd, 1) => 0,
        (Parity::Odd, _) => 2 * below(floor - 1) + 1,
        (Parity::Even, _) => 2 * below(floor) + 1,
    }
}

/// 1 / n, rounded.
fn reciprocal(n: u32) -> Fixed {
    (ONE + n / 2) / n
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(factor: f32, spacing: Spacing) -> Vec<f32> {
        let edge = Edge::outer(factor, spacing);
        (0..=edge.segments()).map(|p| edge.at(p) as f32 / ONE as f32).collect()
    }

    #[test]
    fn equal_spacing_rounds_up() {
        assert_eq!(places(1.0, Spacing::Equal), [0.0, 1.0]);
        assert_eq!(places(3.2, Spacing::Equal), [0.0, 0.25, 0.5, 0.75, 1.0]);
        assert_eq!(places(1e30, Spacing::Equal).len(), 65);
        assert_eq!(places(f32::INFINITY, Spacing::FractionalOdd).len(), 64);
    }

    /// Checks GL's rule: all parts are 1 / factor, except two equal parts that are not longer.
    #[test]
    fn fractional_spacing_has_two_shorter_parts() {
        for (spacing, parity) in [(Spacing::FractionalOdd, 1), (Spacing::FractionalEven, 0)] {
            for step in 8..252 {
                let at = places(step as f32 / 4.0, spacing);
                let mut parts: Vec<f32> = at.windows(2).map(|w| w[1] - w[0]).collect();
                assert_eq!(parts.len() % 2, parity, "{step}");
                parts.sort_by(f32::total_cmp);
                assert!((parts[0] - parts[1]).abs() < 5e-4, "{step}: {parts:?}");
                let long = &parts[2..];
                let same = long.iter().all(|part| (part - long[0]).abs() < 1e-3);
                assert!(same && long.iter().all(|part| *part > parts[1] - 5e-4), "{step}: {parts:?}");
            }
        }
    }

    #[test]
    fn edges_are_symmetric() {
        for spacing in [Spacing::Equal, Spacing::FractionalOdd, Spacing::FractionalEven] {
            for step in 1..700 {
                let edge = Edge::outer(step as f32 / 10.0, spacing);
                for p in 0..=edge.segments() {
                    assert_eq!(edge.at(p) + edge.at(edge.segments() - p), ONE);
                }
            }
        }
    }
}
