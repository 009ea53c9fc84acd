//! Primitive assembly and set-up: clip, cull, viewport, and the planes of depth and barycentrics.

mod alone;

use crate::draw::stage_words::PrimitiveWord;
use crate::draw::topology::Topology;

use crate::draw::gras::affine::{Affine, Planes, along, barycentrics, depth_slope};
use crate::draw::gras::clip::{DepthClip, Sides, Viewport};
use crate::draw::gras::lines;
use crate::draw::gras::polygon_offset::PolygonOffset;
use crate::draw::gras::raster::{Rect, Shape, Snapped, signed_area, snap};
use crate::draw::gras::samples::Samples;
use crate::draw::gras::viewport::{Projection, ViewportVertices};
use crate::draw::pc::assembler::Provoking;
use crate::draw::pc::topology::{Primitive, primitives};
use crate::draw::stop::MAX_HELD;
use crate::draw::vertices::{HEADER, ScreenVertex, Vertices};
use crate::limits::SETUP_CHUNK;

/// Visible side of a triangle. All other primitives show their front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Face {
    /// Front.
    Front,
    /// Back.
    Back,
}

/// How triangles are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolygonMode {
    /// Draw the corners.
    Points,
    /// Draw the edges.
    Lines,
    /// Fill the triangle.
    Fill,
}

/// Marker: the fragment shader uses weights that are linear on the screen. They must be those of the whole
/// primitive. Weights between corners that clipping added would bend such values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinearWeights;

/// Origin of the planes of weights, where they are most precise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeightBase {
    /// The screen's first pixel. The last bits of weights depend on the primitive's position.
    Screen,
    /// The primitive's first pixel.
    Primitive,
}

/// Set-up state from registers.
#[derive(Clone, Debug, PartialEq)]
pub struct PrimitiveState {
    /// Type of the vertex list.
    pub topology: Topology,
    /// Provoking vertex.
    pub provoking: Provoking,
    /// Viewport transform.
    pub viewport: Viewport,
    /// Depth clipping; `None` when all clipping is disabled.
    pub depth_clip: Option<DepthClip>,
    /// Culled faces.
    pub cull: [Option<Face>; 2],
    /// Winding of front faces on the screen.
    pub front_winding: Winding,
    /// Polygon modes of front and back faces.
    pub polygon_mode: [PolygonMode; 2],
    /// Polygon offset of triangles, and of the lines and points that their polygon mode makes.
    pub offset: Option<PolygonOffset>,
    /// Whether weights belong to the primitive before clipping.
    pub linear: Option<LinearWeights>,
    /// Origin of weights.
    pub weight_base: WeightBase,
    /// Sample places.
    pub samples: Samples,
    /// Width of lines in pixels.
    pub line_width: f32,
    /// Size of points in pixels when the vertices do not have a size.
    pub point_size: f32,
    /// Minimum and maximum of the vertices' point size.
    pub point_range: [f32; 2],
    /// The area inside the view volume's sides, for clipping by scissor.
    pub sides: Rect,
    /// Selects how the sides cut points and lines.
    pub cut: Sides,
    /// Viewports 1 and on with the area inside their sides, if a geometry shader selects a viewport.
    pub others: Vec<(Viewport, Rect)>,
}

impl PrimitiveState {
    /// Returns the projection, if it is the same for all vertices.
    pub fn projection(&self) -> Option<Projection> {
        self.others.is_empty().then(|| Projection::new(self.depth_clip, self.viewport))
    }
}

/// The winding on the screen (y down) of front faces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Winding {
    /// Clockwise.
    Clockwise,
    /// Counter-clockwise.
    CounterClockwise,
}

/// A primitive after set-up.
#[derive(Clone, Debug, PartialEq)]
pub struct ScreenPrimitive {
    /// Covered area.
    pub shape: Shape,
    /// Visible side.
    pub face: Face,
    /// Sprite, if sprite coordinates replace varyings.
    pub sprite: Option<Sprite>,
    /// Rows of the vertices for interpolation.
    pub vertices: [u32; 3],
    /// Row of the provoking vertex.
    pub provoking: u32,
    /// Planes of depth and weights.
    pub planes: Planes,
    /// Polygon offset, added to the depth of each pixel. As part of a steep plane, it would be lost by
    /// rounding (docs/hardware/board-a420.md, D5).
    pub bias: f32,
}

