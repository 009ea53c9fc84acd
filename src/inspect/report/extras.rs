//! What the page can show beyond what each draw opens with: further parts of textures, vertices as tables, memory.
//! Each is packed on its own, and unpacked when it is looked at. `serve` has all of them; a report has as many as
//! make it little larger.

use std::collections::{BTreeMap, VecDeque};

use hashbrown::HashMap;
use serde::{Serialize, Serializer};

use super::pack::{base64, encoded, packed};
use crate::describe::Texels;
use crate::describe::mesh::{Column, Mesh, Number, Table};
use crate::memory::Starts;
use a4emu_gpu::budget::{Budget, Work};

/// Bytes of JSON that are kept while the capture runs. The newest are kept, since the page opens with the last picture.
const KEPT: usize = 24 << 20;

/// Bytes that starts of memory take beside their contents.
const AROUND_STARTS: usize = 1 << 10;

/// A report has at least so many bytes of extras, if there are any.
const LEAST: usize = 256 << 10;

/// An extra is at most this part of the page without extras.
const SHARE: usize = 20;

/// Bytes of JSON that the tables of stages of a draw have at most in a report.
const MOST_OF_STAGES: usize = KEPT / 8;

/// Bytes of the key of an extra in the page, and of what separates it.
const AROUND: usize = 24;

/// An extra while the capture runs.
#[derive(Debug)]
enum Extra {
    Json(Vec<u8>),
    /// Of these text is made if the page has them.
    Starts(Starts),
    Vertices(VertexTables),
}

impl Extra {
    /// Bytes that it takes.
    fn size(&self) -> usize {
        match self {
            Self::Json(json) => json.len(),
            Self::Starts(starts) => AROUND_STARTS + starts.bytes() as usize,
            Self::Vertices(tables) => tables.bytes(),
        }
    }

    fn packed(&self) -> anyhow::Result<String> {
        match self {
            Self::Json(json) => packed(json),
            Self::Starts(starts) => packed(&serde_json::to_vec(&starts.answers())?),
            Self::Vertices(tables) => packed(&serde_json::to_vec(tables)?),
        }
    }
}

/// The extras of a run, by key.
#[derive(Debug, Default)]
pub struct Extras {
    all: VecDeque<(String, Extra)>,
    /// How many had been added before each.
    known: HashMap<String, u64>,
    bytes: usize,
    left_out: u64,
}

impl Extras {
    /// Adds the extra `key`, or takes this one in place of the one that it had.
    pub fn put(&mut self, key: String, extra: &impl Serialize, budget: &Budget) {
        let Ok(json) = serde_json::to_vec(extra) else { return };
        budget.observe(Work::Text16, json.len() as u64 / 16);
        self.keep(key, Extra::Json(json));
    }

    /// Adds starts of memory as the extra `key`, or takes them in place of those that it had.
    pub fn put_starts(&mut self, key: String, starts: Starts, budget: &Budget) {
        budget.observe(Work::Copy16, starts.bytes() / 16);
        self.keep(key, Extra::Starts(starts));
    }

    /// Adds tables of vertices as the extra `key`, or takes them in place of those that it had.
    pub fn put_vertices(&mut self, key: String, tables: VertexTables, budget: &Budget) {
        budget.observe(Work::Copy16, tables.bytes() as u64 / 16);
        self.keep(key, Extra::Vertices(tables));
    }

    /// Keeps an extra. The oldest are removed where there is no room.
    fn keep(&mut self, key: String, extra: Extra) {
        let next = self.left_out + self.all.len() as u64;
        let number = *self.known.entry_ref(&key).or_insert(next);
        // None if it was removed already.
        let Some(index) = number.checked_sub(self.left_out) else { return };
        self.bytes += extra.size();
        match self.all.get_mut(index as usize) {
            Some((_, old)) => {
                self.bytes -= old.size();
                *old = extra;
            }
            None => self.all.push_back((key, extra)),
        }
        while self.bytes > KEPT {
            let Some((_, oldest)) = self.all.pop_front() else { break };
            self.bytes -= oldest.size();
            self.left_out += 1;
        }
    }

    /// The newest extras, packed, that a page has, which has `page` bytes without them and room for `room` more; and
    /// how many are left out. Older ones that are smaller fill the room.
    ///
    /// # Errors
    /// The call fails if the encoder does.
    pub fn chosen(&self, page: usize, room: usize) -> anyhow::Result<(BTreeMap<&str, String>, u64)> {
        let mut left = LEAST.max(page / SHARE).min(room);
        let mut chosen = BTreeMap::new();
        for (key, extra) in self.all.iter().rev() {
            if left < 2 * AROUND {
                break;
            }
            let text = extra.packed()?;
            if let Some(rest) = left.checked_sub(text.len() + AROUND) {
                left = rest;
                chosen.insert(key.as_str(), text);
            }
        }
        let left_out = self.left_out + (self.all.len() - chosen.len()) as u64;
        Ok((chosen, left_out))
    }
}

/// The texels of a part of a texture: as PNG where that holds each value, else as they are.
#[derive(Serialize)]
pub struct PartOfTexture {
    width: u32,
    height: u32,
    /// Whether `png` holds each value exactly.
    exact: bool,
    /// `float`, `uint` or `sint`: how `values` are read.
    number: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    png: Option<String>,
    /// Red, green, blue and alpha of each texel: 32 bits each, in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<String>,
}

impl PartOfTexture {
    /// All values of `texels`.
    pub fn new(texels: &Texels) -> Self {
        let [width, height] = texels.size;
        let (exact, number) = (texels.are_bytes(), texels.number());
        let png = exact.then(|| encoded(&texels.image())).flatten().map(|png| base64(&png));
        let values = (!exact).then(|| base64(bytemuck::cast_slice(texels.values.as_flattened())));
        Self { width, height, exact, number, png, values }
    }
}

