use std::collections::BTreeMap;

use super::*;

const SPACINGS: [Spacing; 3] = [Spacing::Equal, Spacing::FractionalOdd, Spacing::FractionalEven];

fn run(domain: Domain, spacing: Spacing, outer: [f32; 4], inner: [f32; 2]) -> Mesh {
    let connection = Connection::CounterClockwise;
    Tessellation { domain, spacing, connection }.run(&Factors { outer, inner })
}

/// Returns `count` sets of pseudo-random factors of every kind.
fn factors(count: usize) -> impl Iterator<Item = ([f32; 4], [f32; 2])> {
    let mut state = 1u32;
    let mut next = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let fine = (state >> 8) as f32 / (1 << 24) as f32;
        if state & 0x80 == 0 { 0.5 + 8.0 * fine } else { (65.0 * fine).ceil() }
    };
    (0..count).map(move |_| ([next(), next(), next(), next()], [next(), next()]))
}

fn doubled_area(points: &[[f32; 2]], t: &[u32]) -> f64 {
    let [a, b, c] = [t[0], t[1], t[2]].map(|i| points[i as usize].map(f64::from));
    (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])
}

/// Returns the directed edges that only one triangle has.
fn boundary(mesh: &Mesh) -> Vec<(u32, u32)> {
    let mut count = BTreeMap::new();
    for t in mesh.indices.chunks_exact(3) {
        for (a, b) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])] {
            *count.entry((a, b)).or_insert(0) += 1;
        }
    }
    assert!(count.values().all(|n| *n == 1), "two triangles on the same side of an edge");
    count.keys().filter(|(a, b)| !count.contains_key(&(*b, *a))).copied().collect()
}

#[test]
fn factor_one_is_the_plain_domain() {
    for spacing in [Spacing::Equal, Spacing::FractionalOdd] {
        let triangle = run(Domain::Triangles, spacing, [1.0; 4], [1.0; 2]);
        assert_eq!(triangle.points, [[0.0, 1.0], [0.0, 0.0], [1.0, 0.0]]);
        assert_eq!(triangle.indices, [0, 1, 2]);
        let quad = run(Domain::Quads, spacing, [1.0; 4], [1.0; 2]);
        assert_eq!((quad.points.len(), quad.indices.len()), (4, 6));
        let line = run(Domain::Isolines, spacing, [1.0; 4], [1.0; 2]);
        assert_eq!((line.points, line.indices), (vec![[0.0, 0.0], [1.0, 0.0]], vec![0, 1]));
    }
}

/// Checks counts of rings of n, n-2, .. parts: 3 (n + n-2 + ..) points, and the centre.
#[test]
fn uniform_triangles_have_known_counts() {
    for n in 2..=64u32 {
        let mesh = run(Domain::Triangles, Spacing::Equal, [n as f32; 4], [n as f32; 2]);
        let rings: u32 = (1..=n).rev().step_by(2).map(|parts| 3 * parts).sum();
        assert_eq!(mesh.points.len() as u32, rings + u32::from(n % 2 == 0));
        let triangles: u32 = (1..=n).rev().step_by(2).map(|parts| 3 * (2 * parts - 2)).sum();
        assert_eq!(mesh.indices.len() as u32 / 3, triangles + u32::from(n % 2 == 1));
    }
}

#[test]
fn uniform_quads_are_grids() {
    for (u, v) in [(2, 2), (3, 3), (4, 7), (7, 4), (5, 9), (9, 6), (64, 64), (64, 3)] {
        let [u, v] = [u as f32, v as f32];
        let mesh = run(Domain::Quads, Spacing::Equal, [v, u, v, u], [u, v]);
        assert_eq!(mesh.points.len() as f32, (u + 1.0) * (v + 1.0));
        assert_eq!(mesh.indices.len() as f32, 6.0 * u * v);
    }
}

/// The segments of an edge, as section 11.2.2 of the OpenGL 4.6 specification clamps and rounds a factor.
fn segments(factor: f32, spacing: Spacing) -> u32 {
    match spacing {
        Spacing::Equal => factor.clamp(1.0, 64.0).ceil() as u32,
        Spacing::FractionalEven => 2 * (factor.clamp(2.0, 64.0) / 2.0).ceil() as u32,
        Spacing::FractionalOdd => 2 * ((factor.clamp(1.0, 63.0) - 1.0) / 2.0).ceil() as u32 + 1,
    }
}

/// The numbers of points and of primitives that the specification gives a patch: rings around each other, of which each edge has
/// two segments less than the one around it.
fn specified(domain: Domain, spacing: Spacing, outer: [f32; 4], inner: [f32; 2]) -> (u32, u32) {
    let [edges, insides] = domain.factors();
    let rows = segments(outer[0], Spacing::Equal);
    let outer: Vec<u32> = outer[..edges].iter().map(|factor| segments(*factor, spacing)).collect();
    let mut inner: Vec<u32> = inner[..insides].iter().map(|factor| segments(*factor, spacing)).collect();
    let is_plain = outer.iter().chain(&inner).all(|segments| *segments == 1);
    // A factor of 1 inside counts as a little more than 1, unless all are 1.
    let least = if spacing == Spacing::FractionalOdd { 3 } else { 2 };
    inner.iter_mut().filter(|segments| **segments == 1).for_each(|segments| *segments = least);
    let around: u32 = outer.iter().sum();
    match domain {
        Domain::Triangles if is_plain => (3, 1),
        Domain::Quads if is_plain => (4, 2),
        Domain::Triangles => {
            let (mut points, mut triangles, mut within) = (around, around, inner[0] - 2);
            triangles += 3 * within;
            while within > 1 {
                points += 3 * within;
                triangles += 3 * (within + within - 2);
                within -= 2;
            }
            if within == 1 { (points + 3, triangles + 1) } else { (points + 1, triangles) }
        }
        Domain::Quads => {
            let [u, v] = [inner[0] - 2, inner[1] - 2];
            (around + (u + 1) * (v + 1), around + 2 * (u + v) + 2 * u * v)
        }
        Domain::Isolines => (rows * (outer[1] + 1), rows * outer[1]),
    }
}