impl ScreenPrimitive {
    /// Returns the window depth at the centre of the pixel at offset `step` from `first`.
    #[inline(always)]
    pub fn depth_at(&self, first: [i32; 2], step: [i32; 2]) -> f32 {
        let Planes { origin, z, .. } = &self.planes;
        let from = |axis: usize| first[axis] as f32 + 0.5 + step[axis] as f32 - origin[axis];
        z.at + z.dx * from(0) + z.dy * from(1) + self.bias
    }

    /// Returns the window depth at a point `beside` pixels from that pixel's centre.
    pub fn depth_beside(&self, first: [i32; 2], step: [i32; 2], beside: [f32; 2]) -> f32 {
        let origin = [0, 1].map(|axis| self.planes.origin[axis] - beside[axis]);
        Self { planes: Planes { origin, ..self.planes }, ..self.clone() }.depth_at(first, step)
    }
}

/// The square of a point sprite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sprite {
    /// Upper left corner.
    pub corner: [f32; 2],
    /// 1 / side.
    pub inv_size: f32,
}

/// Results of set-up for a draw.
#[derive(Debug, Default)]
pub struct Assembled {
    /// The primitives, in order.
    pub primitives: Vec<ScreenPrimitive>,
    /// Number of primitives at the end of the list that did not fit into memory.
    pub left_out: usize,
}

/// Bytes held per primitive of the list, and per primitive after set-up.
const LISTED: u64 = size_of::<Primitive>() as u64;
const MADE: u64 = (size_of::<ScreenPrimitive>() + size_of::<Rect>()) as u64;

/// Returns the bytes held before set-up of `list` and `vertices`: lists, vertices, and screen vertices.
pub fn held(vertices: &Vertices, list: &[u32]) -> u64 {
    let screen = (size_of::<ScreenVertex>() * vertices.len()) as u64;
    vertices.bytes() + screen + (4 + LISTED) * list.len() as u64
}

/// Returns the bytes that a draw of `entries` vertices and as many primitives holds from set-up on, with
/// `components` varying components. Clipping can add to that.
pub fn held_of(entries: u64, components: usize) -> u64 {
    let vertex = Vertices::bytes_of(components, 1) + size_of::<ScreenVertex>() as u64;
    entries.saturating_mul(vertex + 4 + LISTED + MADE)
}

/// Sets up the primitives of `list` (vertex numbers with restarts). Clipping adds to `vertices`. Stops when
/// more than [`MAX_HELD`] bytes would be held. Returns `None` for a primitive type that set-up does not
/// support.
pub fn assemble(state: &PrimitiveState, vertices: &mut Vertices, list: &[u32]) -> Option<Assembled> {
    assemble_in(state, vertices, list, &[], MAX_HELD)
}

/// Sets up primitives as [`assemble`] does, with a `limit` in bytes. `words` are a geometry shader's
/// primitive words, which select viewports. The provoking vertex decides for the primitive (guess
/// `layer-vertex`).
pub fn assemble_in(
    state: &PrimitiveState,
    vertices: &mut Vertices,
    list: &[u32],
    words: &[PrimitiveWord],
    limit: u64,
) -> Option<Assembled> {
    assemble_with(state, vertices, list, words, limit, None)
}

/// Sets up primitives as [`assemble_in`] does. Also returns the list number of each resulting primitive or
/// piece.
pub fn assemble_numbered(
    state: &PrimitiveState,
    vertices: &mut Vertices,
    list: &[u32],
    words: &[PrimitiveWord],
    limit: u64,
) -> Option<(Assembled, Vec<u32>)> {
    let mut numbers = Vec::new();
    let mut number = |made: usize, index: usize| numbers.resize(made, index as u32);
    let assembled = assemble_with(state, vertices, list, words, limit, Some(&mut number))?;
    Some((assembled, numbers))
}

