//! Rendered surfaces as arrays.

use std::sync::{Arc, Mutex, PoisonError};

use a4emu_gpu::ambient;
use a4emu_gpu::draw::rb::depth::DepthFormat;
use a4emu_gpu::draw::rb::rendered::{Content, Written};
use a4emu_gpu::picture::{Picture, PixelType, Texel};
use a4emu_gpu::settled::Ended;
use a4emu_inspect::describe::canvas::Image;
use a4emu_shader::format::Type;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyBytes;

use crate::arrays::array;
use crate::error;

/// The machine after a run.
pub type Chip = Arc<Mutex<Ended>>;

/// Pixels that are not yet an array: bytes, type of the elements, and shape.
pub struct Pixels {
    bytes: Vec<u8>,
    dtype: &'static str,
    shape: Vec<usize>,
}

impl Pixels {
    /// The pixels of a picture, as `replay --png` writes them.
    pub fn of(picture: &Picture<'_>) -> Self {
        Self::of_image(image_of(picture))
    }

    /// The pixels of an image.
    pub fn of_image(image: Image) -> Self {
        let [width, height] = image.size.map(|side| side as usize);
        let (dtype, shape) = match image.kind {
            PixelType::Rgba8 => ("u1", vec![height, width, 4]),
            PixelType::Grey16 => (">u2", vec![height, width]),
            PixelType::Grey8 => ("u1", vec![height, width]),
        };
        Self { bytes: image.pixels, dtype, shape }
    }

    /// The contents of the surface, with each component decoded.
    fn decoded(picture: &Picture<'_>) -> Self {
        let [width, height] = picture.size().map(|side| side as usize);
        let texel = picture.texel();
        let (dtype, shape) = match texel {
            Texel::Color(codec) => match codec.ty() {
                Type::Uint => ("<u4", vec![height, width, 4]),
                Type::Sint => ("<i4", vec![height, width, 4]),
                _ => ("<f4", vec![height, width, 4]),
            },
            Texel::Depth(DepthFormat::Unorm16) => ("<u2", vec![height, width]),
            Texel::Depth(DepthFormat::Unorm24Stencil8) => ("<u4", vec![height, width]),
            Texel::Depth(_) => ("<f4", vec![height, width]),
            Texel::PackedStencil | Texel::Stencil => ("u1", vec![height, width]),
        };
        let mut bytes = Vec::new();
        for y in 0..height {
            let row = picture.texels(y as u32);
            match texel {
                Texel::Color(codec) => {
                    let lanes = row.chunks_exact(texel.bytes()).flat_map(|it| codec.decode(codec.load(it)));
                    bytes.extend(lanes.flat_map(u32::to_le_bytes));
                }
                _ => bytes.extend(row),
            }
        }
        Self { bytes, dtype, shape }
    }

    fn raw(picture: &Picture<'_>) -> Vec<u8> {
        (0..picture.size()[1]).flat_map(|y| picture.texels(y)).collect()
    }

    /// Converts the pixels to a numpy array, in the byte order of the machine.
    pub fn into_array(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let all = array(py, &self.bytes, self.dtype, &self.shape)?;
        match self.dtype {
            ">u2" => Ok(all.bind(py).call_method1("astype", ("=u2",))?.unbind()),
            _ => Ok(all),
        }
    }
}

/// The picture as an image.
fn image_of(picture: &Picture<'_>) -> Image {
    Image { size: picture.size(), kind: picture.kind(), pixels: picture.pixels() }
}

/// `array` with its rows in the order that `flip` asks for.
fn flipped(py: Python<'_>, array: Py<PyAny>, flip: bool) -> PyResult<Py<PyAny>> {
    if !flip {
        return Ok(array);
    }
    static FLIPUD: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    Ok(FLIPUD.import(py, "numpy", "flipud")?.call1((array,))?.call_method0("copy")?.unbind())
}

/// A surface in memory that the run has rendered.
#[pyclass(frozen, module = "a4emu")]
pub struct Surface {
    chip: Chip,
    written: Written,
}

impl Surface {
    /// The surface `written` in the memory of `chip`.
    pub fn new(chip: Chip, written: Written) -> Self {
        Self { chip, written }
    }

