//! The items of a capture: submits, draws, packets.

use a4emu_decoder::adreno::address::Address;
use a4emu_decoder::adreno::packet;
use a4emu_decoder::generation::Generation;
use a4emu_gpu::cp::Call;
use a4emu_gpu::gpu::Gpu;
use a4emu_inspect::decode::{PacketFields, Primitive};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;

use crate::json;
use crate::state::State;

/// What the kernel was given to run.
#[pyclass(frozen, get_all, module = "a4emu")]
pub struct Submit {
    /// Counted from 0 over the capture.
    number: u32,
    /// GPU address of its first command buffer.
    address: u64,
    /// Length of that, in dwords.
    dwords: u32,
    /// Who submitted it, as the capture says: 'glxgears/23375: fence=7'.
    process: String,
}

impl Submit {
    /// The submit that is about to start on `gpu`.
    pub fn new(gpu: &Gpu, address: Address, dwords: u32, process: &str) -> Self {
        Self { number: gpu.at.submit, address: address.get(), dwords, process: process.to_owned() }
    }
}

#[pymethods]
impl Submit {
    fn __repr__(&self) -> String {
        format!("<a4emu.Submit {} at {:#x}, {} dwords>", self.number, self.address, self.dwords)
    }
}

/// A draw or a dispatch that is about to run, with all its state.
#[pyclass(frozen, get_all, module = "a4emu")]
pub struct Draw {
    /// Counted from 0 over the capture; a dispatch counts too.
    number: u32,
    /// The number that it shares with the runs of the same packet for other tiles.
    frame_draw: u32,
    /// The submit that holds it.
    submit: u32,
    /// GPU address of its packet.
    address: u64,
    /// 'draw', 'dispatch', 'uncounted' where only the chip knows how much is drawn, or 'blit' of an A6xx.
    kind: &'static str,
    /// What it is for: 'binning', 'gmem', 'bypass', 'restore', 'resolve'; None for a dispatch.
    pass_: Option<&'static str>,
    /// Type of the primitives, such as 'TRILIST'; None for a dispatch.
    primitive: Option<String>,
    /// Vertices or indices of an instance.
    count: Option<u32>,
    /// Instances.
    instances: Option<u32>,
    /// Work groups in x, y and z of a dispatch.
    groups: Option<(u32, u32, u32)>,
    /// The registers.
    state: Py<State>,
}

/// A draw that is not yet a Python object.
pub struct Met {
    draw: Draw0,
    state: State,
}

struct Draw0 {
    number: u32,
    frame_draw: u32,
    submit: u32,
    address: u64,
    call: Call,
}

impl Met {
    /// The draw or dispatch `call`, which is about to run on `gpu`.
    pub fn new(gpu: &Gpu, call: &Call) -> Self {
        let draw = Draw0 {
            number: call.number(),
            frame_draw: call.frame_draw(),
            submit: call.submit(),
            address: gpu.at.address.get(),
            call: call.clone(),
        };
        Self { draw, state: State::of(gpu) }
    }

    /// Converts the draw to a Python object.
    pub fn into_draw(self, py: Python<'_>) -> PyResult<Draw> {
        let Draw0 { number, frame_draw, submit, address, call } = self.draw;
        let (kind, primitive, count, instances, groups) = match &call {
            Call::Draw(it) => ("draw", Some(it.initiator), Some(it.count), Some(it.instances), None),
            Call::Uncounted(it) => ("uncounted", it.initiator, None, it.instances, None),
            Call::Dispatch(it) => ("dispatch", None, None, None, Some(it.groups.into())),
            Call::Blit(_) => ("blit", None, None, None, None),
        };
        let primitive = primitive.map(|initiator| Primitive::of(initiator).to_string());
        let pass_ = call.pass().map(|pass| pass.name());
        let state = Py::new(py, self.state)?;
        Ok(Draw {
            number,
            frame_draw,
            submit,
            address,
            kind,
            pass_,
            primitive,
            count,
            instances,
            groups,
            state,
        })
    }
}