/// Calls `each` after each primitive of the list with the count of results so far, and its number. Without
/// `each`, chunks of the list may be set up in parallel, with the same results.
fn assemble_with(
    state: &PrimitiveState,
    vertices: &mut Vertices,
    list: &[u32],
    words: &[PrimitiveWord],
    limit: u64,
    mut each: Option<&mut dyn FnMut(usize, usize)>,
) -> Option<Assembled> {
    let held = held(vertices, list);
    if held > limit {
        return Some(Assembled { primitives: Vec::new(), left_out: list.len() });
    }
    let mut setup = Setup::new(state, vertices, words, limit - 4 * list.len() as u64);
    let in_chunks = |setup: &Setup<'_>, count: usize| {
        each.is_none() && setup.can_be_alone(count) && setup.fits(count, 2 * MADE * count as u64)
    };
    let done = |setup: Setup<'_>| Some(Assembled { primitives: setup.out, left_out: 0 });
    let mut seen = Vec::new();
    let triangles = alone::listed(state.topology, state.provoking, list);
    if let Some(triangles) = triangles.filter(|_| in_chunks(&setup, list.len() / 3)) {
        match setup.add_all(list.len() / 3, triangles) {
            Ok(()) => return done(setup),
            // The list has no restarts, so the chunks cover its primitives.
            Err(chunks) if chunks.iter().all(Option::is_some) => seen = chunks,
            Err(_) => {}
        }
    }
    let primitives = primitives(state.topology, state.provoking, list)?;
    let count = primitives.len();
    if seen.is_empty() && in_chunks(&setup, count) {
        match setup.add_all(count, alone::of_primitives(&primitives)) {
            Ok(()) => return done(setup),
            Err(chunks) => seen = chunks,
        }
    }
    setup.out.reserve(count);
    let mut seen = seen.into_iter();
    let mut index = 0;
    for chunk in primitives.chunks(SETUP_CHUNK) {
        if let Some(seen) = seen.next().flatten().filter(|it| setup.fits(count, it.bytes(setup.vertices))) {
            setup.add_seen(vec![seen]);
            index += chunk.len();
            continue;
        }
        for primitive in chunk {
            setup.add(*primitive);
            if let Some(each) = &mut each {
                each(setup.out.len(), index);
            }
            index += 1;
            if !setup.fits(count, 0) {
                return Some(Assembled { primitives: setup.out, left_out: count - index });
            }
        }
    }
    done(setup)
}

struct Setup<'a> {
    state: &'a PrimitiveState,
    vertices: &'a mut Vertices,
    words: &'a [PrimitiveWord],
    /// Bytes that may be held apart from the vertex list.
    room: u64,
    /// All viewports. `at` is the current one.
    viewports: Vec<ViewportVertices>,
    at: usize,
    out: Vec<ScreenPrimitive>,
}

impl<'a> Setup<'a> {
    fn new(
        state: &'a PrimitiveState,
        vertices: &'a mut Vertices,
        words: &'a [PrimitiveWord],
        room: u64,
    ) -> Self {
        let first = (state.viewport, state.sides);
        let viewports = [first].into_iter().chain(state.others.iter().copied());
        let viewports = viewports
            .map(|(viewport, sides)| {
                ViewportVertices::new(Projection::new(state.depth_clip, viewport), sides)
            })
            .collect();
        let mut setup = Self { state, vertices, words, room, viewports, at: 0, out: Vec::new() };
        setup.viewports[0].take_places(setup.vertices);
        setup.transform_new();
        setup
    }

    /// Returns the bytes of vertices and primitives.
    fn held(&self) -> u64 {
        let screen: usize = self.viewports.iter().map(|viewport| viewport.screen.len()).sum();
        let screen = (size_of::<ScreenVertex>() * screen) as u64;
        self.vertices.bytes() + screen + MADE * self.out.len() as u64
    }

    /// Returns whether `more` bytes fit, in addition to held bytes and a list of `count` primitives.
    fn fits(&self, count: usize, more: u64) -> bool {
        LISTED * count as u64 + self.held() + more <= self.room
    }

    /// Transforms the vertices that have no screen position yet.
    fn transform_new(&mut self) {
        self.viewports[self.at].transform(self.vertices);
    }

    /// Returns the current viewport.
    fn viewport(&self) -> &ViewportVertices {
        &self.viewports[self.at]
    }

    /// Selects the viewport of vertex `v`. An invalid number selects the first.
    fn choose_viewport(&mut self, v: u32) {
        let named = self.words.get(v as usize).map_or(0, |word| word.viewport.into());
        let named = if named < self.viewports.len() { named } else { 0 };
        if named != self.at {
            self.at = named;
            self.transform_new();
        }
    }

