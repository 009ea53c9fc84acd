//! One draw with all that it runs with, as `a4emu show --draw` has it, in arrays.

use a4emu_gpu::cp::Call;
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::picture::Alpha;
use a4emu_inspect::describe::canvas::{Canvas, Image, Keep, Snapshot, Which};
use a4emu_inspect::describe::mesh::{Mesh, Number, Table};
use a4emu_inspect::describe::{Draw, Look, Looking, PacketStores, RUNS, Shaders, Written, WrittenBy, find};
use a4emu_inspect::selection::Draws;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde::Serialize;

use crate::arrays::array;
use crate::json;
use crate::source::{Source, shared};
use crate::surface::Pixels;

/// The most layers and levels of textures that are read.
const MOST_LAYERS: usize = 1024;

/// A draw with all that it runs with, reads and changes: what `a4emu show --draw` shows.
#[pyclass(frozen, get_all, module = "a4emu")]
pub struct Shown {
    /// Its state, as in `a4emu show --json`: a dictionary (docs/schema.md).
    state: Py<PyAny>,
    /// What it renders to, before it: arrays as in Surface.pixels(), by 'target 0', 'depth' and so on.
    before: Py<PyDict>,
    /// What it renders to, after it: arrays by the same names as in `before`.
    after: Py<PyDict>,
    /// What it stored apart from its targets, and what the packets behind it stored: a list of dictionaries, as
    /// `written` in `state`.
    written: Py<PyAny>,
    /// Its textures by stage and slot, 'FS0': a list of the levels, uint8 [height, width, 4], or with layers in front.
    textures: Py<PyDict>,
    /// Its vertices as they are fetched: an array for each column, such as 'in0.x'. None for a dispatch.
    inputs: Option<Py<PyDict>>,
    /// Its vertices as they reach the rasteriser: 'position.x', 'v0' and so on. None for a dispatch.
    outputs: Option<Py<PyDict>>,
    /// What each stage between takes and makes, by the names of `--mesh-of`: 'vs', 'hs-inputs', 'hs', 'factors', 'ds',
    /// 'gs-inputs', 'gs'. Each is a dictionary of arrays. Empty for a draw with the vertex shader alone.
    stages: Py<PyDict>,
    /// The text of its programs by stage, 'VS', which replay(edit=) takes.
    shaders: Py<PyDict>,
}

#[pymethods]
impl Shown {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let number: u32 = self.state.bind(py).get_item("draw")?.extract()?;
        Ok(format!("<a4emu.Shown of draw {number}>"))
    }
}

/// The dictionary `state`.
#[derive(Serialize)]
struct Answer<'a> {
    #[serde(flatten)]
    draw: &'a Draw,
    written: &'a [Written],
}

/// What the thread of the run has seen.
#[derive(Default)]
struct Seen {
    shaders: Shaders,
    state: Option<Draw>,
    texts: Vec<(&'static str, String)>,
    textures: Vec<Level>,
    before: Snapshot,
    after: Snapshot,
    mesh: Option<Mesh>,
    written: WrittenBy,
}

/// All layers of a level of a texture.
struct Level {
    /// Stage and slot.
    name: String,
    layers: Vec<Image>,
}

impl Look for Seen {
    fn before(&mut self, gpu: &mut Gpu, call: &Call) {
        let draw = Draw::of(gpu.sync(), call, &mut self.shaders);
        self.before.add(gpu, &draw, Keep::First);
        self.written.before(gpu, &draw);
        if self.state.is_some() {
            return;
        }
        for stage in &draw.shaders {
            self.texts.extend(stage.shader.as_ref().map(|shader| (stage.name(), shader.text())));
            for texture in &stage.textures {
                for level in 0..texture.levels {
                    let texels = (0..texture.layers(level)).map(|layer| texture.texels(level, layer, gpu));
                    // A texture that cannot be sampled has no levels; `state` says why.
                    let layers =
                        texels.take(MOST_LAYERS).map_while(Result::ok).map(|texels| texels.image()).collect();
                    self.textures.push(Level { name: format!("{}{}", stage.name(), texture.slot), layers });
                    if self.textures.len() >= MOST_LAYERS {
                        break;
                    }
                }
            }
        }
        self.state = Some(draw);
    }

    fn after(&mut self, gpu: &mut Gpu, call: &Call) {
        let draw = Draw::of(gpu.sync(), call, &mut self.shaders);
        self.written.after(gpu, &draw);
        self.after.add(gpu, &draw, Keep::Last);
        if let (None, Call::Draw(call)) = (&self.mesh, call) {
            self.mesh = Mesh::of(gpu, call).ok();
        }
    }