#[pymethods]
impl Draw {
    fn __repr__(&self) -> String {
        let Self { number, frame_draw, submit, kind, .. } = self;
        format!("<a4emu.Draw {number} (f{frame_draw}) of submit {submit}: {kind}>")
    }
}

/// A packet that is about to execute.
#[pyclass(frozen, module = "a4emu")]
pub struct Packet {
    /// The submit that holds it.
    #[pyo3(get)]
    submit: u32,
    /// Number of the next draw.
    #[pyo3(get)]
    draw: u32,
    /// GPU address of its header.
    #[pyo3(get)]
    address: u64,
    /// Calls around its buffer: 0 in the buffer that was submitted.
    #[pyo3(get)]
    depth: u32,
    /// 0: register writes, 2: filler, 3: a command.
    #[pyo3(get)]
    r#type: u8,
    /// Opcode of a command.
    #[pyo3(get)]
    opcode: Option<u8>,
    /// It executes only if the predicate is set.
    #[pyo3(get)]
    predicated: bool,
    /// The dwords behind the header.
    #[pyo3(get)]
    dwords: Vec<u32>,
    writes: Vec<(u32, u32)>,
    generation: &'static Generation,
}

impl Packet {
    /// The packet that is about to execute on `gpu`.
    pub fn new(gpu: &Gpu, packet: &packet::Packet<'_>) -> Self {
        let (r#type, opcode, predicated, dwords) = match *packet {
            packet::Packet::Registers { values, .. } => (0, None, false, values),
            packet::Packet::TwoRegisters { values, .. } => (1, None, false, values),
            packet::Packet::Filler => (2, None, false, &[][..]),
            packet::Packet::Command { opcode, predicated, payload } => (3, Some(opcode), predicated, payload),
        };
        Self {
            submit: gpu.at.submit,
            draw: gpu.at.draws,
            address: gpu.at.address.get(),
            depth: gpu.at.depth,
            r#type,
            opcode,
            predicated,
            dwords: dwords.to_vec(),
            writes: packet.writes().collect(),
            generation: gpu.chip.generation(),
        }
    }
}

#[pymethods]
impl Packet {
    /// Name of the command, such as 'CP_DRAW_INDX_OFFSET', or of the first register that is written; '' of a filler.
    #[getter]
    fn name(&self) -> String {
        match (self.opcode, self.writes.first()) {
            (Some(opcode), _) => self.generation.packets.name(opcode).to_string(),
            (None, Some((offset, _))) => self.generation.registers.name(*offset).to_string(),
            (None, None) => String::new(),
        }
    }

    /// The registers that its header writes, with the values, in order.
    #[getter]
    fn registers(&self) -> Vec<(String, u32)> {
        self.writes
            .iter()
            .map(|(offset, value)| (self.generation.registers.name(*offset).to_string(), *value))
            .collect()
    }

    /// The fields of a command's dwords, by name; those that are zero or false are left out.
    #[getter]
    fn fields(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let row = self.opcode.and_then(|opcode| self.generation.packets.row(opcode));
        json::object(py, &PacketFields { row, payload: if row.is_some() { &self.dwords } else { &[] } })
    }

    fn __repr__(&self) -> String {
        format!("<a4emu.Packet {} at {:#x}, {} dwords>", self.name(), self.address, self.dwords.len())
    }
}

/// An item on its way from the thread that plays the capture.
pub enum Item {
    Submit(Submit),
    Draw(Box<Met>),
    Packet(Packet),
}

impl Item {
    /// Converts the item to a Python object.
    pub fn into_py(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        match self {
            Self::Submit(submit) => submit.into_py_any(py),
            Self::Draw(met) => met.into_draw(py)?.into_py_any(py),
            Self::Packet(packet) => packet.into_py_any(py),
        }
    }
}