#[test]
fn counts_are_those_of_the_specification() {
    for (outer, inner) in factors(1000) {
        for domain in [Domain::Quads, Domain::Triangles, Domain::Isolines] {
            for spacing in SPACINGS {
                let mesh = run(domain, spacing, outer, inner);
                let corners = if domain == Domain::Isolines { 2 } else { 3 };
                let counts = (mesh.points.len() as u32, mesh.indices.len() as u32 / corners);
                let expected = specified(domain, spacing, outer, inner);
                assert_eq!(counts, expected, "{domain:?} {spacing:?} {outer:?} {inner:?}");
            }
        }
    }
}

#[test]
fn meshes_cover_their_domain_once_without_gaps() {
    for (outer, inner) in factors(300) {
        for (domain, area) in [(Domain::Quads, 2.0), (Domain::Triangles, 1.0)] {
            for spacing in SPACINGS {
                let mesh = run(domain, spacing, outer, inner);
                let areas: Vec<f64> =
                    mesh.indices.chunks_exact(3).map(|t| doubled_area(&mesh.points, t)).collect();
                let context = format!("{domain:?} {spacing:?} {outer:?} {inner:?}");
                assert!(areas.iter().all(|a| *a >= 0.0), "{context}: a triangle is turned around");
                assert!((areas.iter().sum::<f64>() - area).abs() < 1e-9, "{context}");
                let sides = if domain == Domain::Quads { 4 } else { 3 };
                let parts: u32 = outer[..sides].iter().map(|f| Edge::outer(*f, spacing).segments()).sum();
                assert_eq!(boundary(&mesh).len() as u32, parts, "{context}: t-junction");
            }
        }
    }
}

#[test]
fn a_shared_edge_has_the_same_points_from_both_sides() {
    let on_left = |mesh: &Mesh| {
        let mut at: Vec<u32> = mesh.points.iter().filter(|p| p[0] == 0.0).map(|p| p[1].to_bits()).collect();
        at.sort_unstable();
        at
    };
    let on_right = |mesh: &Mesh| {
        let mut at: Vec<u32> = mesh.points.iter().filter(|p| p[0] == 1.0).map(|p| p[1].to_bits()).collect();
        at.sort_unstable();
        at
    };
    for spacing in SPACINGS {
        let one = run(Domain::Quads, spacing, [3.3, 1.0, 5.7, 2.0], [6.0, 4.4]);
        let other = run(Domain::Quads, spacing, [5.7, 9.0, 1.0, 3.0], [2.0, 7.1]);
        assert_eq!(on_right(&one), on_left(&other));
    }
}

#[test]
fn bad_outer_factors_cull() {
    for bad in [0.0, -1.0, f32::NAN, f32::NEG_INFINITY] {
        for domain in [Domain::Quads, Domain::Triangles, Domain::Isolines] {
            assert_eq!(run(domain, Spacing::Equal, [4.0, bad, 4.0, 4.0], [4.0; 2]), Mesh::default());
        }
        assert!(!run(Domain::Triangles, Spacing::Equal, [4.0, 4.0, 4.0, bad], [4.0; 2]).points.is_empty());
        assert!(!run(Domain::Quads, Spacing::FractionalOdd, [4.0; 4], [bad; 2]).points.is_empty());
    }
}

#[test]
fn huge_factors_are_limited() {
    for spacing in SPACINGS {
        let n = if spacing == Spacing::FractionalOdd { 63 } else { 64 };
        let mesh = run(Domain::Quads, spacing, [1e30; 4], [f32::INFINITY; 2]);
        assert_eq!((mesh.points.len(), mesh.indices.len()), ((n + 1) * (n + 1), 6 * n * n));
    }
}

#[test]
fn isolines_are_rows_of_lines() {
    let mesh = run(Domain::Isolines, Spacing::FractionalOdd, [6.0, 8.5, 0.0, 0.0], [0.0; 2]);
    assert_eq!((mesh.points.len(), mesh.indices.len()), (6 * 10, 6 * 9 * 2));
    assert!(mesh.points.iter().all(|p| p[1] < 1.0));
}

#[test]
fn point_mode_has_each_point_once() {
    let tessellation =
        Tessellation { domain: Domain::Quads, spacing: Spacing::Equal, connection: Connection::Points };
    let mesh = tessellation.run(&Factors { outer: [5.0; 4], inner: [5.0; 2] });
    assert_eq!(mesh.indices, (0..36).collect::<Vec<_>>());
    assert_eq!(tessellation.primitive_vertices(), 1);
}

#[test]
fn clockwise_turns_every_triangle() {
    let turned = Tessellation {
        domain: Domain::Triangles,
        spacing: Spacing::Equal,
        connection: Connection::Clockwise,
    };
    let mesh = turned.run(&Factors { outer: [4.0; 4], inner: [3.0; 2] });
    assert!(mesh.indices.chunks_exact(3).all(|t| doubled_area(&mesh.points, t) < 0.0));
}
