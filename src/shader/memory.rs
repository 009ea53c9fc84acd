//! Loads, stores, atomics and varyings: from rows to requests and back.
use super::alu::Row;
use super::effect::{Access, Atomic, AtomicPlace, Image};
use super::environment::{
    AtomicRequest, AtomicTarget, Environment, ImageRequest, MemoryRequest, VaryingRequest,
};
use super::lanes::{Lanes, Mask};
use super::warp::Warp;

impl Warp {
    /// The lanes of `mask` whose stores reach memory: neither helpers nor killed.
    fn visible(&self, mask: Mask) -> Mask {
        mask & self.covered()
    }

    /// `components` rows from `first`, to be handed out.
    fn data(&self, first: Row, components: u8) -> &[Lanes] {
        &self.rows[first as usize..][..components as usize]
    }

    /// Writes rows from `first` on.
    fn write_all(&mut self, first: Row, values: &[Lanes], mask: Mask) {
        for (row, value) in (first..).zip(values) {
            self.write(row, value, mask);
        }
    }

    pub(super) fn load(&mut self, access: &Access, mask: Mask, environment: &mut impl Environment) {
        let mut out = [Lanes::ZERO; 4];
        let out = &mut out[..access.components as usize];
        let address = self.address(access);
        environment.load(&request(access, mask, &address), out);
        self.write_all(access.data, out, mask);
    }

    pub(super) fn store(&mut self, access: &Access, mask: Mask, environment: &mut impl Environment) {
        let mask = self.visible(mask);
        let address = self.address(access);
        environment.store(&request(access, mask, &address), self.data(access.data, access.components));
    }

    /// Byte address of component 0.
    fn address(&self, access: &Access) -> Lanes {
        Lanes(self.row(access.address).map(|address| address.wrapping_add_signed(access.offset)))
    }

    fn image_request(&self, image: &Image, mask: Mask) -> ImageRequest<'_> {
        ImageRequest {
            slot: self.row(image.slot),
            mask,
            layout: image.layout,
            number: image.number,
            address: self.row(image.address),
            position: std::array::from_fn(|axis| self.row(image.coordinate(axis as Row))),
            dimensions: u32::from(image.dimensions),
            components: image.components as usize,
        }
    }

    pub(super) fn image_load(&mut self, image: &Image, mask: Mask, environment: &mut impl Environment) {
        let mut out = [Lanes::ZERO; 4];
        let out = &mut out[..image.components as usize];
        environment.image_load(&self.image_request(image, mask), out);
        self.write_all(image.data, out, mask);
    }

    pub(super) fn image_store(&mut self, image: &Image, mask: Mask, environment: &mut impl Environment) {
        let request = self.image_request(image, self.visible(mask));
        environment.image_store(&request, self.data(image.data, image.components));
    }

    pub(super) fn image_size(&mut self, dst: Row, slot: Row, mask: Mask, environment: &mut impl Environment) {
        let size = environment.image_size(self.row(slot), mask);
        self.write_all(dst, &size, mask);
    }

    pub(super) fn atomic(&mut self, atomic: &Atomic, mask: Mask, environment: &mut impl Environment) {
        let visible = self.visible(mask);
        let image = &atomic.image;
        let target = match atomic.place {
            AtomicPlace::Local => AtomicTarget::Local { address: self.row(image.address), mask: visible },
            AtomicPlace::Image => AtomicTarget::Image(self.image_request(image, visible)),
        };
        let request = AtomicRequest {
            target,
            op: atomic.op,
            number: image.number,
            data: self.row(image.data),
            compare: self.row(image.data + 1),
        };
        let mut old = Lanes::ZERO;
        environment.atomic(&request, &mut old);
        self.write(atomic.dst, &old, mask);
    }

    pub(super) fn varying(
        &mut self,
        dst: Row,
        location: Row,
        ij: [Row; 2],
        mask: Mask,
        environment: &mut impl Environment,
    ) {
        let [i, j] = ij.map(|row| self.row(row));
        let mut out = Lanes::ZERO;
        environment.varying(&VaryingRequest { location: self.row(location), mask, i, j }, &mut out);
        self.write(dst, &out, mask);
    }

    pub(super) fn flat_varying(
        &mut self,
        dst: Row,
        location: u32,
        components: u8,
        mask: Mask,
        environment: &mut impl Environment,
    ) {
        let mut out = [Lanes::ZERO; 4];
        let out = &mut out[..components as usize];
        environment.flat_varying(location, mask, out);
        self.write_all(dst, out, mask);
    }
}

fn request<'a>(access: &Access, mask: Mask, address: &'a Lanes) -> MemoryRequest<'a> {
    let components = access.components as usize;
    MemoryRequest { space: access.space, mask, address, width: access.width, components }
}

impl Image {
    /// Row of coordinate `axis`; those that the access does not name repeat the last.
    fn coordinate(&self, axis: Row) -> Row {
        let named = match self.dimensions {
            4 => 1,
            dimensions => Row::from(dimensions),
        };
        self.position + axis.min(named - 1)
    }
}
