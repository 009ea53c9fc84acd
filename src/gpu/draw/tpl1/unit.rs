//! Runs one request on one texture with one sampler.
use crate::draw::compare::Compare;

use super::cube;
use super::descriptor::{Swizzle, Texels, Texture, TextureKind, source};
use super::fetch::{Fetcher, Images, Texel, replace};
use super::filter::{Footprint, blend};
use super::lod::{self, Gradients, Levels};
use super::planar::Planar;
use super::sampler::{Filter, Sampler, Wrap};
use super::{Color, Floats, Ints};
use a4emu_shader::format::Type;
use a4emu_shader::{ALL, LANES, Lanes, Lod, Number, Sample, SampleKind};

/// Operands of a texture instruction: a texture, a sampler, and the bytes.
pub(super) struct Unit<'a> {
    pub texture: &'a Texture,
    pub sampler: &'a Sampler,
    pub bytes: &'a [u8],
}

/// Computed coordinates, if those of the request cannot be used directly.
struct Projected {
    /// Coordinates after division by the projector; for cubes, the position on the face.
    coords: [Floats; 3],
    reference: Option<Floats>,
    /// For cubes: the faces, and the original directions.
    cube: Option<(Ints, [Floats; 3])>,
}

/// Coordinates of a request after projection, with related values.
struct RequestCoordinates<'a> {
    coords: [&'a Floats; 3],
    /// Slice of the texture: layer, face, or both.
    layer: Ints,
    reference: Option<Floats>,
    offsets: [Option<&'a Ints>; 3],
    cube: Option<&'a (Ints, [Floats; 3])>,
}

impl Unit<'_> {
    /// Runs `request` for all lanes. Components that are not requested keep their value. Returns the number
    /// of texels decoded from compressed blocks.
    pub fn sample(&self, request: &Sample<&Lanes>, out: &mut [Lanes; 4]) -> u64 {
        match request.kind {
            SampleKind::Filter => self.filtered(request, out),
            SampleKind::Gather(component) => self.gather(component & 3, request, out),
            SampleKind::Fetch => self.fetch(request, out),
            SampleKind::QueryLod => {
                self.query_lod(request, out);
                0
            }
        }
    }

    fn filtered(&self, request: &Sample<&Lanes>, out: &mut [Lanes; 4]) -> u64 {
        if let Some(plain) = request.plain()
            && let Some(planar) = Planar::new(self.texture, self.sampler, self.bytes)
        {
            planar.answer(&plain, out);
            return 0;
        }
        let projected = self.project(request);
        let place = self.place(request, projected.as_deref());
        let need = self.need(request);
        let footprint = self.footprint(&place, need);
        let mut fetcher = Fetcher::new(self.texture, self.bytes, need);
        let mut color = [[0; LANES]; 4];
        match self.levels(request, &place) {
            Some(levels) => self.levels_filtered(&footprint, &mut fetcher, &levels, &mut color),
            None => {
                let images = Images::uniform(&self.texture.levels[0]);
                footprint.filtered(self.filter(self.sampler.min), &mut fetcher, &images, &mut color);
            }
        }
        self.finish(&color, request, out);
        fetcher.decoded()
    }

    fn levels_filtered(
        &self,
        footprint: &Footprint<'_>,
        fetcher: &mut Fetcher<'_>,
        levels: &Levels,
        out: &mut Color,
    ) {
        self.chosen_filter(footprint, fetcher, &self.images(&levels.near), &levels.magnified, out);
        if levels.weight == [0.0; LANES] {
            return;
        }
        let mut far = [[0; LANES]; 4];
        footprint.filtered(self.filter(self.sampler.min), fetcher, &self.images(&levels.far), &mut far);
        blend(out, &far, &levels.weight, footprint.need);
    }

    /// Applies the minification or magnification filter of each lane.
    fn chosen_filter(
        &self,
        footprint: &Footprint<'_>,
        fetcher: &mut Fetcher<'_>,
        images: &Images,
        magnified: &Lanes,
        out: &mut Color,
    ) {
        let (min, mag) = (self.filter(self.sampler.min), self.filter(self.sampler.mag));
        match magnified.nonzero() {
            ALL => footprint.filtered(mag, fetcher, images, out),
            some if min == mag || some == 0 => footprint.filtered(min, fetcher, images, out),
            _ => {
                let mut large = [[0; LANES]; 4];
                footprint.filtered(mag, fetcher, images, &mut large);
                footprint.filtered(min, fetcher, images, out);
                for (out, large) in out.iter_mut().zip(&large) {
                    (0..LANES).for_each(|i| out[i] = if magnified[i] != 0 { large[i] } else { out[i] });
                }
            }
        }
    }

    /// Returns the filter. Integers cannot be blended.
    fn filter(&self, filter: Filter) -> Filter {
        if self.texture.texels.is_integer() { Filter::Nearest } else { filter }
    }

    fn images(&self, index: &Ints) -> Images {
        Images::of(&self.texture.levels, index)
    }

    fn gather(&self, component: u8, request: &Sample<&Lanes>, out: &mut [Lanes; 4]) -> u64 {
        let projected = self.project(request);
        let place = self.place(request, projected.as_deref());
        let need = 1 << component;
        let footprint = self.footprint(&place, need);
        let mut fetcher = Fetcher::new(self.texture, self.bytes, need);
        let corners = footprint.corners(&mut fetcher, &self.images(&[0; LANES]));
        for (c, (out, corner)) in out.iter_mut().zip(corners).enumerate() {
            if request.components >> c & 1 != 0 {
                *out = Lanes(corner[usize::from(component)]);
                self.convert(out, request.number);
            }
        }
        fetcher.decoded()
    }

    fn fetch(&self, request: &Sample<&Lanes>, out: &mut [Lanes; 4]) -> u64 {
        const ORIGIN: Ints = [0; LANES];
        let at = |axis: usize| {
            let coord = request.coords.get(axis).map_or(&ORIGIN, |lanes| integers(lanes));
            let offset = request
                .offsets
                .and_then(|offsets| offsets.get(axis).copied())
                .map_or(&ORIGIN, |lanes| integers(lanes));
            std::array::from_fn(|i| coord[i].wrapping_add(offset[i]))
        };
        let level = match request.lod {
            Lod::Level(level) => *integers(level),
            Lod::Explicit(level) => level.floats().map(|v| v as i32),
            Lod::Implicit | Lod::Bias(_) | Lod::Gradients(..) | Lod::Zero => ORIGIN,
        };
        let (x, y) = (at(0), if self.texture.kind == TextureKind::Buffer { ORIGIN } else { at(1) });
        let z = request.layer.map_or_else(|| at(2), |layer| *integers(layer));
        let (images, texel) = (self.images(&level), Texel { x: &x, y: &y, z: &z });
        let mut outside = images.outside(&texel);
        for (outside, &level) in outside.iter_mut().zip(&level) {
            *outside |= u32::from(level < 0 || level as usize >= self.texture.levels.len());
        }
        let mut color = [[0; LANES]; 4];
        let mut fetcher = Fetcher::new(self.texture, self.bytes, self.need(request));
        match request.sample {
            Some(sample) => fetcher.samples(&images, &texel, integers(sample), &mut color),
            None => fetcher.texels(&images, &texel, &mut color),
        }
        replace(&mut color, &outside, &self.texture.texels.outside());
        self.finish(&color, request, out);
        fetcher.decoded()
    }

    /// Answers with the level that a lookup would read, which has a fraction only where two levels are blended
    /// (docs/hardware/ir3-isa.md, getlod), and with the level of detail before the limits.
    fn query_lod(&self, request: &Sample<&Lanes>, out: &mut [Lanes; 4]) {
        let lambda = self.lambda(request, &self.place(request, self.project(request).as_deref()));
        let limited = lod::clamp(&lambda, self.sampler, self.texture.precision);
        let levels = lod::select(&limited, self.sampler.mip, self.texture.levels.len());
        let read = std::array::from_fn(|i| levels.near[i] as f32 + levels.weight[i]);
        for (out, lod) in out.iter_mut().zip([read, lambda]) {
            *out = Lanes(lod.map(|lod| (lod * lod::STEPS).round_ties_even() as i32 as u32));
        }
    }

    /// Returns the levels to read, unless the level has no effect.
    fn levels(&self, request: &Sample<&Lanes>, place: &RequestCoordinates<'_>) -> Option<Levels> {
        let count = self.texture.levels.len();
        let indifferent = count == 1 && self.filter(self.sampler.min) == self.filter(self.sampler.mag);
        if indifferent {
            return None;
        }
        let lambda = lod::clamp(&self.lambda(request, place), self.sampler, self.texture.precision);
        Some(lod::select(&lambda, self.sampler.mip, count))
    }

    /// Returns the level of detail before the limits, with all biases.
    fn lambda(&self, request: &Sample<&Lanes>, place: &RequestCoordinates<'_>) -> Floats {
        let bias = self.sampler.bias;
        match request.lod {
            Lod::Zero => [0.0; LANES],
            Lod::Level(level) => level.0.map(|level| level as i32 as f32),
            Lod::Explicit(level) => level.floats().map(|level| level + bias),
            Lod::Implicit => self.implicit(place).map(|lod| lod + bias),
            Lod::Bias(extra) => {
                let (implicit, extra) = (self.implicit(place), extra.floats());
                std::array::from_fn(|i| implicit[i] + extra[i] + bias)
            }
            Lod::Gradients(ddx, ddy) => {
                self.lambda_of(place, ddx.map(floats), ddy.map(floats)).map(|lod| lod + bias)
            }
        }
    }

    fn implicit(&self, place: &RequestCoordinates<'_>) -> Floats {
        let coords = place.cube.map_or(place.coords, |(_, direction)| direction.each_ref());
        let axes = coords.map(lod::differences);
        self.lambda_of(place, axes.each_ref().map(|[x, _]| x), axes.each_ref().map(|[_, y]| y))
    }

    fn lambda_of(&self, place: &RequestCoordinates<'_>, ddx: [&Floats; 3], ddy: [&Floats; 3]) -> Floats {
        const NONE: Floats = [0.0; LANES];
        let Some((face, direction)) = place.cube else {
            return lod::lambda(&Gradients { ddx, ddy }, self.size());
        };
        let [dsdx, dtdx] = cube::project_gradient(direction.each_ref(), face, ddx);
        let [dsdy, dtdy] = cube::project_gradient(direction.each_ref(), face, ddy);
        let gradients = Gradients { ddx: [&dsdx, &dtdx, &NONE], ddy: [&dsdy, &dtdy, &NONE] };
        lod::lambda(&gradients, self.size())
    }

    /// Returns the texels per unit of each coordinate.
    fn size(&self) -> [f32; 3] {
        let level = &self.texture.levels[0];
        let depth = if self.texture.kind == TextureKind::Volume { level.depth as f32 } else { 0.0 };
        if self.sampler.unnormalized {
            return [1.0, 1.0, depth.min(1.0)];
        }
        [level.width as f32, level.height as f32, depth]
    }

    /// Divides by the projector and converts directions to faces, if necessary.
    fn project(&self, request: &Sample<&Lanes>) -> Option<Box<Projected>> {
        let cube = self.texture.kind == TextureKind::Cube;
        if !cube && request.projector.is_none() {
            return None;
        }
        let mut coords = own_coords(request).map(|coord| *coord);
        let mut reference = request.reference.map(|lanes| *floats(lanes));
        if let Some(projector) = request.projector.map(floats) {
            coords.iter_mut().chain(&mut reference).for_each(|coord| divide(coord, projector));
        }
        if !cube {
            return Some(Box::new(Projected { coords, reference, cube: None }));
        }
        let on_face = cube::project(coords.each_ref());
        let cube = Some((on_face.face, coords));
        Some(Box::new(Projected { coords: [on_face.s, on_face.t, [0.0; LANES]], reference, cube }))
    }

    fn place<'a>(
        &self,
        request: &Sample<&'a Lanes>,
        projected: Option<&'a Projected>,
    ) -> RequestCoordinates<'a> {
        let reference = match projected {
            Some(projected) => projected.reference.as_ref(),
            None => request.reference.map(floats),
        };
        let cube = projected.and_then(|projected| projected.cube.as_ref());
        let mut layer = self.layer(request);
        if let Some((face, _)) = cube {
            (0..LANES).for_each(|i| layer[i] = layer[i] * 6 + face[i]);
        }
        RequestCoordinates {
            coords: projected.map_or_else(|| own_coords(request), |projected| projected.coords.each_ref()),
            layer,
            reference: reference.map(|it| self.clamp_reference(it)),
            offsets: std::array::from_fn(|axis| Some(integers(request.offsets?.get(axis)?))),
            cube,
        }
    }

    /// Returns the layer, or the cube of a cube array: truncated (the shader added 0.5) and clamped.
    fn layer(&self, request: &Sample<&Lanes>) -> Ints {
        let Some(layer) = request.layer else { return [0; LANES] };
        let depth = self.texture.levels[0].depth as i32;
        let last = if self.texture.kind == TextureKind::Cube { depth / 6 } else { depth } - 1;
        floats(layer).map(|layer| (layer as i32).clamp(0, last))
    }

    /// Limits a reference to the range of fixed-point depth.
    fn clamp_reference(&self, reference: &Floats) -> Floats {
        match self.texture.texels {
            Texels::Plain(codec) if codec.ty() == Type::Unorm => reference.map(|v| v.clamp(0.0, 1.0)),
            Texels::Plain(_) | Texels::Block { .. } => *reference,
        }
    }

    fn footprint<'a>(&self, place: &'a RequestCoordinates<'_>, need: u32) -> Footprint<'a> {
        let cube = self.texture.kind == TextureKind::Cube;
        let compare: Option<(Compare, &Floats)> =
            place.reference.as_ref().map(|reference| (self.sampler.compare, reference));
        Footprint {
            coords: place.coords,
            layer: &place.layer,
            offsets: place.offsets,
            wrap: self.wrap(),
            unnormalized: self.sampler.unnormalized && !cube,
            precision: self.texture.precision,
            volume: self.texture.kind == TextureKind::Volume,
            seamless: cube && self.sampler.seamless,
            compare,
            border: (!cube && self.sampler.uses_border()).then(|| self.border()),
            need,
        }
    }

    /// Returns the wrap modes. Faces of a cube do not repeat: filters continue on the next face (one texel
    /// beyond the edge is enough) or stop at the edge.
    fn wrap(&self) -> [Wrap; 3] {
        match (self.texture.kind, self.sampler.seamless) {
            (TextureKind::Cube, true) => [Wrap::ClampToBorder; 3],
            (TextureKind::Cube, false) => [Wrap::ClampToEdge; 3],
            _ => self.sampler.wrap,
        }
    }

    /// Returns the border colour in the format of the texture's texels.
    fn border(&self) -> [u32; 4] {
        let border = &self.sampler.border;
        match &self.texture.texels {
            Texels::Block { format, .. } => limit(format.ty, border.floats).map(f32::to_bits),
            Texels::Plain(codec) if codec.is_integer() => codec.border_lanes(border.integers),
            Texels::Plain(codec) => codec.border_lanes(limit(codec.ty(), border.floats).map(f32::to_bits)),
        }
    }

    /// Returns the texel components that the requested result components need.
    fn need(&self, request: &Sample<&Lanes>) -> u32 {
        let compared = u32::from(request.reference.is_some());
        let wanted = (0..4).filter(|&c| request.components >> c & 1 != 0);
        wanted.fold(compared, |need, c| need | source(self.texture.swizzle[c]).map_or(0, |from| 1 << from))
    }

    /// Applies the swizzle and the conversion to the registers' type.
    fn finish(&self, color: &Color, request: &Sample<&Lanes>, out: &mut [Lanes; 4]) {
        let one = if self.texture.texels.is_integer() { 1 } else { 1f32.to_bits() };
        for (c, out) in out.iter_mut().enumerate() {
            if request.components >> c & 1 == 0 {
                continue;
            }
            *out = match (source(self.texture.swizzle[c]), self.texture.swizzle[c]) {
                (Some(from), _) => Lanes(color[from]),
                (None, Swizzle::One) => Lanes::splat(one),
                (None, _) => Lanes::ZERO,
            };
            self.convert(out, request.number);
        }
    }

    /// Converts integers of 8 and 16 bits if the instruction requests floats. Integers of 32 bits stay
    /// unchanged (docs/hardware/board-a420.md, B3: tiles restore them so). The chip's result for the others
    /// is not known, only that a restore spoils them.
    fn convert(&self, lanes: &mut Lanes, number: Number) {
        match (&self.texture.texels, number) {
            (Texels::Plain(codec), Number::Float) if codec.is_integer() && codec.plain_dwords().is_none() => {
                lanes.iter_mut().for_each(|lane| *lane = codec.lane_to_float(*lane).to_bits());
            }
            _ => {}
        }
    }
}

/// Returns the coordinates in the registers. Missing ones are 0.
fn own_coords<'a>(request: &Sample<&'a Lanes>) -> [&'a Floats; 3] {
    static ORIGIN: Floats = [0.0; LANES];
    std::array::from_fn(|axis| request.coords.get(axis).map_or(&ORIGIN, |lanes| floats(lanes)))
}

/// Lanes read as floats.
fn floats(lanes: &Lanes) -> &Floats {
    bytemuck::cast_ref(&lanes.0)
}

/// Lanes read as signed integers.
fn integers(lanes: &Lanes) -> &Ints {
    bytemuck::cast_ref(&lanes.0)
}

/// Limits a border colour to the range of the format.
fn limit(ty: Type, color: [f32; 4]) -> [f32; 4] {
    match ty {
        Type::Unorm => color.map(|v| v.clamp(0.0, 1.0)),
        Type::Snorm => color.map(|v| v.clamp(-1.0, 1.0)),
        Type::Uint | Type::Sint | Type::Float | Type::Fixed => color,
    }
}

fn divide(coord: &mut Floats, by: &Floats) {
    for i in 0..LANES {
        coord[i] /= by[i];
    }
}