    fn look<R: Send>(&self, py: Python<'_>, look: impl FnOnce(&Picture<'_>) -> R + Send) -> PyResult<R> {
        let looked = py.detach(|| {
            let gpu = self.chip.lock().unwrap_or_else(PoisonError::into_inner);
            ambient::with_rust_float_control(|| {
                Picture::of(&self.written, gpu.settled().memory()).map(|picture| look(&picture))
            })
        });
        looked.map_err(|error| error::of(py, &error.into()))
    }

    /// The picture of the surface.
    pub fn picture(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.look(py, Pixels::of)?.into_array(py)
    }
}

#[pymethods]
impl Surface {
    /// Submit of the last write.
    #[getter]
    fn submit(&self) -> u32 {
        self.written.submit
    }

    /// Draw of the last write.
    #[getter]
    fn draw(&self) -> u32 {
        self.written.draw
    }

    /// GPU address of its first pixel.
    #[getter]
    fn address(&self) -> u64 {
        self.written.address.get()
    }

    /// Pixels in a row.
    #[getter]
    fn width(&self) -> u32 {
        self.written.width
    }

    /// Rows, as registers have it; arrays end behind the last that some buffer holds.
    #[getter]
    fn height(&self) -> u32 {
        self.written.height
    }

    /// Bytes from row to row in memory.
    #[getter]
    fn pitch(&self) -> u32 {
        self.written.pitch
    }

    /// Name of the format, such as 'RB4_R8G8B8A8_UNORM' or 'DEPTH4_24_8'.
    #[getter]
    fn format(&self) -> String {
        match self.written.content {
            Content::Color => format!("{:?}", self.written.format),
            Content::Depth(format) => format!("{format:?}"),
        }
    }

    /// 'color' or 'depth'.
    #[getter]
    fn content(&self) -> &'static str {
        if self.written.content == Content::Color { "color" } else { "depth" }
    }

    /// Samples of a pixel in memory; arrays have them resolved.
    #[getter]
    fn samples(&self) -> u32 {
        self.written.arrangement.samples
    }

    /// The picture, as the command line writes it: colour uint8 [height, width, 4], R, G, B, A, integers cut to a byte, floats
    /// to 0..1; depth uint16 [height, width], 65535 being 1.0. Rows are in the order of memory.
    ///
    /// flip: rows from top to bottom, where OpenGL rendered to a framebuffer object.
    #[pyo3(signature = (*, flip = false))]
    fn pixels(&self, py: Python<'_>, flip: bool) -> PyResult<Py<PyAny>> {
        flipped(py, self.picture(py)?, flip)
    }

    /// What it holds, decoded: colour [height, width, 4], R, G, B, A (absent ones 0, 0, 0, 1), float32, of integer formats uint32
    /// or int32; depth [height, width], uint16 (DEPTH4_16), uint32 with stencil in the highest byte (DEPTH4_24_8), or float32.
    ///
    /// flip: as for pixels().
    #[pyo3(signature = (*, flip = false))]
    fn values(&self, py: Python<'_>, flip: bool) -> PyResult<Py<PyAny>> {
        flipped(py, self.look(py, Pixels::decoded)?.into_array(py)?, flip)
    }

    /// The bytes of its pixels in its own format, row by row without gaps, untiled.
    fn tobytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.look(py, Pixels::raw)?))
    }

    /// The picture as the bytes of a PNG: those of `a4emu replay --png`.
    ///
    /// flip: as for pixels().
    #[pyo3(signature = (*, flip = false))]
    fn png<'py>(&self, py: Python<'py>, flip: bool) -> PyResult<Bound<'py, PyBytes>> {
        let written = self.look(py, |picture| {
            let mut png = Vec::new();
            let mut image = image_of(picture);
            if flip {
                let row = image.pixels.len() / (image.size[1] as usize).max(1);
                image.pixels = image.pixels.rchunks(row.max(1)).flatten().copied().collect();
            }
            image.write_png(&mut png).map(|()| png)
        })?;
        Ok(PyBytes::new(py, &written.map_err(|error| error::of(py, &error))?))
    }

    /// What a notebook shows.
    fn _repr_png_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.png(py, false)
    }

    /// A hash of the picture: what `a4emu corpus run` notes.
    fn hash(&self, py: Python<'_>) -> PyResult<String> {
        self.look(py, |picture| picture.hash())
    }

    fn __repr__(&self) -> String {
        let Written { width, height, address, .. } = self.written;
        format!("<a4emu.Surface {width}x{height} {} at {address:#x}>", self.format())
    }
}
