//! How the jobs of a batch use tile memory, and which tiles do not depend on earlier ones.

use std::ops::Range;

use crate::draw::gras::raster::Rect;

/// Consecutive jobs of one tile.
pub(super) struct Pass {
    /// Number of the first job.
    pub first: usize,
    /// Anchor of the tile.
    pub anchor: [i32; 2],
    area: Rect,
    uses: Uses,
}

impl Pass {
    /// Creates a pass without jobs. The next one has number `first`.
    pub(super) fn new(first: usize, anchor: [i32; 2]) -> Self {
        Self { first, anchor, area: Rect::NOTHING, uses: Uses::default() }
    }

    /// Adds a job with this area, relative to the start of the tile.
    pub(super) fn extend(&mut self, area: Rect) {
        self.area = self.area.union(area);
    }

    /// Adds a fill of `bits` in `area` of a surface, whatever it contained.
    pub(super) fn fill(&mut self, surface: usize, area: Rect, bits: u32) {
        self.uses.of_mut(surface).fill(area, bits);
    }

    /// Adds another access to `area` of a surface, which may change `bits`.
    pub(super) fn access(&mut self, surface: usize, area: Rect, bits: u32) {
        self.uses.of_mut(surface).access(area, bits);
    }
}

/// How jobs use each surface of the batch.
#[derive(Clone, Default)]
pub(super) struct Uses(Vec<Use>);

/// How jobs use a surface. The rectangles are relative to the start of the tile. The bits are those of a word of each
/// pixel; for a pixel of more bytes they mean all of its words.
#[derive(Clone, Copy)]
pub(super) struct Use {
    /// Rectangle around all accesses.
    pub touched: Rect,
    /// Bits that may be written.
    written: u32,
    /// Pixels whose bits `filled_bits` the jobs overwrite before they read them. So earlier contents do not matter.
    filled: Rect,
    filled_bits: u32,
    /// Bits that other accesses may have found as they were before the jobs.
    needed: u32,
}

impl Use {
    const NONE: Self =
        Self { touched: Rect::NOTHING, written: 0, filled: Rect::NOTHING, filled_bits: 0, needed: 0 };

    fn fill(&mut self, area: Rect, bits: u32) {
        self.touched = self.touched.union(area);
        self.written |= bits;
        if self.filled == area {
            self.filled_bits |= bits;
        } else if self.filled_bits & !bits == 0 && contains(area, self.filled) {
            (self.filled, self.filled_bits) = (area, bits);
        }
    }

    fn access(&mut self, area: Rect, bits: u32) {
        self.needed |= !self.filled_in(area);
        self.touched = self.touched.union(area);
        self.written |= bits;
    }

    /// Returns the bits that are filled in all of `area`.
    fn filled_in(&self, area: Rect) -> u32 {
        match contains(self.filled, area) {
            true => self.filled_bits,
            false => 0,
        }
    }

    /// Returns the bits whose values before the jobs may matter for their results, or remain in touched pixels.
    pub(super) fn unfilled_bits(&self) -> u32 {
        if self.touched.is_empty() { 0 } else { self.needed | !self.filled_in(self.touched) }
    }

    /// Returns the use by these jobs and the `later` ones.
    fn then(&self, later: &Self) -> Self {
        let is_wider = self.filled_bits & !later.filled_bits == 0 && contains(later.filled, self.filled);
        let Self { filled, filled_bits, .. } = if is_wider { *later } else { *self };
        Self {
            touched: self.touched.union(later.touched),
            written: self.written | later.written,
            filled,
            filled_bits,
            needed: self.needed | later.needed & !self.filled_in(later.touched),
        }
    }
}

impl Uses {
    pub(super) fn of(&self, surface: usize) -> Use {
        self.0.get(surface).copied().unwrap_or(Use::NONE)
    }

    fn of_mut(&mut self, surface: usize) -> &mut Use {
        if self.0.len() <= surface {
            self.0.resize(surface + 1, Use::NONE);
        }
        &mut self.0[surface]
    }