/// The vertices of a draw as tables: as they are fetched, and as they reach the rasteriser.
#[derive(Debug, Serialize)]
pub struct VertexTables {
    #[serde(rename = "in")]
    inputs: VertexTable,
    out: VertexTable,
    /// What the stages between take and make.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stages: Vec<TableOfStage>,
    /// What of that is left out, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    stages_left_out: Option<String>,
}

/// What a stage takes or makes.
#[derive(Debug, Serialize)]
struct TableOfStage {
    /// Which stage, as `--mesh-of` names it.
    part: &'static str,
    #[serde(flatten)]
    table: VertexTable,
    /// Number of columns of what the stage takes. It makes the others.
    taken: usize,
    /// Number of vertices of a primitive.
    size: u32,
    /// Rows of each primitive, in base64.
    #[serde(serialize_with = "in_base64")]
    indices: Vec<u32>,
}

/// A table of vertices.
#[derive(Debug, Serialize)]
struct VertexTable {
    /// Name of each column, and what it has.
    columns: Vec<(String, Kind)>,
    /// The values, row by row: 32 bits each, in base64.
    #[serde(serialize_with = "in_base64")]
    values: Vec<u32>,
}

/// How the page reads the values of a column.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
enum Kind {
    /// Whether they are floats (else integers).
    Number(bool),
    /// `bits`, or `word` for one of the words that the row stores.
    Other(&'static str),
}

fn in_base64<S: Serializer>(values: &[u32], to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&base64(bytemuck::cast_slice(values)))
}

impl VertexTables {
    /// The tables of a mesh.
    pub fn new(mesh: &Mesh) -> Self {
        let [inputs, out] = [&mesh.inputs, &mesh.outputs].map(VertexTable::new);
        let stages = mesh.stages.all.iter().map(|stage| {
            let (size, indices) = stage.primitives.clone();
            let table = VertexTable::new(&stage.table);
            TableOfStage { part: stage.part.name(), table, taken: stage.taken, size, indices }
        });
        Self { inputs, out, stages: stages.collect(), stages_left_out: mesh.stages.left_out.clone() }
    }

    /// The extras of a report. Tables of stages that are large would take the room of all others.
    pub fn of_report(mesh: &Mesh) -> Self {
        let mut all = Self::new(mesh);
        let bytes: usize = all.stages.iter().map(TableOfStage::bytes).sum();
        if bytes > MOST_OF_STAGES {
            all.stages.clear();
            let why = format!(
                "The tables of the stages have {} MB and are left out: a4emu serve shows them.",
                bytes >> 20
            );
            all.stages_left_out = Some(why);
        }
        all
    }

    /// Bytes of their JSON, roughly.
    fn bytes(&self) -> usize {
        let stages: usize = self.stages.iter().map(TableOfStage::bytes).sum();
        self.inputs.bytes() + self.out.bytes() + stages
    }
}

impl TableOfStage {
    /// Bytes of its JSON, roughly.
    fn bytes(&self) -> usize {
        self.table.bytes() + self.indices.len() * 16 / 3
    }
}

impl VertexTable {
    fn new(table: &Table) -> Self {
        let kind = |number| match number {
            Number::Float => Kind::Number(true),
            Number::Integer => Kind::Number(false),
            Number::Bits => Kind::Other("bits"),
            Number::Word(_) => Kind::Other("word"),
        };
        let column = |column: &Column| (column.name.clone(), kind(column.number));
        Self { columns: table.columns.iter().map(column).collect(), values: table.values.clone() }
    }

    /// Bytes of its JSON, roughly.
    fn bytes(&self) -> usize {
        16 * self.columns.len() + self.values.len() * 16 / 3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_the_newest_extras_that_make_it_little_larger() {
        let mut extras = Extras::default();
        let noise = |seed: u64| -> Vec<u64> {
            (0..19_000u64).map(|at| (at + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17)).collect()
        };
        for number in 0..4 {
            extras.put(format!("m{number}"), &noise(number << 32), &Budget::default());
        }
        let size = extras.all[0].1.packed().expect("an encoder").len() + AROUND;
        assert!(size * 2 > LEAST && size < LEAST, "{size}");
        let (chosen, left_out) = extras.chosen(0, usize::MAX).expect("an encoder");
        assert_eq!((chosen.into_keys().collect::<Vec<_>>(), left_out), (vec!["m3"], 3));
        // Sizes differ a little.
        let (chosen, left_out) = extras.chosen(SHARE * size * 5 / 2, usize::MAX).expect("an encoder");
        assert_eq!((chosen.into_keys().collect::<Vec<_>>(), left_out), (vec!["m2", "m3"], 2));
        assert_eq!(extras.chosen(100 * SHARE * size, 10).expect("an encoder").1, 4);
        // A later run of a draw describes it better.
        extras.put("m1".to_owned(), &"again", &Budget::default());
        let (chosen, left_out) = extras.chosen(0, usize::MAX).expect("an encoder");
        assert_eq!((chosen.into_keys().collect::<Vec<_>>(), left_out), (vec!["m1", "m3"], 2));
    }

    #[test]
    fn what_has_no_room_does_not_come_back() {
        let mut extras = Extras::default();
        let large = "x".repeat(KEPT * 2 / 3);
        for key in ["m0", "m1", "m0"] {
            extras.put(key.to_owned(), &large, &Budget::default());
        }
        let keys: Vec<_> = extras.all.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!((keys, extras.left_out, extras.bytes), (vec!["m1"], 1, large.len() + 2));
    }
}