    fn sees_packets(&self) -> bool {
        true
    }
}

/// Looks at the draw `name` of `source`.
pub fn show(py: Python<'_>, source: &Source, name: Draws) -> PyResult<Shown> {
    let seen = source.ask(py, move |capture, limits| {
        let runs = find(capture, name, &limits, &shared())?;
        let mut playback = limits.playback_of_many(capture.name(), RUNS);
        let mut looking = Looking::new(&runs, Seen::default());
        let sections = capture.sections(&playback.gpu.budget, &shared())?;
        let mut packets = PacketStores::new(Some(&runs));
        playback.run(sections, &mut looking, &mut packets);
        let Seen { state, texts, textures, before, after, mesh, mut written, .. } = looking.look;
        written.append(packets.take(runs.frame_draws.iter().copied()));
        let state = state.ok_or_else(|| anyhow::anyhow!("draw {name} did not run"))?;
        let names: Vec<Which> = state.attachments().into_iter().map(|attachment| attachment.which).collect();
        Ok((
            state,
            texts,
            textures,
            [before, after].map(|moment| pictures(&moment, &names)),
            mesh,
            written.all,
        ))
    })?;
    let (state, texts, textures, [before, after], mesh, written) = seen;
    let state = json::object(py, &Answer { draw: &state, written: &written })?;
    let shaders = PyDict::new(py);
    texts.into_iter().try_for_each(|(stage, text)| shaders.set_item(stage, text))?;
    let stages = PyDict::new(py);
    let (inputs, outputs) = match mesh {
        Some(mesh) => {
            for stage in &mesh.stages.all {
                stages.set_item(stage.part.name(), columns(py, &stage.table)?)?;
            }
            (Some(columns(py, &mesh.inputs)?), Some(columns(py, &mesh.outputs)?))
        }
        None => (None, None),
    };
    Ok(Shown {
        written: state.bind(py).get_item("written")?.unbind(),
        state,
        before: arrays(py, before)?,
        after: arrays(py, after)?,
        textures: levels(py, textures)?,
        inputs,
        outputs,
        stages: stages.unbind(),
        shaders: shaders.unbind(),
    })
}

/// The pictures of the attachments `names`.
fn pictures(moment: &Snapshot, names: &[Which]) -> Vec<(String, Image)> {
    let image = |which: &Which| moment.get(Some(*which)).map(|canvas: &Canvas| canvas.image(Alpha::Kept));
    names.iter().filter_map(|which| Some((which.to_string(), image(which)?))).collect()
}

fn arrays(py: Python<'_>, pictures: Vec<(String, Image)>) -> PyResult<Py<PyDict>> {
    let all = PyDict::new(py);
    for (name, image) in pictures {
        all.set_item(name, Pixels::of_image(image).into_array(py)?)?;
    }
    Ok(all.unbind())
}

/// The levels of each texture, in order.
fn levels(py: Python<'_>, levels: Vec<Level>) -> PyResult<Py<PyDict>> {
    let all = PyDict::new(py);
    for Level { name, layers } in levels {
        let Some(first) = layers.first() else { continue };
        let count = layers.len();
        let [width, height] = first.size.map(|side| side as usize);
        let bytes: Vec<u8> = layers.iter().flat_map(|layer| layer.pixels.iter().copied()).collect();
        let channels = bytes.len() / (count * width * height).max(1);
        let shape = [count, height, width, channels];
        let level = array(py, &bytes, "u1", &shape[usize::from(count == 1)..])?;
        match all.get_item(&name)? {
            Some(list) => list.cast_into::<PyList>()?.append(level)?,
            None => all.set_item(name, PyList::new(py, [level])?)?,
        }
    }
    Ok(all.unbind())
}

/// The columns of a table of vertices.
fn columns(py: Python<'_>, table: &Table) -> PyResult<Py<PyDict>> {
    let all = PyDict::new(py);
    let width = table.columns.len().max(1);
    for (index, column) in table.columns.iter().enumerate() {
        let rows = table.values.chunks_exact(width);
        let bytes: Vec<u8> = rows.flat_map(|row| row[index].to_le_bytes()).collect();
        let dtype = if column.number == Number::Float { "<f4" } else { "<u4" };
        all.set_item(&column.name, array(py, &bytes, dtype, &[bytes.len() / 4])?)?;
    }
    Ok(all.unbind())
}