    fn add(&mut self, primitive: Primitive) {
        match primitive {
            Primitive::Point(v) | Primitive::Line(_, v) | Primitive::Triangle(_, v) => {
                self.choose_viewport(v)
            }
            Primitive::Corners(_) | Primitive::Rectangle(_) => {}
        }
        match primitive {
            Primitive::Point(v) => self.point(v, v, Face::Front),
            Primitive::Line(v, provoking) => self.line(v, provoking, Face::Front),
            Primitive::Triangle(v, provoking) => self.triangle(v, provoking),
            Primitive::Corners(v) => self.corners(v),
            Primitive::Rectangle(v) => self.rectangle(v),
        }
    }

    /// Returns the screen vertices of a triangle.
    #[inline(always)]
    fn on_screen(&self, [a, b, c]: [u32; 3]) -> [&ScreenVertex; 3] {
        let screen = &self.viewport().screen;
        [&screen[a as usize], &screen[b as usize], &screen[c as usize]]
    }

    /// Returns the positions of a triangle in sub-pixels.
    #[inline(always)]
    fn snapped(&self, v: [u32; 3]) -> [Snapped; 3] {
        self.on_screen(v).map(|v| v.snapped)
    }

    /// Returns whether the triangle is partly outside the view volume; `None` if one plane excludes all of
    /// it.
    fn is_clipped(&self, v: [u32; 3]) -> Option<bool> {
        let [a, b, c] = self.on_screen(v);
        let [a, b, c] = [a.outcode, b.outcode, c.outcode];
        (a & b & c == 0).then_some(a | b | c != 0)
    }

    fn triangle(&mut self, v: [u32; 3], provoking: u32) {
        match self.is_clipped(v) {
            None => return,
            Some(false) => return self.polygon(&v, v, provoking),
            Some(true) => {}
        }
        let polygon = self.viewports[self.at].projection.volume.polygon(self.vertices, &v);
        self.transform_new();
        self.polygon(&polygon, v, provoking);
    }

    /// Culls triangle `v`, fills the convex polygon `corners` that clipping made of it, or draws the edges or
    /// corners of the triangle itself.
    fn polygon(&mut self, corners: &[u32], v: [u32; 3], provoking: u32) {
        let pairs = corners.get(1..).unwrap_or_default().windows(2);
        let pieces = pairs.map(|pair| [corners[0], pair[0], pair[1]]);
        let area: i64 = pieces.clone().map(|piece| self.area(piece)).sum();
        let Some(face) = self.face(area) else { return };
        let first = self.out.len();
        match self.state.polygon_mode[face as usize] {
            PolygonMode::Fill => {
                for piece in pieces.clone() {
                    let filled = self.filled(piece, v, provoking, face);
                    self.out.extend(filled);
                }
            }
            PolygonMode::Lines => {
                for edge in [[v[0], v[1]], [v[1], v[2]], [v[2], v[0]]] {
                    self.line(edge, provoking, face);
                }
            }
            PolygonMode::Points => v.iter().for_each(|v| self.point(*v, provoking, face)),
        }
        if self.state.offset.is_some()
            && let Some(largest) = pieces.max_by_key(|piece| self.area(*piece).abs())
        {
            self.offset(first, largest);
        }
    }

    /// Applies the polygon offset to the primitives of a triangle, from index `first` on.
    fn offset(&mut self, first: usize, v: [u32; 3]) {
        let Some(offset) = self.state.offset.filter(|_| first < self.out.len()) else { return };
        let w = v.map(|v| self.viewport().screen[v as usize]);
        let slopes = barycentrics(w.map(|w| w.xy)).unwrap_or_default();
        let top = w.iter().map(|w| w.z.abs()).fold(0.0, f32::max);
        let bias = offset.bias(depth_slope(w.map(|w| w.z), slopes), top);
        self.out[first..].iter_mut().for_each(|primitive| primitive.bias = bias);
    }

    /// Returns twice the area of a triangle. Positive means clockwise on the screen.
    fn area(&self, v: [u32; 3]) -> i64 {
        signed_area(self.snapped(v))
    }

    /// Returns the vertices for interpolation of `piece`, a part of `whole`.
    fn basis<const N: usize>(&self, piece: [u32; N], whole: [u32; N]) -> [u32; N] {
        let on_screen = |v: &u32| self.viewport().screen[*v as usize].is_on_screen();
        match self.state.linear {
            Some(LinearWeights) if piece != whole && whole.iter().all(on_screen) => whole,
            _ => piece,
        }
    }

