//! Draws and dispatches: runs the state groups, reads parameters, and calls the engine.

use a4emu_decoder::a4xx::enums::SrcSel;
use a4emu_decoder::a4xx::pm4::{
    DrawAuto, DrawIndirect, DrawIndx, DrawIndx2, DrawIndxIndirect, DrawIndxOffset, ExecCs, ExecCsIndirect,
    VGT_DRAW_INITIATOR, VGT_DRAW_INITIATOR_A4XX,
};
use a4emu_decoder::a4xx::regs::hlsq::{
    HLSQ_CL_KERNEL_GROUP_X, HLSQ_CL_KERNEL_GROUP_Y, HLSQ_CL_KERNEL_GROUP_Z,
};
use a4emu_decoder::adreno::address::Address;
use a4emu_decoder::bits::Register;
use a4emu_decoder::guesses::Guess;

use super::engine::Surfaces;
use super::observer::BlitCall;
use super::stream::Step;
use super::{Call, Cp, Flow, Group};
use crate::a4xx;
use crate::draw::{DispatchCall, DrawCall, IndexSource, UncountedDraw};
use crate::fault::Client;
use crate::pass::Pass;
use crate::settled::Running;
use a4emu_shader::Reach;

/// The numbers of a draw, dispatch or blit.
pub(super) struct Identity {
    number: u32,
    frame_draw: u32,
    submit: u32,
}

impl Identity {
    /// The blit with these numbers.
    pub(super) fn blit(self, pass: Option<Pass>, between: Surfaces) -> Call {
        let Self { number, frame_draw, submit } = self;
        Call::Blit(BlitCall { number, frame_draw, submit, pass, between })
    }
}

/// The contents of a draw packet, before the draw gets its numbers.
pub(super) struct Draw {
    initiator: VGT_DRAW_INITIATOR_A4XX,
    count: u32,
    instances: u32,
    indices: IndexSource,
    base_vertex: Option<u32>,
    first_instance: Option<u32>,
}

impl Draw {
    /// A draw whose parameters are in the packet.
    pub(super) fn direct(
        initiator: VGT_DRAW_INITIATOR_A4XX,
        count: u32,
        instances: u32,
        indices: IndexSource,
    ) -> Self {
        Self { initiator, count, instances, indices, base_vertex: None, first_instance: None }
    }

    /// The draw with the base vertex and the first instance that memory names.
    pub(super) fn based(self, base_vertex: u32, first_instance: u32) -> Self {
        Self { base_vertex: Some(base_vertex), first_instance: Some(first_instance), ..self }
    }
}

/// Unpacks indices of `bytes` bytes each from dwords, low first.
fn unpack_indices(bytes: u32, dwords: &[u32]) -> Vec<u32> {
    let packed: Vec<u8> = dwords.iter().flat_map(|word| word.to_le_bytes()).collect();
    let index = |chunk: &[u8]| {
        let mut word = [0; 4];
        word[..chunk.len()].copy_from_slice(chunk);
        u32::from_le_bytes(word)
    };
    packed.chunks(bytes as usize).map(index).collect()
}

/// The index source of a draw: a buffer `(base, bytes)`, from index `first` on.
fn index_source(
    initiator: VGT_DRAW_INITIATOR_A4XX,
    buffer: Option<(impl Into<Address>, u32)>,
    first: u32,
) -> IndexSource {
    match (initiator.SOURCE_SELECT(), buffer) {
        (SrcSel::DI_SRC_SEL_DMA, Some((base, size))) => {
            IndexSource::Memory { base: base.into(), size, width: initiator.index_bytes(), first }
        }
        _ => IndexSource::Auto,
    }
}

/// As [`index_source`], of a buffer whose length is a number of indices.
pub(super) fn counted_indices(
    initiator: VGT_DRAW_INITIATOR_A4XX,
    buffer: Option<(Address, u32)>,
    first: u32,
) -> IndexSource {
    let bytes = |most: u32| most.saturating_mul(initiator.index_bytes());
    index_source(initiator, buffer.map(|(base, most)| (base, bytes(most))), first)
}

