//! The output of a comparison.

use std::collections::BTreeSet;
use std::io::{self, Write};

use serde::Serialize;

use super::align::Pair;
use super::compare::{Comparison, Difference, title};
use super::images::Picture;
use super::side::{Command, Side};
use super::{Found, Options};

/// A finished comparison.
pub struct Report<'s> {
    sides: [&'s Side; 2],
    found: Vec<Found>,
    pairs: usize,
    /// Differences of the captures as a whole.
    whole: Vec<Difference>,
    causes: Vec<String>,
    pictures: Vec<Picture>,
}

/// A draw in the JSON output.
#[derive(Serialize)]
struct Which {
    draw: u32,
    frame_draw: u32,
    submit: u32,
    title: String,
}

impl Which {
    fn of(command: &Command) -> Self {
        let (draw, frame_draw) = command.runs[0];
        Self { draw, frame_draw, submit: command.draw.submit, title: title(&command.draw) }
    }
}

/// A difference in the JSON output.
#[derive(Serialize)]
struct DifferenceRow<'d> {
    a: Option<Which>,
    b: Option<Which>,
    #[serde(flatten)]
    difference: &'d Difference,
}

/// The JSON object of `--json`.
#[derive(Serialize)]
struct Whole<'d> {
    same: bool,
    pairs: usize,
    differences: Vec<DifferenceRow<'d>>,
    causes: &'d [String],
    pictures: &'d [Picture],
}

impl<'s> Report<'s> {
    /// Makes a report of `comparison`.
    pub fn new(sides: [&'s Side; 2], comparison: Comparison) -> Self {
        let mut whole = Vec::new();
        let [a, b] = sides;
        if a.chip != b.chip {
            whole.push(Difference::new("gpu", a.chip.to_string(), b.chip.to_string()));
        }
        let Comparison { found, pairs, .. } = comparison;
        Self { sides, found, pairs, whole, causes: Vec::new(), pictures: Vec::new() }
    }

    /// Compares the tiles of the frames too.
    pub fn compare_tiles(&mut self) {
        let [a, b] = self.sides;
        if a.passes != b.passes {
            self.whole.push(Difference::new("passes", a.passes.text(), b.passes.text()));
        }
    }

    /// Whether there is no difference.
    pub fn is_same(&self) -> bool {
        self.found.is_empty() && self.whole.is_empty() && self.pictures.iter().all(Picture::is_same)
    }

    /// Keeps only the differences of the first draw that has some.
    pub fn keep_first(&mut self) {
        if let Some(first) = self.found.first().map(|found| found.pair) {
            self.found.retain(|found| found.pair == first);
        }
    }

    /// The runs of the first draw that differs.
    pub fn first_draws(&self) -> Option<[Option<u32>; 2]> {
        let pair = self.found.first()?.pair;
        let draw = |side: &Side, index: Option<usize>| Some(side.commands.get(index?)?.draw.draw);
        Some([draw(self.sides[0], pair.a()), draw(self.sides[1], pair.b())])
    }

    /// The names of the differences.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.found.iter().map(|found| found.difference.what.as_str())
    }

    /// The pairs that differ, one entry per difference.
    pub fn differing(&self) -> impl Iterator<Item = Pair> {
        self.found.iter().map(|found| found.pair)
    }

    /// Sets the packets that made the first difference.
    pub fn set_causes(&mut self, causes: Vec<String>) {
        self.causes = causes;
    }

    /// Sets the pictures after draws.
    pub fn set_pictures(&mut self, pictures: Vec<Picture>) {
        self.pictures = pictures;
    }

    /// The name of `pair`.
    pub fn name(&self, pair: Pair) -> String {
        let name = |side: &Side, index: usize| format!("f{}", side.commands[index].runs[0].1);
        match pair {
            Pair::Both(a, b) => match [name(self.sides[0], a), name(self.sides[1], b)] {
                [a, b] if a == b => a,
                [a, b] => format!("{a} ~ {b}"),
            },
            Pair::OnlyA(a) => format!("{} of A", name(self.sides[0], a)),
            Pair::OnlyB(b) => format!("{} of B", name(self.sides[1], b)),
        }
    }

    /// Writes the report to `out`.
    ///
    /// # Errors
    /// The call fails if `out` cannot be written.
    pub fn write(&self, out: &mut dyn Write, options: &Options) -> anyhow::Result<()> {
        match options.json {
            true => writeln!(out, "{}", serde_json::to_string(&self.whole_object())?)?,
            false => self.write_lines(out)?,
        }
        Ok(out.flush()?)
    }

    fn write_lines(&self, out: &mut dyn Write) -> io::Result<()> {
        for Difference { what, old, new } in &self.whole {
            writeln!(out, "{what}: {old} -> {new}")?;
        }
        let mut named = BTreeSet::new();
        for Found { pair, difference: Difference { what, old, new } } in &self.found {
            let name = self.name(*pair);
            let is_first = named.insert(name.clone());
            let both = matches!(pair, Pair::Both(..)) && is_first;
            let title = pair.a().filter(|_| both).map(|a| title(&self.sides[0].commands[a].draw));
            let title = title.map_or_else(String::new, |title| format!(" ({title})"));
            writeln!(out, "{name}{title}: {what}: {old} -> {new}")?;
        }
        for (side, cause) in ["A", "B"].iter().zip(&self.causes) {
            writeln!(out, "first packet of {side}: {cause}")?;
        }
        self.pictures.iter().try_for_each(|picture| writeln!(out, "{picture}"))
    }

    fn whole_object(&self) -> Whole<'_> {
        let which = |side: usize, index: Option<usize>| self.sides[side].commands.get(index?).map(Which::of);
        let row = |found: &'_ Found| (which(0, found.pair.a()), which(1, found.pair.b()));
        let whole = self.whole.iter().map(|difference| DifferenceRow { a: None, b: None, difference });
        let found = self.found.iter().map(|found| {
            let (a, b) = row(found);
            DifferenceRow { a, b, difference: &found.difference }
        });
        Whole {
            same: self.is_same(),
            pairs: self.pairs,
            differences: whole.chain(found).collect(),
            causes: &self.causes,
            pictures: &self.pictures,
        }
    }
}
