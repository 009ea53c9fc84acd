//! Limits how much data of each kind a page holds, and notes what is omitted.

use std::collections::BTreeMap;

/// A kind of data with its own limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DataKind {
    /// Pictures: patches, reasons, textures.
    Pictures,
    /// Costs of pixels.
    Costs,
    /// How often instructions ran.
    Counts,
    /// Vertices.
    Meshes,
    /// Lines of packets.
    Packets,
    /// State of draws.
    States,
    /// Text of programs.
    Programs,
    /// Targets that are followed from draw to draw.
    Canvases,
}

impl DataKind {
    /// Limit while the capture runs, in bytes. [`fit`](super::fit) decides what the page keeps.
    const fn bytes(self) -> usize {
        match self {
            Self::Pictures => 64 << 20,
            Self::Meshes => 32 << 20,
            Self::Packets | Self::States => 192 << 20,
            Self::Programs | Self::Costs => 16 << 20,
            Self::Counts => 8 << 20,
            Self::Canvases => 256 << 20,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Pictures => "pictures",
            Self::Costs => "maps of costs",
            Self::Counts => "counts of instructions",
            Self::Meshes => "meshes",
            Self::Packets => "packets",
            Self::States => "states",
            Self::Programs => "texts of shaders",
            Self::Canvases => "targets",
        }
    }
}

/// Size in memory of a line in bytes: its text, its `String`, and the overhead of an allocation.
pub fn kept(line: &str) -> usize {
    line.len() + size_of::<String>() + 16
}

/// The room that is used per kind.
#[derive(Debug, Default)]
pub struct Room {
    used: BTreeMap<DataKind, usize>,
    left_out: BTreeMap<DataKind, (u32, u64)>,
}

impl Room {
    /// Reserves `bytes` for draw `draw`, if they fit.
    #[must_use]
    pub fn take(&mut self, kind: DataKind, bytes: usize, draw: u32) -> bool {
        let used = self.used.entry(kind).or_default();
        let fits = bytes <= kind.bytes() - *used && !self.left_out.contains_key(&kind);
        if fits {
            *used += bytes;
        } else {
            self.left_out.entry(kind).or_insert((draw, 0)).1 += 1;
        }
        fits
    }

    /// Whether data of this kind still fits.
    pub fn has(&self, kind: DataKind) -> bool {
        !self.left_out.contains_key(&kind)
    }

    /// Whether data of this kind still fits. If not, what draw `draw` would have kept counts as left out.
    pub fn asked(&mut self, kind: DataKind, draw: u32) -> bool {
        self.has(kind) || self.take(kind, 0, draw)
    }

    /// Notes about omitted data, such as `pictures from f12 on ...`.
    pub fn notes(&self) -> impl Iterator<Item = String> {
        self.left_out.iter().map(|(kind, (draw, count))| {
            let (name, megabytes) = (kind.name(), kind.bytes() >> 20);
            format!("{name} from f{draw} on are left out ({count}): there is room for {megabytes} MB")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn from_the_first_that_does_not_fit_none_does() {
        let mut room = Room::default();
        assert!(room.take(DataKind::Meshes, 32 << 20, 0));
        assert!(!room.take(DataKind::Meshes, 1, 7));
        assert!(!room.take(DataKind::Meshes, 0, 9));
        assert!(room.has(DataKind::Packets) && !room.has(DataKind::Meshes));
        assert!(room.asked(DataKind::Packets, 11) && !room.asked(DataKind::Meshes, 11));
        assert_eq!(
            room.notes().collect::<Vec<_>>(),
            ["meshes from f7 on are left out (3): there is room for 32 MB"]
        );
    }
}
