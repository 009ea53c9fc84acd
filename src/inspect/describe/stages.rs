//! What each stage between vertex fetch and rasteriser takes and makes, as tables.

use super::mesh::{Column, Number, Table, outputs, without_neighbours};
use a4emu_gpu::draw::gs::emitted::Maker;
use a4emu_gpu::draw::hs::HullStore;
use a4emu_gpu::draw::pc::assembler::PrimitiveList;
use a4emu_gpu::draw::pipeline::between::{Between, Tessellated};
use a4emu_gpu::draw::vertices::{VertexStream, Vertices};

/// Bytes of all tables of a draw at most.
const MAX_BYTES: u64 = 1 << 25;

/// A table of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Vertices as the vertex shader takes and makes them.
    Vs,
    /// Vertices of the patches that the hull shader takes.
    HsInputs,
    /// What the hull shader stores.
    Hs,
    /// The factors of each patch.
    Factors,
    /// Points as the domain shader takes and makes them.
    Ds,
    /// Vertices of the primitives that the geometry shader takes.
    GsInputs,
    /// Vertices that the geometry shader makes.
    Gs,
}

impl Part {
    /// Whether the rows have positions.
    pub fn has_positions(self) -> bool {
        !matches!(self, Self::Hs | Self::Factors)
    }

    /// The name in the option.
    pub fn name(self) -> &'static str {
        match self {
            Self::Vs => "vs",
            Self::HsInputs => "hs-inputs",
            Self::Hs => "hs",
            Self::Factors => "factors",
            Self::Ds => "ds",
            Self::GsInputs => "gs-inputs",
            Self::Gs => "gs",
        }
    }
}

/// What a stage takes or makes.
pub struct StageTable {
    /// Which one.
    pub part: Part,
    /// The rows.
    pub table: Table,
    /// Number of columns of what the stage takes. It makes the others.
    pub taken: usize,
    /// Number of vertices of a primitive, and the rows of each.
    pub primitives: (u32, Vec<u32>),
}

impl StageTable {
    /// The rows of each primitive.
    pub(super) fn each_primitive(&self) -> Vec<Vec<u32>> {
        let (size, rows) = &self.primitives;
        rows.chunks_exact((*size).max(1) as usize).map(<[u32]>::to_vec).collect()
    }
}

/// The tables of a draw.
#[derive(Default)]
pub struct StageTables {
    /// The tables, in the order of the stages. Empty if there is the vertex shader alone.
    pub all: Vec<StageTable>,
    /// The tables or stores that are left out, and why.
    pub left_out: Option<String>,
}

impl StageTables {
    /// The tables of what the stages pass on, of vertices that are `fetched` in the order of `list`. The last stage makes
    /// `stream`.
    pub(super) fn new(between: &Between, (fetched, list): (&Table, &[u32]), stream: &VertexStream) -> Self {
        let bytes = bytes(between, fetched, stream);
        if bytes > MAX_BYTES {
            let left_out = format!(
                "the tables of the stages are left out: they have {bytes} bytes, and may have {MAX_BYTES}"
            );
            return Self { all: Vec::new(), left_out: Some(left_out) };
        }
        let mut all = vec![vertex(between, fetched, list)];
        let mut left_out = None;
        if let Some(tessellated) = &between.tessellated {
            all.push(primitive_inputs(Part::HsInputs, "vs_vertex", &between.primitives, &between.shaded));
            all.push(hull(tessellated, &between.primitives.ids));
            all.push(factors(tessellated, &between.primitives.ids));
            all.push(domain(tessellated, stream));
            let count = tessellated.stores.left_out;
            left_out = (count > 0).then(|| format!("{count} more stores of the hull shader are left out"));
        }
        if let Some(makers) = &between.makers {
            let none = Vertices::default();
            let (vertex, primitives, vertices) = match &between.tessellated {
                Some(made) => ("ds_vertex", &made.primitives, made.shaded.as_ref().unwrap_or(&none)),
                None => ("vs_vertex", &between.primitives, &between.shaded),
            };
            all.push(primitive_inputs(Part::GsInputs, vertex, primitives, vertices));
            all.push(geometry(makers, stream));
        }
        Self { all, left_out }
    }

