//! Checks P7, P8, P15, P20 and P24: registers that say the same thing.
//!
//! Source: Mesa writes each pair from one value (fd6_program.cc, fd6_gmem.cc, tu_pipeline.cc, tu_cmd_buffer.cc).

use std::sync::LazyLock;

use a4emu_decoder::a6xx::regs::REGISTERS;
use a4emu_decoder::a6xx::regs::draw::{RB_FS_OUTPUT_CNTL1, RB_RENDER_COMPONENTS};
use a4emu_decoder::bits::Register;
use a4emu_decoder::bits::value::fields;
use a4emu_gpu::regfile::RegFile;

use crate::rules::Id;
use crate::state::Violations;

/// Fields that agree at each draw that runs a fragment shader: the rule, and register and field of each.
const FIELDS: [(Id, &[(&str, &str)]); 5] = [
    (Id::P7, &[("RB_FS_OUTPUT_CNTL1", "MRT"), ("SP_FS_OUTPUT_CNTL1", "MRT")]),
    (Id::P15, &[("HLSQ_FS_CNTL_0", "THREADSIZE"), ("SP_FS_CTRL_REG0", "THREADSIZE")]),
    (Id::P20, &[("GRAS_SU_DEPTH_BUFFER_INFO", "DEPTH_FORMAT"), ("RB_DEPTH_BUFFER_INFO", "DEPTH_FORMAT")]),
    (
        Id::P24,
        &[
            ("GRAS_RAS_MSAA_CNTL", "SAMPLES"),
            ("RB_RAS_MSAA_CNTL", "SAMPLES"),
            ("SP_TP_RAS_MSAA_CNTL", "SAMPLES"),
        ],
    ),
    (
        Id::P24,
        &[
            ("GRAS_DEST_MSAA_CNTL", "SAMPLES"),
            ("RB_DEST_MSAA_CNTL", "SAMPLES"),
            ("SP_TP_DEST_MSAA_CNTL", "SAMPLES"),
        ],
    ),
];

/// Fields of each target that agree.
const OF_TARGETS: (Id, [(&str, &str); 2]) =
    (Id::P8, [("RB_MRT[#].BUF_INFO", "COLOR_FORMAT"), ("SP_FS_MRT[#].REG", "COLOR_FORMAT")]);

/// A field by its place.
struct Field {
    register: u32,
    name: &'static str,
}

impl Field {
    fn new(register: &str, name: &'static str) -> Self {
        let register = REGISTERS.by_name(register).expect("a register of the A6xx");
        Self { register, name }
    }

    /// The bits of the field; none if nothing wrote the register.
    fn bits(&self, regs: &RegFile) -> Option<u32> {
        let word = regs.written(self.register)?;
        fields(REGISTERS.fields(self.register), word)
            .find(|field| field.row.name == self.name)
            .map(|it| it.raw)
    }
}

static AGREEING: LazyLock<Vec<(Id, Vec<Field>)>> = LazyLock::new(|| {
    let each = |(rule, fields): &(Id, &[(&str, &'static str)])| {
        (*rule, fields.iter().map(|(register, name)| Field::new(register, name)).collect())
    };
    FIELDS.iter().map(each).collect()
});

static TARGETS: LazyLock<Vec<[Field; 2]>> = LazyLock::new(|| {
    let of = |index: u32| {
        OF_TARGETS.1.map(|(register, name)| Field::new(&register.replace('#', &index.to_string()), name))
    };
    (0..8).map(of).collect()
});

/// Adds violations of a draw that runs a fragment shader.
pub fn check(regs: &RegFile, violations: &mut Violations) {
    AGREEING.iter().for_each(|(rule, fields)| same(regs, *rule, fields, violations));
    let components = regs.read(RB_RENDER_COMPONENTS::ROW.offset);
    let count = regs.get::<RB_FS_OUTPUT_CNTL1>().MRT() as usize;
    for (index, fields) in TARGETS.iter().enumerate().take(count) {
        if components >> (4 * index) & 0xf != 0 {
            same(regs, OF_TARGETS.0, fields, violations);
        }
    }
}

/// Checks that the fields whose registers were written have one value.
fn same(regs: &RegFile, rule: Id, fields: &[Field], violations: &mut Violations) {
    let mut known = fields.iter().filter_map(|field| Some((field, field.bits(regs)?)));
    let Some((first, bits)) = known.next() else { return };
    for (other, differing) in known.filter(|(_, other)| *other != bits) {
        let [one, two] =
            [first, other].map(|field| format!("{}.{}", REGISTERS.name(field.register), field.name));
        violations.report(rule, format!("{one} is {bits:#x}, {two} is {differing:#x}"));
    }
}
