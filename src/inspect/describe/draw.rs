//! A draw, dispatch or blit with its whole state.

use a4emu_decoder::a4xx::regs::hlsq::HLSQ_CL_NDRANGE_0;
use a4emu_decoder::a4xx::regs::rb::*;
use a4emu_decoder::adreno::address::Address as GpuAddress;
use a4emu_decoder::generation::DEFAULT;
use serde::{Serialize, Serializer};

use super::a6xx;
use super::blits::{Blit, does};
use super::fetch::{Indices, VertexInput};
use super::name::{Address, name};
use super::raster::{Raster, Scissors};
use super::stage::ShaderStage;
use super::target::{Depth, Resolve, Stencil, Target};
use super::tessellation::Tessellation;
use crate::decode::Primitive;
use a4emu_gpu::a4xx;
use a4emu_gpu::a4xx::gras::{sample_counts, viewport};
use a4emu_gpu::budget::Work;
use a4emu_gpu::cp::Call;
use a4emu_gpu::draw::DispatchCall;
use a4emu_gpu::draw::gras::clip::Viewport;
use a4emu_gpu::draw::gras::samples::Samples;
use a4emu_gpu::gpu::{Gpu, Stage};
use a4emu_gpu::pass::Pass;
use a4emu_gpu::regfile::RegFile;
use a4emu_gpu::settled::Synced;
use a4emu_rules::shader::Shaders;

/// Identifies a command: all runs of one packet between two snapshots of memory. It has several frame draws
/// if the kernel received the tiles of a pass in several submits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// Number of times that the capture had announced buffers by then.
    pub group: u32,
    /// Address of the packet.
    pub packet: GpuAddress,
}

impl Key {
    /// The key of the command that runs now.
    pub fn of(gpu: &Gpu) -> Self {
        Self { group: gpu.group(), packet: gpu.at.address }
    }
}

/// A draw, a dispatch, a draw whose count only the chip knows, or a blit. Keys are in the order of the pipeline.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Draw {
    /// Number of the run, from 0 over the capture. Dispatches count too.
    pub draw: u32,
    /// Number of the command, which its runs for all tiles share.
    pub frame_draw: u32,
    /// Number of the submit that holds it.
    pub submit: u32,
    /// Address of the packet.
    pub packet: Address,
    /// The pass of the draw; none for a dispatch, and for a blit between surfaces in memory.
    #[serde(serialize_with = "pass_name")]
    pub pass: Option<Pass>,
    /// The tile that is rendered.
    pub tile: Option<Tile>,
    /// The command that the packet holds.
    #[serde(flatten)]
    pub command: Command,
    /// The vertex inputs, in the order of the fetch entries.
    pub vertex_inputs: Vec<VertexInput>,
    /// The indices; none for dispatches.
    pub indices: Option<Indices>,
    /// The stages that run, in order.
    pub shaders: Vec<ShaderStage>,
    /// The first viewport. This field and all after it are empty for dispatches.
    pub viewport: Option<Viewport>,
    /// The scissors.
    pub scissors: Option<Scissors>,
    /// The tessellation, if the draw has patches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tessellation: Option<Tessellation>,
    /// The rasteriser state.
    pub raster: Option<Raster>,
    /// Width and height of the frame.
    pub frame: Option<[u32; 2]>,
    /// Samples per pixel of its targets; none if pictures of them are not made.
    #[serde(skip)]
    pub samples: Option<u32>,
    /// The alpha test, if it is on.
    pub alpha_test: Option<AlphaTest>,
    /// The depth buffer, if there is one.
    pub depth: Option<Depth>,
    /// The stencil test, if it is on.
    pub stencil: Option<Stencil>,
    /// Constant for blend factors, as the first target that blends takes it: red, green, blue and alpha.
    pub blend_constant: Option<[f32; 4]>,
    /// The colour targets.
    pub targets: Vec<Target>,
    /// The copy of a draw in the resolve pass.
    pub resolve: Option<Resolve>,
    /// The surfaces of a blit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blit: Option<Blit>,
    /// Whether it runs here. Draws and most blits of an A6xx do not.
    #[serde(skip)]
    pub runs: bool,
    /// The key of the command.
    #[serde(skip)]
    pub key: Key,
}

pub(super) fn pass_name<S: Serializer>(pass: &Option<Pass>, serializer: S) -> Result<S::Ok, S::Error> {
    pass.map(Pass::name).serialize(serializer)
}

/// A rectangle of the frame that is rendered in tile memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Tile {
    /// First column.
    pub x: u32,
    /// First row.
    pub y: u32,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

impl Tile {
    /// The tile that the registers are set up for, clipped to the frame.
    fn of(regs: &RegFile, pass: Pass) -> Option<Self> {
        let (mode, offset) = (regs.get::<RB_MODE_CONTROL>(), regs.get::<RB_BIN_OFFSET>());
        let frame = regs.get::<RB_FRAME_BUFFER_DIMENSION>();
        let (x, y) = match mode.ENABLE_GMEM() {
            true => (offset.X(), offset.Y()),
            false => (0, 0),
        };
        matches!(pass, Pass::Gmem | Pass::Restore | Pass::Resolve).then(|| Self {
            x,
            y,
            width: mode.WIDTH().min(frame.WIDTH().saturating_sub(x)),
            height: mode.HEIGHT().min(frame.HEIGHT().saturating_sub(y)),
        })
    }
}