    /// The table of `part`, if the draw has it.
    pub fn get(&self, part: Part) -> Option<&StageTable> {
        self.all.iter().find(|table| table.part == part)
    }
}

/// Bytes of all tables.
fn bytes(between: &Between, fetched: &Table, stream: &VertexStream) -> u64 {
    let words = |rows: usize, columns: usize| (rows as u64).saturating_mul(columns as u64);
    let inputs =
        |list: &PrimitiveList, vertices: &Vertices| words(list.vertices.len(), 5 + vertices.stride());
    let tessellated = between.tessellated.as_ref().map_or(0, |made| {
        let shaded = made.shaded.as_ref().unwrap_or(&stream.vertices);
        let geometry = made.shaded.as_ref().map_or(0, |shaded| inputs(&made.primitives, shaded));
        words(made.stores.all.len(), 9)
            + words(made.factors.len(), 9)
            + words(made.points.len(), 7 + shaded.stride())
            + geometry
    });
    let shaded = words(between.shaded.len(), 2 + fetched.columns.len() + between.shaded.stride());
    let made = words(stream.vertices.len(), 8 + stream.vertices.stride());
    4 * (shaded + inputs(&between.primitives, &between.shaded) + tessellated + made)
}

fn column(name: impl Into<String>, number: Number) -> Column {
    Column { name: name.into(), number }
}

fn integers<const N: usize>(names: [&str; N]) -> Vec<Column> {
    names.map(|name| column(name, Number::Integer)).into()
}

/// The vertices that are fetched, beside those that the vertex shader makes of them.
fn vertex(between: &Between, fetched: &Table, list: &[u32]) -> StageTable {
    let mut columns = integers(["vs_vertex"]);
    columns.extend_from_slice(&fetched.columns);
    let taken = columns.len();
    columns.extend(outputs(&between.shaded));
    let mut values = Vec::new();
    let rows = fetched.values.chunks_exact(fetched.columns.len());
    for (number, row) in (0..between.shaded.len() as u32).zip(rows) {
        values.push(number);
        values.extend_from_slice(row);
        values.extend_from_slice(between.shaded.row(number));
    }
    let PrimitiveList { size, vertices, .. } = &between.primitives;
    let primitives = match between.tessellated {
        // Patches are shown as the points that they have.
        Some(_) => (1, list.iter().copied().filter(|vertex| *vertex < between.shaded.len() as u32).collect()),
        None => corners(*size, vertices.chunks_exact((*size).max(1))),
    };
    StageTable { part: Part::Vs, table: Table { columns, values }, taken, primitives }
}

/// The vertices of points, lines and triangles, without adjacent vertices.
fn corners<'a>(size: usize, all: impl Iterator<Item = &'a [u32]>) -> (u32, Vec<u32>) {
    let size = match size {
        4 => 2,
        6 => 3,
        size => size as u32,
    };
    (size, all.flat_map(without_neighbours).collect())
}

/// Each vertex of each primitive, as a stage takes it that takes whole primitives. The column `vertex` has its number among
/// those that the stage before makes.
fn primitive_inputs(part: Part, vertex: &str, list: &PrimitiveList, vertices: &Vertices) -> StageTable {
    let mut columns = match part {
        Part::HsInputs => integers(["patch", "primitive_id", "point"]),
        _ => integers(["primitive", "primitive_id", "corner"]),
    };
    columns.extend(integers([vertex]));
    columns.extend(outputs(vertices));
    let mut values = Vec::new();
    for (number, id) in list.ids.iter().enumerate() {
        for (corner, vertex) in list.primitive(number).iter().enumerate() {
            values.extend([number as u32, *id, corner as u32, *vertex]);
            values.extend_from_slice(vertices.row(*vertex));
        }
    }
    let rows: Vec<u32> = (0..list.vertices.len() as u32).collect();
    let primitives = match part {
        Part::HsInputs => (1, rows),
        _ => corners(list.size, rows.chunks_exact(list.size.max(1))),
    };
    StageTable { part, taken: columns.len(), table: Table { columns, values }, primitives }
}

