//! The environment of a running shader: its access to the rest of the machine.

use a4emu_decoder::adreno::address::Address;
use a4emu_decoder::adreno::ir3::access::FileReg;
use a4emu_decoder::guesses::Guess;

use crate::draw::vpc::interpolate::WarpQuads;
use a4emu_shader::jit::{Routine, Texels};
use a4emu_shader::{
    Chooser, Environment, Lanes, Lowered, Mask, Op, Plain, Reach, Refused, Sample, Varying, lanes_of,
};

use super::memory::ShaderMemory;

/// The environment of a shader of any stage.
pub struct StageEnvironment<'e, 'q, 'a> {
    /// Memory and textures.
    pub memory: &'e mut ShaderMemory<'a>,
    /// Source of the varyings of fragments.
    pub quads: Option<&'e WarpQuads<'q>>,
}

impl Environment for StageEnvironment<'_, '_, '_> {
    fn perform(&mut self, op: &Op<&Lanes>, mask: Mask, out: &mut [Lanes; 4]) -> Result<(), Refused> {
        let memory = &mut *self.memory;
        match op {
            Op::Load { from, components } => memory.load(from, mask, &mut out[..*components]),
            Op::Store { to, data } => memory.store(to, mask, data),
            Op::ImageLoad { from, components } => memory.image_load(from, mask, &mut out[..*components]),
            Op::ImageStore { to, data } => memory.image_store(to, mask, data),
            Op::ImageSize { base, slot, dimensions } => {
                memory.image_size((*base, slot), *dimensions, mask, out);
            }
            Op::UniformLoad(load) => memory.uniform_load(load, mask, &mut out[..load.components.into()]),
            Op::Atomic(atomic) => memory.atomic(atomic, mask, &mut out[0]),
            Op::Sample(sample) => memory.sample(sample, mask, out),
            Op::Query(query) => memory.query(query, mask, out),
            Op::Varying(varying) => interpolate(self.quads.ok_or(Refused)?, varying, mask, &mut out[0]),
            Op::FlatVarying { location, components } => {
                let quads = self.quads.ok_or(Refused)?;
                for (c, row) in out[..*components].iter_mut().enumerate() {
                    quads.provoking(*location as usize + c, row);
                    quads.replace(*location as usize + c, row);
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn filter(&mut self, request: &Plain<&Lanes>, mask: Mask, out: &mut [Lanes; 4]) -> bool {
        self.memory.filter(request, mask, out)
    }

    fn way(&mut self, routine: &Routine, program: &Lowered) -> Option<usize> {
        Some(self.memory.for_code(routine, program)?.way)
    }

    fn texels(&self) -> &[Texels<'_>] {
        self.memory.texels()
    }

    fn sampled(&mut self, lanes: u64) {
        self.memory.sampled(lanes);
    }

    fn planes(&mut self, locations: &[u16], frame: &mut [Lanes]) -> bool {
        self.quads.is_some_and(|quads| quads.planes(locations, frame))
    }

    fn has_planes(&mut self, locations: &[u16]) -> bool {
        self.quads.is_some_and(|quads| quads.has_planes(locations))
    }

    fn peek(&self, address: u64) -> Option<u8> {
        let mut byte = [0];
        self.memory.gpu.get().read(Address::new(address), &mut byte).then_some(byte[0])
    }

    fn note_guess(&mut self, guess: Guess, reach: Reach) {
        self.memory.log.rests.get_or_insert_default().add(guess, reach);
    }

    fn chooses(&mut self, chooser: Chooser, regs: &mut dyn Iterator<Item = FileReg>) {
        self.memory.log.chosen.get_or_insert_default().add(chooser, regs);
    }

    fn samples(&mut self, sample: &Sample<&Lanes>, mask: Mask, reach: Reach) {
        self.memory.note_guesses(sample, mask, reach);
    }
}

/// Runs bary.f.
fn interpolate(quads: &WarpQuads<'_>, varying: &Varying<&Lanes>, mask: Mask, out: &mut Lanes) {
    let location = varying.location[0];
    if varying.location.iter().all(|l| *l == location) {
        return quads.varying(location as usize, varying.i, varying.j, out);
    }
    for lane in lanes_of(mask) {
        let mut all = Lanes::ZERO;
        quads.varying(varying.location[lane] as usize, varying.i, varying.j, &mut all);
        out[lane] = all[lane];
    }
}
