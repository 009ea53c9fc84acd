//! The state of draws and dispatches of an A6xx, as far as it is described.

use std::sync::LazyLock;

use a4emu_decoder::a6xx::regs::REGISTERS;
use a4emu_decoder::a6xx::regs::compute::HLSQ_CS_NDRANGE_0;
use a4emu_decoder::adreno::address::Address as GpuAddress;
use a4emu_gpu::cp::Call;
use a4emu_gpu::gpu::{Gpu, STAGES, Stage};
use a4emu_gpu::pass::Pass;
use a4emu_gpu::regfile::RegFile;
use a4emu_gpu::settled::Synced;
use a4emu_rules::shader::Shaders;

use super::draw::Draw;
use super::name::Address;
use super::stage::ShaderStage;

/// Instructions in a unit of a program's length.
const GROUP: usize = 16;

/// Where a stage's program is: offsets of the low half of its address, and of its length.
struct Program {
    start: u32,
    length: u32,
}

static PROGRAMS: LazyLock<[Program; 6]> = LazyLock::new(|| {
    let offset = |name: String| REGISTERS.by_name(&name).expect("a register of the A6xx");
    STAGES.map(|stage| Program {
        start: offset(format!("SP_{}_OBJ_START_LO", stage.name())),
        length: offset(format!("SP_{}_INSTRLEN", stage.name())),
    })
});

/// Work items in a group of a dispatch, in x, y and z.
pub(super) fn local_size(regs: &RegFile) -> [u32; 3] {
    let range = regs.get::<HLSQ_CS_NDRANGE_0>();
    [range.LOCALSIZEX() + 1, range.LOCALSIZEY() + 1, range.LOCALSIZEZ() + 1]
}

/// `bare` with the programs of `call`.
pub(super) fn describe(bare: Draw, gpu: Synced<'_>, call: &Call, shaders: &mut Shaders) -> Draw {
    let stages = STAGES.into_iter().filter(|stage| runs(&gpu, call, *stage));
    Draw { shaders: stages.map(|stage| program(gpu, stage, shaders)).collect(), ..bare }
}

/// Whether a stage runs: it has a program, and the pass is none that only finds the bins.
fn runs(gpu: &Gpu, call: &Call, stage: Stage) -> bool {
    let has_program = gpu.regs.read(PROGRAMS[stage as usize].length) != 0;
    match call.pass() {
        None => stage == Stage::CS,
        Some(Pass::Binning) => has_program && !matches!(stage, Stage::FS | Stage::CS),
        Some(_) => has_program && stage != Stage::CS,
    }
}

fn program(gpu: Synced<'_>, stage: Stage, shaders: &mut Shaders) -> ShaderStage {
    let Program { start, length } = PROGRAMS[stage as usize];
    let [low, high] = [start, start + 1].map(|offset| gpu.regs.read(offset));
    let address = GpuAddress::wide(low, high);
    let room = gpu.memory().room(address) as usize / 8;
    let instructions = (gpu.regs.read(length) as usize).saturating_mul(GROUP).min(room);
    let dwords = gpu.memory().known_dwords(address, 2 * instructions);
    let words: Vec<u64> =
        dwords.as_chunks().0.iter().map(|[low, high]| u64::from(*high) << 32 | u64::from(*low)).collect();
    let shader = (!words.is_empty()).then(|| shaders.get(&words, &gpu.budget));
    ShaderStage::with_constants(gpu, stage, Address::of(address), shader)
}
