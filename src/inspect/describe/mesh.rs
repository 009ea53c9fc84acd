//! The vertices of a draw before and after the vertex stages, as tables and primitives.

use std::io::{self, Write};

use super::name::component;
use super::stages::{Part, StageTable, StageTables};
use a4emu_gpu::draw::DrawCall;
use a4emu_gpu::draw::pc::assembler::{Provoking, assemble};
use a4emu_gpu::draw::pipeline::look::{DrawVertices, vertices_of};
use a4emu_gpu::draw::stop::Stop;
use a4emu_gpu::draw::topology::Topology;
use a4emu_gpu::draw::vertices::{HEADER, RESTART, Vertices};
use a4emu_gpu::draw::vfd::state::{Attribute, Integers};
use a4emu_gpu::gpu::Gpu;
use a4emu_rules::number as words;

/// The side of the vertex stages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Side {
    /// Vertices as they are fetched.
    #[default]
    Inputs,
    /// Vertices as they reach the rasteriser.
    Outputs,
    /// What a stage between takes or makes.
    Stage(Part),
}

/// A table of vertices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Names of the columns.
    pub columns: Vec<Column>,
    /// One row for each vertex, as bits, row after row.
    pub values: Vec<u32>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name, such as `in0.x`, `position.w` or `v5`.
    pub name: String,
    /// How the bits are read.
    pub number: Number,
}

/// How the bits of a column are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// A float.
    Float,
    /// An integer.
    Integer,
    /// Bits, such as an address.
    Bits,
    /// The word of this index among those that the row stores. The column before the first of them has their number. What
    /// they are taken for follows from all of them.
    Word(usize),
}

/// The vertices of a draw.
pub struct Mesh {
    /// Index, instance and attributes of each fetched vertex.
    pub inputs: Table,
    /// The vertices that reach the rasteriser.
    pub outputs: Table,
    /// What the stages between take and make.
    pub stages: StageTables,
    /// Vertices of `inputs` in drawing order, and their primitive type.
    order: (Vec<u32>, Topology),
    /// Vertices of `outputs` in drawing order, and their primitive type.
    out_order: (Vec<u32>, Topology),
    /// Whether row n of both tables is the same vertex.
    pub is_plain: bool,
}

impl Mesh {
    /// The vertices of `call`, which is about to run.
    ///
    /// # Errors
    /// The call fails if the draw cannot run.
    pub fn of(gpu: &mut Gpu, call: &DrawCall) -> Result<Self, Stop> {
        let DrawVertices { attributes, fetched, topology, between, stream, out_topology, is_plain } =
            vertices_of(&mut gpu.draws(), call)?;
        let stream = stream.unwrap_or_default();
        let inputs = {
            let mut table = Table::of_attributes(&attributes);
            for (job, values) in fetched.jobs.iter().zip(rows(&fetched.values, 4 * attributes.len())) {
                table.values.extend([job.index, job.instance]);
                let used = attributes.iter().zip(values.chunks_exact(4));
                used.for_each(|(attribute, values)| {
                    table.values.extend(written(attribute).map(|c| values[c]))
                });
            }
            table
        };
        let stages = between.map_or_else(StageTables::default, |between| {
            StageTables::new(&between, (&inputs, &fetched.list), &stream)
        });
        let mut made = Self {
            inputs,
            outputs: Table::of_vertices(&stream.vertices),
            stages,
            order: (fetched.list, topology),
            out_order: (stream.list, out_topology),
            is_plain,
        };
        let primitives = made.primitive_list(Side::Outputs);
        if let Some(last) = made.stages.all.last_mut().filter(|table| table.part == Part::Gs) {
            last.primitives = primitives;
        }
        Ok(made)
    }

    /// The table of `side`. Empty if the draw has no such stage.
    pub fn table(&self, side: Side) -> &Table {
        const NONE: &Table = &Table { columns: Vec::new(), values: Vec::new() };
        match side {
            Side::Inputs => &self.inputs,
            Side::Outputs => &self.outputs,
            Side::Stage(part) => self.stages.get(part).map_or(NONE, |stage| &stage.table),
        }
    }

    /// Writes a CSV line for each vertex in drawing order: its number and its columns. If row n of both
    /// tables is the same vertex, the line has inputs and outputs. Tables of the stages between are written as they are.
    ///
    /// # Errors
    /// The call fails if `out` cannot be written.
    pub fn write_csv(&self, side: Side, out: &mut impl Write) -> io::Result<()> {
        let (table, order) = match side {
            Side::Inputs => (&self.inputs, &self.order.0),
            Side::Outputs => (&self.outputs, &self.out_order.0),
            Side::Stage(_) => return self.table(side).write_csv(out),
        };
        let both = [&self.inputs, &self.outputs];
        let tables: &[&Table] = if self.is_plain { &both } else { &[table] };
        let names = tables.iter().flat_map(|table| &table.columns).map(|column| column.name.as_str());
        writeln!(out, "vertex,{}", names.collect::<Vec<_>>().join(","))?;
        for (number, vertex) in order.iter().filter(|vertex| **vertex != RESTART).enumerate() {
            write!(out, "{number}")?;
            tables.iter().try_for_each(|table| table.write_row(*vertex, ",", out))?;
            writeln!(out)?;
        }
        Ok(())
    }