    /// Returns the visible face of a polygon with this area; `None` if it is culled or empty.
    fn face(&self, area: i64) -> Option<Face> {
        let clockwise = self.state.front_winding == Winding::Clockwise;
        let face = if (area > 0) == clockwise { Face::Front } else { Face::Back };
        (area != 0 && !self.state.cull.contains(&Some(face))).then_some(face)
    }

    /// Sets up `piece`, a part of triangle `whole`, if it can have pixels.
    fn filled(
        &self,
        piece: [u32; 3],
        whole: [u32; 3],
        provoking: u32,
        face: Face,
    ) -> Option<ScreenPrimitive> {
        let area = self.area(piece);
        let is_seen = area != 0 && self.has_pixels(piece);
        is_seen.then(|| self.triangle_between(piece, area, whole, provoking, face))
    }

    /// Returns whether a triangle can have pixels.
    #[inline(always)]
    fn has_pixels(&self, v: [u32; 3]) -> bool {
        let bounds = Shape::between(&self.snapped(v));
        !self.state.samples.polygon(bounds).cut(self.viewport().sides).bounds.is_empty()
    }

    /// Sets up `piece` with twice this area, a part of triangle `whole`.
    #[inline(always)]
    fn triangle_between(
        &self,
        piece: [u32; 3],
        area: i64,
        whole: [u32; 3],
        provoking: u32,
        face: Face,
    ) -> ScreenPrimitive {
        let [a, b, c] = self.snapped(piece);
        let shape = Shape::polygon(if area > 0 { [a, b, c] } else { [a, c, b] });
        let shape = self.state.samples.polygon(shape);
        self.planar(shape, self.basis(piece, whole), provoking, face)
    }

    /// Creates a primitive with values from the plane through three vertices. The last one is the base (guess
    /// `plane-precision`).
    fn planar(&self, shape: Shape, v: [u32; 3], provoking: u32, face: Face) -> ScreenPrimitive {
        let v = [v[2], v[0], v[1]];
        let w = self.on_screen(v);
        let shape = shape.cut(self.viewport().sides);
        let origin = first_centre(&shape);
        let base = self.base(origin);
        let from = |v: usize, point: [f32; 2]| [w[v].xy[0] - point[0], w[v].xy[1] - point[1]];
        let slopes = barycentrics([w[0].xy, w[1].xy, w[2].xy]);
        let [i, j] = slopes.map_or([Affine::default(); 2], |[i, j]| {
            [Affine::through(1.0, from(1, base), i), Affine::through(1.0, from(2, base), j)]
        });
        let z_slope = depth_slope([w[0].z, w[1].z, w[2].z], slopes.unwrap_or_default());
        ScreenPrimitive {
            shape,
            face,
            sprite: None,
            vertices: v,
            provoking,
            planes: Planes {
                base,
                i,
                j,
                inv_w: [w[0].inv_w, w[1].inv_w, w[2].inv_w],
                origin,
                z: Affine::through(w[0].z, from(0, origin), z_slope),
            },
            bias: 0.0,
        }
    }

    /// Returns the origin of the weights of a primitive at `origin`.
    fn base(&self, origin: [f32; 2]) -> [f32; 2] {
        match self.state.weight_base {
            WeightBase::Screen => [0.5; 2],
            WeightBase::Primitive => origin,
        }
    }

    fn push(&mut self, primitive: ScreenPrimitive) {
        if !primitive.shape.bounds.is_empty() {
            self.out.push(primitive);
        }
    }

    fn line(&mut self, whole: [u32; 2], provoking: u32, face: Face) {
        let sides = self.cut_sides();
        let Some(piece) = self.viewports[self.at].projection.volume.line(self.vertices, whole, sides) else {
            return;
        };
        self.transform_new();
        let [a, b] = piece.map(|v| self.viewport().screen[v as usize].xy);
        let Some(shape) = lines::line(a, b, self.state.line_width) else { return };
        let shape = self.state.samples.polygon(shape);
        self.push(self.linear(shape, self.basis(piece, whole), provoking, face));
    }

