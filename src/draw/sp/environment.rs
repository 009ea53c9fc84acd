//! What a running shader sees of the rest of the machine.

use crate::draw::vpc::interpolate::WarpQuads;
use crate::shader::{
    AtomicRequest, Environment, ImageRequest, Lanes, Mask, MemoryRequest, QueryRequest, TexRequest,
    VaryingRequest, lanes_of,
};

use super::memory::ShaderMemory;

/// What a shader of any stage sees.
pub struct StageEnvironment<'e, 'q, 'a> {
    /// Memory and textures.
    pub memory: &'e mut ShaderMemory<'a>,
    /// Where the varyings of fragments come from.
    pub quads: Option<&'e WarpQuads<'q>>,
}

impl Environment for StageEnvironment<'_, '_, '_> {
    fn load(&mut self, request: &MemoryRequest<'_>, out: &mut [Lanes]) {
        self.memory.load(request, out);
    }

    fn store(&mut self, request: &MemoryRequest<'_>, values: &[Lanes]) {
        self.memory.store(request, values);
    }

    fn image_load(&mut self, request: &ImageRequest<'_>, out: &mut [Lanes]) {
        self.memory.image_load(request, out);
    }

    fn image_store(&mut self, request: &ImageRequest<'_>, values: &[Lanes]) {
        self.memory.image_store(request, values);
    }

    fn image_size(&mut self, slot: &Lanes, mask: Mask) -> [Lanes; 3] {
        self.memory.image_size(slot, mask)
    }

    fn atomic(&mut self, request: &AtomicRequest<'_>, old: &mut Lanes) {
        self.memory.atomic(request, old);
    }

    fn sample(&mut self, request: &TexRequest<'_>, out: &mut [Lanes; 4]) {
        self.memory.sample(request, out);
    }

    fn query(&mut self, request: &QueryRequest<'_>, out: &mut [Lanes; 4]) {
        self.memory.query(request, out);
    }

    fn varying(&mut self, request: &VaryingRequest<'_>, out: &mut Lanes) {
        let Some(quads) = self.quads else {
            *out = Lanes::ZERO;
            return;
        };
        let location = request.location[0];
        if request.location.iter().all(|l| *l == location) {
            return quads.varying(location as usize, request.i, request.j, out);
        }
        for lane in lanes_of(request.mask) {
            let mut all = Lanes::ZERO;
            quads.varying(request.location[lane] as usize, request.i, request.j, &mut all);
            out[lane] = all[lane];
        }
    }

    fn flat_varying(&mut self, location: u32, _mask: Mask, out: &mut [Lanes]) {
        out.fill(Lanes::ZERO);
        let Some(quads) = self.quads else { return };
        for (c, row) in out.iter_mut().enumerate() {
            quads.provoking(location as usize + c, row);
            quads.replace(location as usize + c, row);
        }
    }
}