    /// Writes Wavefront OBJ: positions, and points, lines or triangles.
    ///
    /// # Errors
    /// The call fails if `out` cannot be written.
    pub fn write_obj(&self, side: Side, out: &mut impl Write) -> io::Result<()> {
        for [x, y, z] in self.positions(side) {
            writeln!(out, "v {x} {y} {z}")?;
        }
        for primitive in self.primitives(side) {
            let kind = ["p", "l", "f"][primitive.len().min(3) - 1];
            write!(out, "{kind}")?;
            primitive.iter().try_for_each(|vertex| write!(out, " {}", vertex + 1))?;
            writeln!(out)?;
        }
        Ok(())
    }

    /// Writes PLY: positions, the other columns as properties, and lines or triangles.
    ///
    /// # Errors
    /// The call fails if `out` cannot be written.
    pub fn write_ply(&self, side: Side, out: &mut impl Write) -> io::Result<()> {
        let table = self.table(side);
        let (positions, primitives) = (self.positions(side), self.primitives(side));
        let (lines, faces): (Vec<_>, Vec<_>) =
            primitives.iter().filter(|vertices| vertices.len() > 1).partition(|vertices| vertices.len() == 2);
        writeln!(out, "ply\nformat ascii 1.0\nelement vertex {}", positions.len())?;
        ["x", "y", "z"].iter().try_for_each(|axis| writeln!(out, "property float {axis}"))?;
        for column in &table.columns {
            let ty = if column.number == Number::Float { "float" } else { "int" };
            writeln!(out, "property {ty} {}", column.name.replace('.', "_"))?;
        }
        writeln!(out, "element face {}\nproperty list uchar int vertex_indices", faces.len())?;
        writeln!(
            out,
            "element edge {}\nproperty int vertex1\nproperty int vertex2\nend_header",
            lines.len()
        )?;
        for (vertex, [x, y, z]) in (0..).zip(&positions) {
            write!(out, "{x} {y} {z}")?;
            table.write_row(vertex, " ", out)?;
            writeln!(out)?;
        }
        for face in faces {
            write!(out, "{}", face.len())?;
            face.iter().try_for_each(|vertex| write!(out, " {vertex}"))?;
            writeln!(out)?;
        }
        lines.iter().try_for_each(|line| writeln!(out, "{} {}", line[0], line[1]))
    }

    /// The first attribute of each fetched vertex, if there is one.
    pub fn fetched_positions(&self) -> Option<Vec<[f32; 3]>> {
        let has_attribute = self.inputs.columns.iter().any(|column| column.name.starts_with("in0."));
        has_attribute.then(|| self.positions(Side::Inputs))
    }

    /// x, y, z and w of each vertex that reaches the rasteriser.
    pub fn clip_positions(&self) -> Vec<[f32; 4]> {
        let position =
            |row: &[u32]| std::array::from_fn(|c| row.get(c).map_or(0.0, |bits| f32::from_bits(*bits)));
        rows(&self.outputs.values, self.outputs.columns.len()).map(position).collect()
    }

    /// The vertices of all points, lines or triangles, and how many each has. Patches are shown as the points
    /// that they have.
    pub fn primitive_list(&self, side: Side) -> (u32, Vec<u32>) {
        let all = self.primitives(side);
        let size = all.iter().map(Vec::len).max().unwrap_or(0);
        let same = all.into_iter().filter(|vertices| vertices.len() == size);
        match (side, size) {
            (Side::Inputs, 0) => {
                (1, self.order.0.iter().copied().filter(|vertex| *vertex != RESTART).collect())
            }
            _ => (size as u32, same.flatten().collect()),
        }
    }

    /// Positions: the first attribute of inputs; for outputs, the position after the perspective division.
    fn positions(&self, side: Side) -> Vec<[f32; 3]> {
        let table = self.table(side);
        let prefix = if side == Side::Inputs { "in" } else { "position." };
        let first = table
            .columns
            .iter()
            .position(|column| column.name.starts_with(prefix) && column.name.contains('.'));
        let input = |name: &Column| name.name.split('.').next().map(str::to_owned);
        let owner = first.and_then(|first| input(&table.columns[first]));
        let position = |row: &[u32]| {
            let column = |c: usize| {
                let at = first? + c;
                let is_same = table.columns.get(at).is_some_and(|column| input(column) == owner);
                is_same.then(|| table.columns[at].number.float(row[at]))
            };
            let [x, y, z] = [0, 1, 2].map(|c| column(c).unwrap_or(0.0));
            match (side, column(3)) {
                (Side::Outputs | Side::Stage(_), Some(w)) if w != 0.0 => [x / w, y / w, z / w],
                _ => [x, y, z],
            }
        };
        rows(&table.values, table.columns.len()).map(position).collect()
    }