    /// Creates a primitive with values that are linear between two vertices.
    fn linear(&self, shape: Shape, v: [u32; 2], provoking: u32, face: Face) -> ScreenPrimitive {
        let [a, b] = v.map(|v| self.viewport().screen[v as usize]);
        let shape = shape.cut(self.beyond_sides());
        let origin = first_centre(&shape);
        let base = self.base(origin);
        let from = |point: [f32; 2]| [a.xy[0] - point[0], a.xy[1] - point[1]];
        let along = along(a.xy, b.xy);
        let dz = f64::from(b.z - a.z);
        ScreenPrimitive {
            shape,
            face,
            sprite: None,
            vertices: [v[0], v[1], v[0]],
            provoking,
            planes: Planes {
                base,
                i: Affine::through(0.0, from(base), along),
                j: Affine::default(),
                inv_w: [a.inv_w, b.inv_w, a.inv_w],
                origin,
                z: Affine::through(a.z, from(origin), along.map(|d| d * dz)),
            },
            bias: 0.0,
        }
    }

    /// Returns how the sides cut points and lines, if clipping is on.
    fn cut_sides(&self) -> Sides {
        if self.state.depth_clip.is_some() { self.state.cut } else { Sides::Pixels }
    }

    /// Returns the area where points and lines can be drawn.
    fn beyond_sides(&self) -> Rect {
        match self.cut_sides() {
            Sides::Pixels => self.viewport().sides,
            Sides::Axes => Rect::ALL,
        }
    }

    /// Sets up a point. Drops it if its centre is outside near, far or the guard band, or outside the sides
    /// if they cut axes.
    fn point(&mut self, v: u32, provoking: u32, face: Face) {
        let w = self.viewport().screen[v as usize];
        let beyond = || !self.viewport().projection.volume.is_between_sides(self.vertices.position(v));
        if w.outcode != 0 || (self.cut_sides() == Sides::Axes && beyond()) {
            return;
        }
        let size = self.point_size(v);
        let corner = w.xy.map(|c| c - size / 2.0);
        let shape = self.state.samples.rectangle(&[corner.map(snap), corner.map(|c| snap(c + size))]);
        self.push(ScreenPrimitive {
            shape: shape.cut(self.beyond_sides()),
            face,
            sprite: Some(Sprite { corner, inv_size: 1.0 / size }),
            vertices: [v; 3],
            provoking,
            planes: Planes {
                base: w.xy,
                inv_w: [w.inv_w; 3],
                origin: w.xy,
                z: Affine { at: w.z, ..Affine::default() },
                ..Planes::default()
            },
            bias: 0.0,
        });
    }

    fn point_size(&self, v: u32) -> f32 {
        let [min, max] = self.state.point_range;
        let size = match self.state.topology {
            Topology::SizedPoints => self.vertices.point_size(v).clamp(min, max.max(min)),
            _ => self.state.point_size,
        };
        if size.is_nan() { 1.0 } else { size }
    }

    /// Sets up a rectangle from two opposite corners. The other two corners mix their values: x and even
    /// components from one corner, y and odd components from the other. Restores send (s, t) pairs and expect
    /// s to follow x. The rest is guess `rectangle-varyings`.
    fn corners(&mut self, v: [u32; 2]) {
        let across = self.mixed(v[1], v[0]);
        let down = self.mixed(v[0], v[1]);
        self.transform_new();
        self.rectangle([v[0], across, down]);
    }

    /// Adds a vertex with x and even varyings of `even`, and y and odd varyings of `odd`.
    fn mixed(&mut self, even: u32, odd: u32) -> u32 {
        let mut row = self.vertices.row(even).to_vec();
        let other = self.vertices.row(odd);
        row[1] = other[1];
        for component in (1..row.len() - HEADER).step_by(2) {
            row[HEADER + component] = other[HEADER + component];
        }
        self.vertices.push(&row)
    }

    /// Sets up a rectangle from three of its corners. The plane through them extends over the rectangle.
    fn rectangle(&mut self, v: [u32; 3]) {
        let shape = self.state.samples.rectangle(&self.snapped(v));
        self.push(self.planar(shape, v, v[2], Face::Front));
    }
}

/// Returns the centre of the first pixel of a shape.
fn first_centre(shape: &Shape) -> [f32; 2] {
    [shape.bounds.x0 as f32 + 0.5, shape.bounds.y0 as f32 + 0.5]
}

#[cfg(test)]
mod tests;