    pub(super) fn then(&self, later: &Self) -> Self {
        let count = self.0.len().max(later.0.len());
        Self((0..count).map(|surface| self.of(surface).then(&later.of(surface))).collect())
    }

    /// Returns whether these jobs may find bits that the `earlier` ones have written, or leave them.
    fn depend_on(&self, earlier: &Self) -> bool {
        self.0.iter().enumerate().any(|(surface, of)| of.unfilled_bits() & earlier.of(surface).written != 0)
    }

    /// Returns the pixels that are touched in the rows of `band`, of each surface.
    pub(super) fn touched(&self, band: Rect) -> impl Iterator<Item = (usize, Rect)> {
        let touched = self.0.iter().map(move |of| of.touched.intersect(band)).enumerate();
        touched.filter(|(_, touched)| !touched.is_empty())
    }

    /// Returns whether these jobs fill everything in the rows of `band` that `earlier` ones wrote there.
    pub(super) fn hide(&self, earlier: &Self, band: Rect) -> bool {
        earlier
            .touched(band)
            .all(|(surface, touched)| earlier.of(surface).written & !self.of(surface).filled_in(touched) == 0)
    }
}

fn contains(outer: Rect, inner: Rect) -> bool {
    outer.union(inner) == outer
}

/// Consecutive tiles that do not depend on what the tiles before them in the batch write.
pub(super) struct Segment {
    /// Numbers of its jobs.
    pub jobs: Range<usize>,
    /// Rectangle around the areas of its jobs.
    pub area: Rect,
    /// Use by its jobs.
    pub uses: Uses,
    /// Use by all jobs before it.
    before: Uses,
}

/// Returns the segments of `count` jobs of these passes.
pub(super) fn segments(passes: &[Pass], count: usize) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    for (index, pass) in passes.iter().enumerate() {
        let end = passes.get(index + 1).map_or(count, |next| next.first);
        let before = segments.last().map_or_else(Uses::default, |last| last.before.then(&last.uses));
        segments.push(Segment { jobs: pass.first..end, area: pass.area, uses: pass.uses.clone(), before });
        while let [.., earlier, later] = &mut segments[..]
            && later.uses.depend_on(&later.before)
        {
            earlier.jobs.end = later.jobs.end;
            earlier.area = earlier.area.union(later.area);
            earlier.uses = earlier.uses.then(&later.uses);
            segments.pop();
        }
    }
    segments
}

