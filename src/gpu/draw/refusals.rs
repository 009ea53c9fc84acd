//! Tests of draw limits: each limit alone, and that the stages check them.

use crate::a4xx::stages::ENTRY;
use crate::budget::{Budget, Work};
use crate::draw::ds;
use crate::draw::gras::clip::{DepthClip, Viewport};
use crate::draw::gras::raster::Rect;
use crate::draw::gras::viewport::{Projection, ViewportVertices};
use crate::draw::pc::state::PatchState;
use crate::draw::pc::tessellator::{Connection, Domain, Factors, Spacing, Tessellation};
use crate::draw::sp::state::StageState;
use crate::draw::stop::{MAX_HELD, Stop, charge, must_fit};
use crate::draw::vertices::Vertices;
use crate::draw::vfd::state::FetchState;
use crate::draw::vpc::state::VertexOutputs;
use crate::draw::vs::VertexState;
use crate::memory::Memory;

fn is_too_large<T>(result: Result<T, Stop>) -> bool {
    matches!(result, Err(Stop::TooLarge(_)))
}

#[test]
fn charges_are_taken_and_refused() {
    let mut budget = Budget::new(2 * Work::Vertex.price());
    assert_eq!(charge(&mut budget, Work::Vertex, 2), Ok(()));
    assert_eq!(budget.spent(), 2 * Work::Vertex.price());
    assert_eq!(charge(&mut budget, Work::Vertex, 1), Err(Stop::NoBudget));
}

#[test]
fn held_memory_of_draws_has_a_limit() {
    assert_eq!(must_fit(MAX_HELD, "this"), Ok(()));
    assert!(is_too_large(must_fit(MAX_HELD + 1, "this")));
}

fn vertices(instances: u32, components: usize) -> VertexState {
    VertexState {
        fetch: FetchState { count: 1, instances, ..FetchState::default() },
        stage: StageState::of("end\n").into(),
        outputs: VertexOutputs { position: 0, point_size: None, varyings: Vec::new(), components }.into(),
    }
}

/// Tests the limit on the number of vertices, before any fetch or charge.
#[test]
fn no_draw_has_more_vertices_than_fit() {
    let mut budget = Budget::new(0);
    assert!(is_too_large(vertices(1 << 26, 0).shade(&mut Memory::new(), &mut budget)));
    assert!(is_too_large(vertices(u32::MAX, 0).shade(&mut Memory::new(), &mut budget)));
    assert_eq!(budget.cut(), None);
}

/// Tests the limit on the output size, before any shading.
#[test]
fn no_draw_makes_more_of_its_vertices_than_fits() {
    let mut budget = Budget::default();
    assert!(is_too_large(vertices(100, 1 << 22).shade(&mut Memory::new(), &mut budget)));
    assert_eq!(budget.spent(), 100 * Work::Vertex.price(), "they were looked up");
    assert!(vertices(100, 1).shade(&mut Memory::new(), &mut budget).is_ok());
}

/// Rows reuse memory of earlier vertices. Components that no shader writes must be zero, also after a cut.
#[test]
fn rows_of_vertices_hold_nothing_of_others() {
    const COUNT: u32 = 20_000;
    let with_gaps = vertices(COUNT, 3);
    let varyings = (0..3).map(|location| (0, location)).collect();
    let outputs = VertexOutputs { varyings, ..(*with_gaps.outputs).clone() };
    let whole = VertexState { outputs: outputs.into(), ..vertices(COUNT, 3) };
    assert!(whole.outputs.are_whole() && !with_gaps.outputs.are_whole());
    for state in [with_gaps, whole] {
        rows_hold_nothing_of_others(&state, COUNT);
    }
}

fn rows_hold_nothing_of_others(state: &VertexState, count: u32) {
    let leave = || {
        let mut others = Vertices::unwritten(3, count as usize, &state.stage.lists);
        others.rows_mut().fill(7);
    };
    for work in [u64::MAX, Work::Vertex.price() * u64::from(count) + Work::Warp.price() * 100] {
        leave();
        let mut budget = Budget::new(work);
        let mut shaded = state.shade(&mut Memory::new(), &mut budget).unwrap_or_else(|_| panic!("it fits"));
        assert_eq!(budget.cut().is_some(), work != u64::MAX);
        assert_eq!(shaded.vertices.len(), count as usize);
        assert!(shaded.vertices.rows_mut().iter().all(|word| *word == 0));
    }
}

/// Large draws compute screen positions during shading. The positions equal those of set-up, and are absent
/// after a cut.
#[test]
fn vertices_are_placed_where_set_up_places_them() {
    let viewport = Viewport { scale: [320.0, -240.0, 0.5], offset: [320.0, 240.0, 0.5] };
    let depth = Some(DepthClip { near: true, far: true, zero_to_one: false });
    let stage = "cov.u32f32 r1.x, r0.x\n(rpt5)nop\nmul.f r1.y, r1.x, r1.x\nadd.f r1.w, r1.x, r1.x\nend\n";
    let state = |count: u32| VertexState {
        fetch: FetchState { count, instances: 1, vertex_id: Some(0), ..FetchState::default() },
        stage: StageState::of(stage).into(),
        outputs: VertexOutputs { position: 4, point_size: None, varyings: Vec::new(), components: 2 }.into(),
    };
    let shaded = |count: u32, projection: Option<Projection>, work: u64| {
        let done = state(count).shade_for(|| projection, &mut Memory::new(), &mut Budget::new(work));
        done.unwrap_or_else(|_| panic!("it fits")).vertices
    };
    let projection = || Some(Projection::new(depth, viewport));
    const MANY: u32 = 20_000;
    let mut vertices = shaded(MANY, projection(), u64::MAX);
    let mut of_set_up = ViewportVertices::new(Projection::new(depth, viewport), Rect::ALL);
    let places = vertices.take_places();
    of_set_up.transform(&vertices);
    assert_eq!(format!("{places:?}"), format!("{:?}", of_set_up.screen));
    assert_eq!((places.len(), places[100].inv_w), (MANY as usize, 1.0 / 200.0));
    let cut = Work::Vertex.price() * u64::from(MANY) + Work::Warp.price() * 20;
    for (count, projection, work) in
        [(MANY, None, u64::MAX), (MANY, projection(), cut), (10, projection(), u64::MAX)]
    {
        assert!(shaded(count, projection, work).take_places().is_empty(), "{count} {work}");
    }
}

#[test]
fn tessellation_is_paid_for_and_has_to_fit() {
    let tessellator = Tessellation {
        domain: Domain::Triangles,
        spacing: Spacing::Equal,
        connection: Connection::Clockwise,
    };
    let state = PatchState {
        vertices_in: 3,
        vertices_out: 3,
        tessellator,
        entry: ENTRY,
        factors: Default::default(),
    };
    let factors = [Factors { outer: [4.0; 4], inner: [4.0; 2] }; 10];
    let ids: Vec<u32> = (0..10).collect();
    let mut budget = Budget::default();
    let made = ds::points(&state, 7, 4, &ids, &factors, &mut budget).expect("it fits");
    let indices = made.primitives.vertices.len() as u64;
    assert!(indices > 100);
    assert_eq!(budget.spent(), (10 + indices) * Work::Vertex.price());
    assert!(is_too_large(ds::points(&state, 7, 1 << 22, &ids, &factors, &mut budget)));
}