/// A row for each store of the hull shader.
fn hull(made: &Tessellated, ids: &[u32]) -> StageTable {
    let mut columns = integers(["patch", "primitive_id", "invocation"]);
    let taken = columns.len();
    columns.push(column("address", Number::Bits));
    columns.push(column("words", Number::Integer));
    columns.extend((0..).zip(["x", "y", "z", "w"]).map(|(index, name)| column(name, Number::Word(index))));
    let row = |HullStore { patch, invocation, stored }: &HullStore| {
        let id = ids.get(*patch as usize).copied().unwrap_or_default();
        let [x, y, z, w] = stored.values;
        [*patch, id, *invocation, stored.address.get() as u32, stored.count as u32, x, y, z, w]
    };
    let values = made.stores.all.iter().flat_map(row).collect();
    StageTable { part: Part::Hs, table: Table { columns, values }, taken, primitives: (0, Vec::new()) }
}

/// A row for each patch: its factors, and how many points it gets by them.
fn factors(made: &Tessellated, ids: &[u32]) -> StageTable {
    let [outer, inner] = made.state.tessellator.domain.factors();
    let mut columns = integers(["patch", "primitive_id"]);
    columns.extend((0..outer).map(|index| column(format!("outer{index}"), Number::Float)));
    columns.extend((0..inner).map(|index| column(format!("inner{index}"), Number::Float)));
    let taken = columns.len();
    columns.push(column("points", Number::Integer));
    let mut points = vec![0; made.factors.len()];
    for point in &made.points {
        points[point.patch as usize] += 1;
    }
    let mut values = Vec::new();
    for (patch, ((factors, id), points)) in (0..).zip(made.factors.iter().zip(ids).zip(&points)) {
        values.extend([patch, *id]);
        values.extend(
            factors.outer[..outer].iter().chain(&factors.inner[..inner]).map(|factor| factor.to_bits()),
        );
        values.push(*points);
    }
    StageTable { part: Part::Factors, table: Table { columns, values }, taken, primitives: (0, Vec::new()) }
}

/// A row for each point of the patches.
fn domain(made: &Tessellated, stream: &VertexStream) -> StageTable {
    let shaded = made.shaded.as_ref().unwrap_or(&stream.vertices);
    let mut columns = integers(["ds_vertex", "patch", "primitive_id"]);
    columns.extend(["u", "v"].map(|name| column(name, Number::Float)));
    let taken = columns.len();
    columns.extend(outputs(shaded));
    let mut values = Vec::new();
    for (number, point) in (0..shaded.len() as u32).zip(&made.points) {
        let [u, v] = point.at;
        values.extend([number, point.patch, point.id, u.to_bits(), v.to_bits()]);
        values.extend_from_slice(shaded.row(number));
    }
    let PrimitiveList { size, vertices, .. } = &made.primitives;
    let primitives = (*size as u32, vertices.clone());
    StageTable { part: Part::Ds, table: Table { columns, values }, taken, primitives }
}

/// A row for each vertex that the geometry shader makes.
fn geometry(makers: &[Maker], stream: &VertexStream) -> StageTable {
    let mut columns = integers(["primitive", "invocation", "emitted"]);
    let taken = columns.len();
    columns.extend(integers(["cut", "stream", "layer", "viewport"]));
    columns.extend(outputs(&stream.vertices));
    let mut values = Vec::new();
    let ends = makers.iter().skip(1).map(|maker| maker.first).chain([stream.vertices.len() as u32]);
    for (maker, end) in makers.iter().zip(ends) {
        for number in maker.first..end {
            let Some(word) = stream.words.get(number as usize) else { continue };
            values.extend([maker.primitive, maker.invocation, number - maker.first]);
            values.extend([word.cut.into(), word.stream.into(), word.layer, word.viewport.into()]);
            values.extend_from_slice(stream.vertices.row(number));
        }
    }
    StageTable { part: Part::Gs, table: Table { columns, values }, taken, primitives: (0, Vec::new()) }
}
