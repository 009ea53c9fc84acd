//! Cube maps: converts directions to faces, and handles the seams.
//!
//! Faces are +x, -x, +y, -y, +z, -z. On ties x is preferred to y, and y to z, as in softpipe. The results at
//! seams and corners are guess `cube-seams`.
use super::{Floats, Ints};
use a4emu_shader::LANES;

/// A direction on its face.
pub(super) struct Projection {
    pub face: Ints,
    /// 0 to 1 across the face.
    pub s: Floats,
    /// 0 to 1 down the face.
    pub t: Floats,
}

/// Returns (s, t, major axis) of a vector on `face`. The function is linear, so it is valid for derivatives
/// too. Its inverse is [`from_face`].
#[inline(always)]
fn to_face<T: std::ops::Neg<Output = T>>(face: i32, [x, y, z]: [T; 3]) -> [T; 3] {
    match face {
        0 => [-z, -y, x],
        1 => [z, -y, -x],
        2 => [x, z, y],
        3 => [x, -z, -y],
        4 => [x, -y, z],
        _ => [-x, -y, -z],
    }
}

fn from_face(face: i32, [s, t, major]: [i64; 3]) -> [i64; 3] {
    match face {
        0 => [major, -t, -s],
        1 => [-major, -t, s],
        2 => [s, major, t],
        3 => [s, -major, -t],
        4 => [s, -t, major],
        _ => [-s, -t, -major],
    }
}

#[inline(always)]
fn face_of<T: PartialOrd + Default + Copy>([x, y, z]: [T; 3], [ax, ay, az]: [T; 3]) -> i32 {
    let zero = T::default();
    if ax >= ay && ax >= az {
        i32::from(x < zero)
    } else if ay >= az {
        2 + i32::from(y < zero)
    } else {
        4 + i32::from(z < zero)
    }
}

/// Projects directions onto the cube.
pub(super) fn project(direction: [&Floats; 3]) -> Projection {
    let (mut face, mut s, mut t) = ([0; LANES], [0.0; LANES], [0.0; LANES]);
    for i in 0..LANES {
        let vector = [direction[0][i], direction[1][i], direction[2][i]];
        face[i] = face_of(vector, vector.map(f32::abs));
        let [sc, tc, major] = to_face(face[i], vector);
        s[i] = (sc / major + 1.0) * 0.5;
        t[i] = (tc / major + 1.0) * 0.5;
    }
    Projection { face, s, t }
}

/// Converts derivatives of the direction to derivatives of s and t.
pub(super) fn project_gradient(direction: [&Floats; 3], face: &Ints, d: [&Floats; 3]) -> [Floats; 2] {
    let mut out = [[0.0; LANES]; 2];
    for i in 0..LANES {
        let [sc, tc, major] = to_face(face[i], [direction[0][i], direction[1][i], direction[2][i]]);
        let [dsc, dtc, dmajor] = to_face(face[i], [d[0][i], d[1][i], d[2][i]]);
        out[0][i] = (dsc - sc / major * dmajor) / major * 0.5;
        out[1][i] = (dtc - tc / major * dmajor) / major * 0.5;
    }
    out
}

/// Returns the real position of a texel one step outside `face` of `size` texels: (x, y, face). One of `x`
/// and `y` must be on the face.
pub(super) fn across(face: i32, x: i32, y: i32, size: i32) -> (i32, i32, i32) {
    // In units of half a texel from the centre, a texel beyond the edge lies at size + 1, further out than
    // the face itself. So its axis becomes the major one.
    let size = i64::from(size);
    let centre = |at: i32| 2 * i64::from(at) + 1 - size;
    let vector = from_face(face, [centre(x), centre(y), size]);
    let face = face_of(vector, vector.map(i64::abs));
    let [s, t, major] = to_face(face, vector);
    let texel = |at: i64| ((at + major) * size).div_euclid(2 * major.max(1)).clamp(0, size - 1) as i32;
    (texel(s), texel(t), face)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project_one(direction: [f32; 3]) -> (i32, f32, f32) {
        let direction = direction.map(|v| [v; LANES]);
        let projection = project(direction.each_ref());
        (projection.face[0], projection.s[0], projection.t[0])
    }

    #[test]
    fn axes_hit_the_middle_of_their_face() {
        let axes = [[2., 0., 0.], [-2., 0., 0.], [0., 2., 0.], [0., -2., 0.], [0., 0., 2.], [0., 0., -2.]];
        for (face, axis) in axes.into_iter().enumerate() {
            assert_eq!(project_one(axis), (face as i32, 0.5, 0.5));
        }
    }

    #[test]
    fn corners_of_faces_are_where_the_specification_puts_them() {
        assert_eq!(project_one([1.0, 0.5, 0.25]), (0, 0.375, 0.25));
        assert_eq!(project_one([0.5, -1.0, 0.25]), (3, 0.75, 0.375));
        assert_eq!(project_one([0.5, 0.25, -1.0]), (5, 0.25, 0.375));
    }

    #[test]
    fn stepping_over_an_edge_and_back_returns_to_the_texel() {
        let size = 4;
        for face in 0..6 {
            for at in 0..size {
                let edges =
                    [(-1, at, 0, at), (size, at, size - 1, at), (at, -1, at, 0), (at, size, at, size - 1)];
                for (x, y, inside_x, inside_y) in edges {
                    let (nx, ny, next) = across(face, x, y, size);
                    assert_ne!(next, face);
                    let steps = [(-1, 0), (1, 0), (0, -1), (0, 1)];
                    let back = steps.iter().map(|(dx, dy)| (nx + dx, ny + dy));
                    let back = back.filter(|(x, y)| !(0..size).contains(x) || !(0..size).contains(y));
                    let mut back = back.map(|(x, y)| across(next, x, y, size));
                    assert!(back.any(|it| it == (inside_x, inside_y, face)), "{face} {x} {y}");
                }
            }
        }
    }

    #[test]
    fn gradients_agree_with_finite_differences() {
        let step = 1.0 / 1024.0;
        let at = [0.9f32, 0.2, -0.3];
        let there = project_one([at[0] + step, at[1] - 2.0 * step, at[2] + step]);
        let here = project_one(at);
        let d = [[step; LANES], [-2.0 * step; LANES], [step; LANES]];
        let gradient = project_gradient(at.map(|v| [v; LANES]).each_ref(), &[here.0; LANES], d.each_ref());
        assert!((gradient[0][0] - (there.1 - here.1)).abs() < 1e-5);
        assert!((gradient[1][0] - (there.2 - here.2)).abs() < 1e-5);
    }

    #[test]
    fn a_direction_of_zero_does_not_panic() {
        assert!(project_one([0.0; 3]).1.is_nan());
        assert_eq!(project_one([f32::NAN; 3]).0, 4);
    }
}