/// The command that a packet holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Command {
    /// A draw.
    Draw {
        /// The primitive type.
        primitive: Primitive,
        /// Vertices or indices per instance.
        count: u32,
        /// Number of instances.
        instances: u32,
    },
    /// A dispatch.
    Dispatch {
        /// Number of work groups in x, y and z.
        groups: [u32; 3],
        /// Invocations per group in x, y and z.
        local_size: [u32; 3],
    },
    /// A draw whose count only the chip knows.
    Uncounted {
        /// Name of the packet.
        name: &'static str,
    },
    /// A blit of an A6xx.
    Blit {
        /// Name of the packet or event.
        name: &'static str,
        /// What it does: `copy` or `fill` of CP_BLIT; `store`, `store_and_clear`, `clear` or `load` of the event BLIT.
        does: String,
    },
}

/// The alpha test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AlphaTest {
    /// The comparison that passes a pixel.
    pub func: String,
    /// The reference value, from 0 to 1.
    pub reference: f32,
}

impl AlphaTest {
    fn of(regs: &RegFile) -> Option<Self> {
        let control = regs.get::<RB_ALPHA_CONTROL>();
        control.ALPHA_TEST().then(|| Self {
            func: name(control.ALPHA_TEST_FUNC()),
            reference: control.ALPHA_REF() as f32 / 255.0,
        })
    }
}

impl Draw {
    /// Describes `call`, which is about to run. `shaders` caches programs.
    pub fn of(gpu: Synced<'_>, call: &Call, shaders: &mut Shaders) -> Self {
        gpu.budget.observe(Work::Look, 1);
        let bare = Self::bare(&gpu, call);
        if gpu.chip.generation().number != DEFAULT.number {
            return a6xx::describe(bare, gpu, call, shaders);
        }
        match call {
            Call::Draw(call) => {
                let drawn = bare.drawn(gpu, call.pass, Some(call.initiator), shaders);
                let tessellation = Tessellation::of(&gpu.regs, call);
                Self { indices: Some(Indices::of(&gpu.regs, call)), tessellation, ..drawn }
            }
            Call::Uncounted(call) => bare.drawn(gpu, call.pass, call.initiator, shaders),
            Call::Dispatch(_) => Self { shaders: vec![ShaderStage::of(gpu, Stage::CS, shaders)], ..bare },
            Call::Blit(_) => bare,
        }
    }

    /// The place and command of the call, without its state.
    fn bare(gpu: &Gpu, call: &Call) -> Self {
        let key = Key::of(gpu);
        let is_a4xx = gpu.chip.generation().number == DEFAULT.number;
        Self {
            draw: call.number(),
            frame_draw: call.frame_draw(),
            submit: call.submit(),
            packet: Address::of(key.packet),
            pass: call.pass(),
            tile: call.pass().filter(|_| is_a4xx).and_then(|pass| Tile::of(&gpu.regs, pass)),
            command: Command::of(gpu, call),
            vertex_inputs: Vec::new(),
            indices: None,
            shaders: Vec::new(),
            viewport: None,
            scissors: None,
            tessellation: None,
            raster: None,
            frame: None,
            samples: None,
            alpha_test: None,
            depth: None,
            stencil: None,
            blend_constant: None,
            targets: Vec::new(),
            resolve: None,
            blit: None,
            runs: gpu.chip.renders() || matches!(call, Call::Dispatch(_)),
            key,
        }
    }

    /// Adds the state of a draw of `pass`.
    fn drawn(self, gpu: Synced<'_>, pass: Pass, initiator: Option<u32>, shaders: &mut Shaders) -> Self {
        let regs = &gpu.regs;
        let frame = regs.get::<RB_FRAME_BUFFER_DIMENSION>();
        let (submit, draw) = (self.submit, self.draw);
        let all = Self {
            vertex_inputs: VertexInput::all(regs),
            shaders: a4xx::pass::stages(pass, regs, initiator)
                .map(|stage| ShaderStage::of(gpu, stage, shaders))
                .collect(),
            viewport: Some(viewport(regs)),
            scissors: Some(Scissors::of(regs)),
            raster: Some(Raster::of(regs)),
            frame: Some([frame.WIDTH(), frame.HEIGHT()]),
            samples: Some(Samples::of(sample_counts(regs)).count() as u32),
            ..self
        };
        match pass {
            Pass::Binning => all,
            Pass::Resolve => Self { resolve: Resolve::of(regs, submit, draw), ..all },
            Pass::Gmem | Pass::Bypass | Pass::Restore => all.with_targets(regs),
        }
    }

    fn with_targets(self, regs: &RegFile) -> Self {
        Self {
            alpha_test: AlphaTest::of(regs),
            depth: Depth::of(regs),
            stencil: Stencil::of(regs),
            blend_constant: Some(Target::blend_constant(regs)),
            targets: Target::all(regs),
            ..self
        }
    }
}

impl Command {
    fn of(gpu: &Gpu, call: &Call) -> Self {
        match call {
            Call::Draw(call) => Self::Draw {
                primitive: Primitive::of(call.initiator),
                count: call.count,
                instances: call.instances,
            },
            Call::Dispatch(call) => Self::Dispatch { groups: call.groups, local_size: local_size(gpu, call) },
            Call::Uncounted(call) => Self::Uncounted { name: call.packet },
            Call::Blit(call) => Self::Blit { name: call.name(), does: does(&gpu.regs, call) },
        }
    }
}

fn local_size(gpu: &Gpu, call: &DispatchCall) -> [u32; 3] {
    let said = || match gpu.chip.generation().number {
        6 => a4emu_gpu::a6xx::cs::local_size(&gpu.regs),
        _ => {
            let range = gpu.regs.get::<HLSQ_CL_NDRANGE_0>();
            [range.LOCALSIZEX() + 1, range.LOCALSIZEY() + 1, range.LOCALSIZEZ() + 1]
        }
    };
    call.local_size.unwrap_or_else(said)
}