    /// The vertices of each point, line and triangle; empty for other primitive types.
    fn primitives(&self, side: Side) -> Vec<Vec<u32>> {
        let (order, topology) = match side {
            Side::Inputs => (&self.order.0, self.order.1),
            Side::Outputs => (&self.out_order.0, self.out_order.1),
            Side::Stage(part) => {
                return self.stages.get(part).map_or_else(Vec::new, StageTable::each_primitive);
            }
        };
        let mut primitives = Vec::new();
        for run in order.split(|vertex| *vertex == RESTART) {
            let known = assemble(topology, Provoking::First, run, &mut |vertices, _| {
                primitives.push(without_neighbours(vertices).collect());
            });
            if known.is_none() {
                break;
            }
        }
        primitives
    }
}

/// The vertices of a primitive without its adjacent vertices.
pub(super) fn without_neighbours(vertices: &[u32]) -> impl Iterator<Item = u32> {
    let (among, step) = match vertices {
        [_, among @ .., _] if vertices.len() == 4 => (among, 1),
        all if all.len() == 6 => (all, 2),
        all => (all, 1),
    };
    among.iter().copied().step_by(step)
}

/// The columns of the rows of `vertices`.
pub(super) fn outputs(vertices: &Vertices) -> impl Iterator<Item = Column> {
    let varyings = if vertices.is_empty() { 0 } else { vertices.varying_components() };
    let header = ["position.x", "position.y", "position.z", "position.w", "point_size"];
    debug_assert_eq!(header.len(), HEADER);
    let names =
        header.map(str::to_owned).into_iter().chain((0..varyings).map(|location| format!("v{location}")));
    names.map(|name| Column { name, number: Number::Float })
}

/// Rows of `len` values each.
fn rows(values: &[u32], len: usize) -> impl Iterator<Item = &[u32]> {
    // Vertices that fetch nothing have empty rows; their number is not limited.
    let empty = std::iter::repeat_n(&[][..], if len == 0 { usize::MAX } else { 0 });
    values.chunks_exact(len.max(1)).chain(empty)
}

/// Indices of the components that an attribute writes to registers.
fn written(attribute: &Attribute) -> impl Iterator<Item = usize> {
    let mask = attribute.write_mask;
    (0..4).filter(move |c| mask >> c & 1 != 0)
}

impl Number {
    fn float(self, bits: u32) -> f32 {
        match self {
            Self::Float => f32::from_bits(bits),
            Self::Integer | Self::Bits | Self::Word(_) => bits.cast_signed() as f32,
        }
    }
}

impl Table {
    fn of_attributes(attributes: &[Attribute]) -> Self {
        let integer = |name: &str| Column { name: name.to_owned(), number: Number::Integer };
        let mut columns = vec![integer("index"), integer("instance")];
        for (index, attribute) in attributes.iter().enumerate() {
            let keeps = attribute.integer == Integers::Keep && attribute.codec.is_integer();
            let number = if keeps { Number::Integer } else { Number::Float };
            let column = |c: usize| Column { name: format!("in{index}.{}", component(c)), number };
            columns.extend(written(attribute).map(column));
        }
        Self { columns, values: Vec::new() }
    }

    fn of_vertices(vertices: &Vertices) -> Self {
        let columns = outputs(vertices).collect();
        let values = (0..vertices.len() as u32).flat_map(|vertex| vertices.row(vertex)).copied().collect();
        Self { columns, values }
    }

    /// Writes the values of `vertex`, each after a separator.
    fn write_row(&self, vertex: u32, separator: &str, out: &mut impl Write) -> io::Result<()> {
        let row = self.values.chunks_exact(self.columns.len()).nth(vertex as usize).unwrap_or_default();
        self.write_values(row, separator, out)
    }

    fn write_values(&self, row: &[u32], separator: &str, out: &mut impl Write) -> io::Result<()> {
        for (at, (column, bits)) in self.columns.iter().zip(row).enumerate() {
            match column.number {
                Number::Float => write!(out, "{separator}{}", f32::from_bits(*bits))?,
                Number::Integer => write!(out, "{separator}{}", bits.cast_signed())?,
                Number::Bits => write!(out, "{separator}{bits:#010x}")?,
                Number::Word(index) => {
                    let first = at - index;
                    let words = &row[first..][..row[first - 1] as usize];
                    let word = |bits: &u32| words::Number::guess(words.iter().copied()).text(*bits);
                    write!(out, "{separator}{}", words.get(index).map_or_else(String::new, word))?;
                }
            }
        }
        Ok(())
    }

    /// Writes a line of names, and a line for each row.
    fn write_csv(&self, out: &mut impl Write) -> io::Result<()> {
        let names: Vec<_> = self.columns.iter().map(|column| column.name.as_str()).collect();
        writeln!(out, "{}", names.join(","))?;
        for row in self.values.chunks_exact(self.columns.len().max(1)) {
            let mut line = Vec::new();
            self.write_values(row, ",", &mut line)?;
            out.write_all(&line[1..])?;
            writeln!(out)?;
        }
        Ok(())
    }
}