impl Cp<'_> {
    /// CP_DRAW_INDX_OFFSET, the draw of A4xx.
    pub(super) fn draw_indx_offset(&mut self, packet: &DrawIndxOffset<'_>) -> Step {
        let buffer = packet.INDX_BASE.zip(packet.INDX_SIZE);
        let indices = index_source(packet.initiator, buffer, packet.FIRST_INDX.unwrap_or(0));
        self.draw(Draw::direct(packet.initiator, packet.NUM_INDICES, packet.NUM_INSTANCES, indices))
    }

    /// CP_DRAW_INDIRECT: reads {vertices, instances, first vertex, first instance} from memory.
    pub(super) fn draw_indirect(&mut self, packet: &DrawIndirect<'_>) -> Step {
        let [count, instances, first, instance] = self.fetch_parameters(packet.INDIRECT);
        self.draw(Draw {
            initiator: packet.initiator,
            count,
            instances,
            indices: IndexSource::Auto,
            base_vertex: Some(first),
            first_instance: Some(instance),
        })
    }

    /// CP_DRAW_INDX_INDIRECT: reads {indices, instances, first index, base vertex, first instance} from
    /// memory.
    pub(super) fn draw_indx_indirect(&mut self, packet: &DrawIndxIndirect<'_>) -> Step {
        let [count, instances, first, base, instance] = self.fetch_parameters(packet.INDIRECT);
        let buffer = Some((packet.INDX_BASE, packet.INDX_SIZE));
        self.draw(Draw {
            initiator: packet.initiator,
            count,
            instances,
            indices: index_source(packet.initiator, buffer, first),
            base_vertex: Some(base),
            first_instance: Some(instance),
        })
    }

    /// CP_DRAW_INDX, the draw of A3xx and before.
    pub(super) fn draw_indx(&mut self, packet: &DrawIndx<'_>) -> Step {
        let buffer = packet.INDX_BASE.zip(packet.INDX_SIZE);
        let initiator = packet.initiator.to_a4xx();
        self.draw_old(packet.initiator, packet.NUM_INDICES, index_source(initiator, buffer, 0))
    }

    /// CP_DRAW_INDX_2: the packet contains the indices.
    pub(super) fn draw_indx_2(&mut self, packet: &DrawIndx2<'_>) -> Step {
        let indices = unpack_indices(packet.initiator.to_a4xx().index_bytes(), packet.rest);
        self.draw_old(packet.initiator, packet.NUM_INDICES, IndexSource::Immediate(indices))
    }

    /// Runs a draw with the initiator of A3xx and before. An instance count of 0 means one instance (guess
    /// `old-instances`).
    fn draw_old(&mut self, old: VGT_DRAW_INITIATOR, count: u32, indices: IndexSource) -> Step {
        if old.NUM_INSTANCES() == 0 {
            self.gpu.note_guess(Guess::OldInstances, Reach::OUTPUT);
        }
        self.draw(Draw::direct(old.to_a4xx(), count, old.NUM_INSTANCES().max(1), indices))
    }

    /// CP_EXEC_CS.
    pub(super) fn exec_cs(&mut self, packet: &ExecCs<'_>) -> Step {
        self.dispatch([packet.NGROUPS_X, packet.NGROUPS_Y, packet.NGROUPS_Z], None)
    }

    /// CP_EXEC_CS_INDIRECT: reads {x, y, z} from memory.
    pub(super) fn exec_cs_indirect(&mut self, packet: &ExecCsIndirect<'_>) -> Step {
        let groups = self.fetch_parameters(packet.ADDR);
        self.dispatch(groups, Some(packet.local_size.local_size()))
    }

    /// CP_RUN_OPENCL: registers hold the group counts.
    pub(super) fn run_opencl(&mut self) -> Step {
        let regs = &self.gpu.regs;
        let groups = [
            HLSQ_CL_KERNEL_GROUP_X::ROW.offset,
            HLSQ_CL_KERNEL_GROUP_Y::ROW.offset,
            HLSQ_CL_KERNEL_GROUP_Z::ROW.offset,
        ];
        let groups = groups.map(|offset| regs.read(offset));
        self.dispatch(groups, None)
    }

    /// CP_DRAW_AUTO: a stream-out counter holds the vertex count. Which counter and in which unit is not
    /// known (docs/hardware/command-processor.md, open questions). The draw gets a number but is not drawn.
    pub(super) fn draw_auto(&mut self, packet: &DrawAuto<'_>) -> Step {
        self.gpu.note_guess(Guess::DrawAuto, Reach::CONTROL);
        let initiator = self.flagged(packet.initiator);
        self.draw_uncounted("CP_DRAW_AUTO", Some(initiator), Some(packet.NUM_INSTANCES))
    }

    /// Launches a draw whose number of vertices is not known.
    pub(super) fn draw_uncounted(
        &mut self,
        packet: &'static str,
        initiator: Option<VGT_DRAW_INITIATOR_A4XX>,
        instances: Option<u32>,
    ) -> Step {
        self.predicated(|at, pass| {
            let Identity { number, frame_draw, submit } = at;
            let initiator = initiator.map(|initiator| initiator.0);
            Call::Uncounted(UncountedDraw { number, frame_draw, submit, pass, packet, initiator, instances })
        })
    }

    /// `initiator` with the flags of CP_SET_DRAW_INIT_FLAGS.
    fn flagged(&self, initiator: VGT_DRAW_INITIATOR_A4XX) -> VGT_DRAW_INITIATOR_A4XX {
        VGT_DRAW_INITIATOR_A4XX(initiator.0 | self.gpu.cp.init_flags)
    }

    /// Reads the parameters of an indirect packet.
    pub(super) fn fetch_parameters<const N: usize>(&mut self, address: impl Into<Address>) -> [u32; N] {
        let address = address.into();
        self.depends_on_draws("the parameters of an indirect draw or dispatch", address);
        std::array::from_fn(|i| self.gpu.fetch_u32(Client::Indirect, self.behind(address, i as u32)))
    }

    /// Runs the state groups, and launches a draw.
    pub(super) fn draw(&mut self, draw: Draw) -> Step {
        match self.run_groups() {
            Step::Stop => Step::Stop,
            _ => self.launch_draw(draw),
        }
    }

    /// Launches a draw whose state groups have run, unless the draw predicate forbids it.
    pub(super) fn launch_draw(&mut self, draw: Draw) -> Step {
        let initiator = self.flagged(draw.initiator);
        self.launch_predicated(|at, pass| {
            Call::Draw(DrawCall {
                number: at.number,
                frame_draw: at.frame_draw,
                submit: at.submit,
                pass,
                topology: a4xx::enums::topology(initiator.PRIM_TYPE()),
                initiator: initiator.0,
                count: draw.count,
                instances: draw.instances,
                indices: draw.indices,
                base_vertex: draw.base_vertex,
                first_instance: draw.first_instance,
            })
        })
    }

    /// Runs the state groups, and launches a dispatch.
    pub(super) fn dispatch(&mut self, groups: [u32; 3], local_size: Option<[u32; 3]>) -> Step {
        match self.run_groups() {
            Step::Stop => Step::Stop,
            _ => self.launch(|at, _| {
                let Identity { number, frame_draw, submit } = at;
                Call::Dispatch(DispatchCall { number, frame_draw, submit, groups, local_size })
            }),
        }
    }

    /// Runs the state groups, then launches a draw unless the draw predicate forbids it.
    fn predicated(&mut self, call: impl FnOnce(Identity, Pass) -> Call) -> Step {
        match self.run_groups() {
            Step::Stop => Step::Stop,
            _ => self.launch_predicated(call),
        }
    }

    fn launch_predicated(&mut self, call: impl FnOnce(Identity, Pass) -> Call) -> Step {
        if self.gpu.cp.draw_predicate.draws() { self.launch(call) } else { Step::Next }
    }

    /// Launches a draw, dispatch or blit: gives it its numbers and its pass, shows it to the observer, and runs it
    /// in the engine.
    pub(super) fn launch(&mut self, call: impl FnOnce(Identity, Pass) -> Call) -> Step {
        let at = &mut self.gpu.machine.at;
        at.frame_draw = self.gpu.cp.frame_draws.number(at.address);
        let identity = Identity { number: at.draws, frame_draw: at.frame_draw, submit: at.submit };
        let call = call(identity, (self.commands.pass)(self.gpu));
        if self.observer.call(&mut Running::of(self.gpu), &call) == Flow::Stop {
            return self.stop();
        }
        let flow = self.engine.run(self.gpu, &call);
        for (offset, value) in std::mem::take(&mut self.gpu.written_back) {
            self.write_reg(offset, value);
        }
        self.gpu.at.draws += 1;
        self.gpu.at.frame_draw = self.gpu.cp.frame_draws.count();
        if flow == Flow::Stop { self.stop() } else { Step::Next }
    }

    /// Runs the pending state groups in ascending order.
    ///
    /// Each runs once; they do not stay armed (guess `groups-once`).
    pub(super) fn run_groups(&mut self) -> Step {
        for index in 0..super::GROUPS {
            let Some(group) = self.gpu.cp.groups[index].take() else { continue };
            if let Step::Stop = self.run_group(group) {
                return Step::Stop;
            }
        }
        Step::Next
    }

    /// Runs a state group, unless it is for other passes.
    pub(super) fn run_group(&mut self, Group { address, dwords, passes }: Group) -> Step {
        if !passes.meet(self.gpu.cp.passes) {
            return Step::Next;
        }
        self.gpu.note_guess(Guess::GroupsOnce, Reach::CONTROL);
        self.call_buffer(address, dwords, Client::DrawState)
    }
}