/// Returns the index of the group that runs in tile memory, among those with work in the rows of `band`: the last one
/// that fills everything which the others before it write. `None` if there are none.
pub(super) fn in_place(uses: &[&Uses], band: Rect) -> Option<usize> {
    (0..uses.len()).rev().find(|group| uses[..*group].iter().all(|earlier| uses[*group].hide(earlier, band)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TILE: Rect = Rect { x0: 0, y0: 0, x1: 64, y1: 64 };
    const CORNER: Rect = Rect { x0: 0, y0: 0, x1: 16, y1: 16 };
    const LEFT: Rect = Rect { x0: 0, y0: 0, x1: 32, y1: 64 };
    const ALL: u32 = u32::MAX;
    const DEPTH: u32 = 0xff_ffff;

    /// What a job does with bits of an area of a surface.
    #[derive(Clone, Copy)]
    enum Does {
        Fill(usize, Rect, u32),
        Access(usize, Rect, u32),
    }
    use Does::{Access, Fill};

    /// Returns the numbers of the passes of each segment. Each pass is one job.
    fn segments_of(passes: &[&[Does]]) -> Vec<[usize; 2]> {
        let pass = |(first, jobs): (usize, &&[Does])| {
            let mut pass = Pass::new(first, [0, 0]);
            for job in *jobs {
                match *job {
                    Fill(surface, area, bits) => pass.fill(surface, area, bits),
                    Access(surface, area, bits) => pass.access(surface, area, bits),
                }
            }
            pass
        };
        let passes: Vec<Pass> = passes.iter().enumerate().map(pass).collect();
        segments(&passes, passes.len()).iter().map(|segment| [segment.jobs.start, segment.jobs.end]).collect()
    }

    #[test]
    fn a_tile_that_fills_what_it_uses_is_a_segment() {
        let cleared: &[Does] = &[Fill(0, TILE, ALL), Access(0, CORNER, ALL), Access(0, TILE, 0)];
        assert_eq!(segments_of(&[cleared, cleared, cleared]), [[0, 1], [1, 2], [2, 3]]);
        // The last tile is narrower. The one before keeps what it does not fill.
        assert_eq!(segments_of(&[cleared, &[Fill(0, LEFT, ALL), Access(0, LEFT, ALL)]]), [[0, 1], [1, 2]]);
    }

    #[test]
    fn a_tile_that_uses_pixels_of_an_earlier_one_belongs_to_its_segment() {
        let cleared: &[Does] = &[Fill(0, TILE, ALL), Access(0, CORNER, ALL)];
        for dependent in [
            // Not filled, filled too late, or filled in a part.
            &[Access(0, CORNER, ALL)][..],
            &[Access(0, CORNER, 0), Fill(0, TILE, ALL)],
            &[Fill(0, LEFT, ALL), Access(0, TILE, ALL)],
            &[Fill(0, LEFT, ALL), Fill(0, CORNER, ALL), Access(0, TILE, ALL)],
            // Not all bits are filled.
            &[Fill(0, TILE, DEPTH), Access(0, TILE, DEPTH)],
            &[Fill(0, LEFT, ALL), Fill(0, TILE, DEPTH), Access(0, TILE, ALL)],
        ] {
            assert_eq!(segments_of(&[cleared, cleared, dependent, cleared]), [[0, 1], [1, 3], [3, 4]]);
        }
        assert_eq!(segments_of(&[cleared, &[Fill(0, TILE, DEPTH), Fill(0, TILE, !DEPTH)]]), [[0, 1], [1, 2]]);
        // What the pass in between does not fill comes from the first one.
        let other: &[Does] = &[Fill(1, TILE, ALL)];
        assert_eq!(segments_of(&[cleared, other, &[Access(0, TILE, 0)]]), [[0, 3]]);
        let part: &[Does] = &[Fill(0, LEFT, ALL)];
        assert_eq!(segments_of(&[cleared, part, &[Access(0, TILE, 0)]]), [[0, 3]]);
        assert_eq!(segments_of(&[cleared, part, &[Access(0, CORNER, 0)]]), [[0, 1], [1, 3]]);
    }

    #[test]
    fn bits_that_no_tile_writes_need_not_be_filled() {
        let cleared: &[Does] = &[Fill(0, TILE, DEPTH), Access(0, CORNER, DEPTH), Access(0, TILE, 0)];
        assert_eq!(segments_of(&[cleared, cleared]), [[0, 1], [1, 2]]);
        let with_stencil: &[Does] = &[Fill(0, TILE, DEPTH), Access(0, CORNER, ALL)];
        assert_eq!(segments_of(&[cleared, with_stencil, cleared, cleared]), [[0, 1], [1, 4]]);
    }

    #[test]
    fn the_last_group_that_hides_the_others_runs_in_tile_memory() {
        let fills = |area: Rect| {
            let mut uses = Uses::default();
            uses.of_mut(0).fill(area, ALL);
            uses
        };
        let band = Rect { y1: 32, ..TILE };
        let [tile, left] = [fills(TILE), fills(LEFT)];
        assert_eq!(in_place(&[&tile, &tile, &left], band), Some(1));
        assert_eq!(in_place(&[&tile, &left], band), Some(0));
        assert_eq!(in_place(&[&tile, &left], Rect { x1: 20, ..band }), Some(1));
        assert_eq!(in_place(&[], band), None);
    }
}
