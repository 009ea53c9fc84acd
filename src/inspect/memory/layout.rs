//! How bytes of memory are shown: as numbers of a width, or as elements of a format.

use a4emu_decoder::a4xx::regs::rb::RB_MRT_BUF_INFO;
use a4emu_decoder::a4xx::regs::tex::TEX_CONST_0;
use a4emu_decoder::a4xx::regs::vfd::VFD_DECODE_INSTR;
use a4emu_decoder::adreno::address::Address;
use a4emu_decoder::bits::FieldRow;
use a4emu_gpu::a4xx::formats;
use a4emu_rules::number::Number;
use a4emu_shader::format::arrangement::Tiling;
use a4emu_shader::format::{Block, Codec, Swap, Transfer, Type};
use half::f16;
use serde::Serialize;

use super::contents::Contents;
use crate::describe::Address as Listed;

/// How bytes are divided into rows, and what each is.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// Name, such as `words` or `VFMT4_32_32_FLOAT`.
    pub name: String,
    unit: Unit,
    /// Bytes from one unit to the next.
    stride: u64,
    /// Units of a row.
    columns: u64,
    grid: Option<Grid>,
}

/// What a unit is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Unit {
    /// Bits as hexadecimal digits.
    Hex(u64),
    /// An unsigned integer.
    Unsigned(u64),
    /// A signed integer of 32 bits.
    Signed,
    /// A float of 16 bits.
    Half,
    /// A float of 32 bits.
    Float,
    /// An element of a format.
    Element(Codec),
}

/// The rows of an image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    /// Order of texels.
    pub tiling: Tiling,
    /// Bytes from row to row.
    pub pitch: u32,
    /// Columns and rows of the first level.
    pub size: [u32; 2],
    /// Bytes from layer to layer; 0 if there is one.
    pub layer_bytes: u32,
}

/// A row of a listing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Address of its first byte.
    pub address: Listed,
    /// Number of the element, or column and row of the texel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub element: Option<String>,
    /// The bytes; null where the capture has none.
    pub bytes: Vec<Option<u8>>,
    /// The values as text; null where a byte is missing.
    pub values: Vec<Option<String>>,
    /// The values before the draw since which changes are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Vec<Option<String>>>,
}

/// A form by its name.
type Named = (&'static str, fn() -> Layout);

impl Layout {
    /// The forms that have a name.
    pub const NAMED: [Named; 8] = [
        ("words", || Self::plain("words", Unit::Hex(4), 4)),
        ("bytes", || Self::plain("bytes", Unit::Hex(1), 16)),
        ("shorts", || Self::plain("shorts", Unit::Unsigned(2), 8)),
        ("halves", || Self::plain("halves", Unit::Half, 8)),
        ("floats", || Self::plain("floats", Unit::Float, 4)),
        ("ints", || Self::plain("ints", Unit::Signed, 4)),
        ("uints", || Self::plain("uints", Unit::Unsigned(4), 4)),
        ("doublewords", || Self::plain("doublewords", Unit::Hex(8), 2)),
    ];

    fn plain(name: &str, unit: Unit, columns: u64) -> Self {
        Self { name: name.to_owned(), unit, stride: unit.bytes(), columns, grid: None }
    }

    /// Dwords in hexadecimal.
    pub fn words() -> Self {
        Self::plain("words", Unit::Hex(4), 4)
    }

    /// Floats of 32 bits.
    pub fn floats() -> Self {
        Self::plain("floats", Unit::Float, 4)
    }

    /// Integers of 16 bits.
    pub fn shorts() -> Self {
        Self::plain("shorts", Unit::Unsigned(2), 8)
    }

    /// Indices of `width` bytes.
    pub fn indices(width: u32) -> Self {
        Self::plain("indices", Unit::Unsigned(u64::from(width.clamp(1, 4))), 8)
    }

    /// Elements of a vertex or storage buffer.
    pub fn elements(name: &str, codec: Codec, stride: u32) -> Self {
        let stride = u64::from(stride.max(1));
        Self { name: name.to_owned(), unit: Unit::Element(codec), stride, columns: 1, grid: None }
    }

    /// Texels or pixels, in rows if `grid` says so.
    pub fn texels(name: &str, codec: Codec, grid: Option<Grid>) -> Self {
        Self { grid, ..Self::elements(name, codec, codec.bytes()) }
    }

    /// Blocks of a compressed format, in hexadecimal.
    pub fn blocks(name: &str, block: Block) -> Self {
        let name = format!("{name}, blocks of {}x{}", block.width, block.height);
        Self::plain(&name, Unit::Hex(block.bytes.into()), 1)
    }

    /// The form or format of this name: one of [`Layout::NAMED`], or elements of a format of the register database.
    pub fn named(text: &str) -> Option<Self> {
        let named = Self::NAMED.iter().find(|(name, _)| *name == text);
        named.map(|(_, layout)| layout()).or_else(|| Self::of_format(text))
    }

    fn of_format(text: &str) -> Option<Self> {
        let number = |fields: &[FieldRow], name: &str| {
            let field = fields.iter().find(|field| field.name == name)?;
            let is_name = !text.starts_with(|c: char| c.is_ascii_digit());
            Some(field.insert(0, field.parse(text).ok().filter(|_| is_name)?))
        };
        let vertex =
            || formats::vertex(VFD_DECODE_INSTR(number(VFD_DECODE_INSTR::FIELDS, "FORMAT")?).FORMAT());
        let texture = || formats::texture(TEX_CONST_0(number(TEX_CONST_0::FIELDS, "FMT")?).FMT());
        let color = || {
            formats::color(RB_MRT_BUF_INFO(number(RB_MRT_BUF_INFO::FIELDS, "COLOR_FORMAT")?).COLOR_FORMAT())
        };
        let format = vertex().or_else(texture).or_else(color)?;
        Some(match format.codec(Swap::WZYX, Transfer::Linear) {
            Some(codec) => Self::elements(text, codec, codec.bytes()),
            None => Self::blocks(text, format.block()),
        })
    }

    /// Bytes of a row.
    pub fn row_bytes(&self) -> u64 {
        self.stride * self.columns
    }

    /// Up to `most` rows of the first `room` bytes: those with a known byte and, if `before` has the bytes before a draw,
    /// those that changed.
    pub fn rows(&self, contents: &Contents, before: Option<&Contents>, room: u64, most: u64) -> Vec<Row> {
        let count = contents.size().min(room).div_ceil(self.row_bytes());
        let rows = (0..count).map(|number| number * self.row_bytes());
        let wanted = rows.filter(|at| {
            let end = at + self.row_bytes();
            contents.has_any(*at, end) && before.is_none_or(|before| contents.differs(before, *at, end))
        });
        wanted.take(most as usize).map(|at| self.row(contents, before, at)).collect()
    }

    fn row(&self, contents: &Contents, before: Option<&Contents>, at: u64) -> Row {
        let end = (at + self.row_bytes()).min(contents.size());
        Row {
            address: Listed::of(Address::new(contents.start() + at)),
            element: self.element(at),
            bytes: (at..end).map(|byte| contents.byte(byte)).collect(),
            values: self.values(contents, at, end),
            before: before.map(|before| self.values(before, at, end)),
        }
    }

    /// The values of the units in `at..end`. A unit that is not whole in the range has its bytes as values.
    fn values(&self, contents: &Contents, at: u64, end: u64) -> Vec<Option<String>> {
        let values = |from: u64| {
            let until = from + self.unit.bytes();
            let is_whole = until <= contents.size();
            let bytes = (from..until.min(contents.size())).map(|byte| contents.byte(byte));
            match is_whole {
                true => self.unit.texts(bytes.collect()),
                false => bytes.map(|byte| byte.map(|byte| format!("{byte:02x}"))).collect(),
            }
        };
        (at..end).step_by(self.stride as usize).flat_map(values).collect()
    }

    /// What the listing calls the unit at offset `at`: its number, or its place in the image.
    fn element(&self, at: u64) -> Option<String> {
        let Unit::Element(codec) = self.unit else { return None };
        let Some(grid) = self.grid else { return Some((at / self.stride).to_string()) };
        let layer = at.checked_div(grid.layer_bytes.into());
        let offset = u32::try_from(at - layer.unwrap_or(0) * u64::from(grid.layer_bytes)).ok()?;
        let [x, y] = grid.tiling.pixel(offset, grid.pitch, codec.bytes())?;
        // Behind the rows of the first level lie others, which have their own pitch.
        let is_inside = x < grid.size[0] && y < grid.size[1];
        is_inside.then(|| match layer {
            Some(layer) => format!("{x},{y} layer {layer}"),
            None => format!("{x},{y}"),
        })
    }
}

impl Unit {
    fn bytes(self) -> u64 {
        match self {
            Self::Hex(bytes) | Self::Unsigned(bytes) => bytes,
            Self::Half => 2,
            Self::Signed | Self::Float => 4,
            Self::Element(codec) => codec.bytes().into(),
        }
    }

    /// The values of a unit; none for each that is not known.
    fn texts(self, bytes: Vec<Option<u8>>) -> Vec<Option<String>> {
        let known: Option<Vec<u8>> = bytes.into_iter().collect();
        let Self::Element(codec) = self else { return vec![known.map(|bytes| self.text(&bytes))] };
        let components = (0..4).filter(|component| codec.has(*component));
        let lanes = known.map(|bytes| codec.decode(codec.load(&bytes)));
        let text = |bits: u32| match codec.ty() {
            Type::Uint => bits.to_string(),
            Type::Sint => bits.cast_signed().to_string(),
            Type::Unorm | Type::Snorm | Type::Float | Type::Fixed => Number::Float.text(bits),
        };
        components.map(|component| lanes.map(|lanes| text(lanes[component]))).collect()
    }

    /// A number of known bytes, the lowest first.
    fn text(self, bytes: &[u8]) -> String {
        let number = bytes.iter().rev().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
        match self {
            // Blocks may be longer than a number.
            Self::Hex(_) => bytes.iter().rev().map(|byte| format!("{byte:02x}")).collect(),
            Self::Signed => (number as u32).cast_signed().to_string(),
            Self::Half => format!("{:?}", f16::from_bits(number as u16).to_f32()),
            Self::Float => Number::Float.text(number as u32),
            Self::Unsigned(_) | Self::Element(_) => number.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use a4emu_gpu::memory::Memory;

    fn layout(text: &str) -> Layout {
        Layout::named(text).unwrap_or_else(|| panic!("{text}"))
    }

    /// The values of all rows of `bytes` at 0x1000, of which the first two are missing.
    fn values(layout: &Layout, bytes: &[u8]) -> Vec<Vec<Option<String>>> {
        let mut memory = Memory::new();
        memory.announce(0x1002u32, bytes.len() as u32 - 2, Some(&bytes[2..]));
        let contents = Contents::of(&memory, Address::new(0x1000), bytes.len() as u64);
        layout.rows(&contents, None, u64::MAX, u64::MAX).into_iter().map(|row| row.values).collect()
    }

    #[test]
    fn missing_bytes_are_none_and_others_numbers() {
        let bytes: Vec<u8> = [[0, 0, 0x80, 0x3f], [0, 0, 0x80, 0xbf], [1, 0, 0xff, 0xff]].concat();
        let of = |text: &str| values(&layout(text), &bytes).concat();
        let some = |texts: &[&str]| -> Vec<Option<String>> {
            texts.iter().map(|text| Some((*text).to_owned())).collect()
        };
        assert_eq!(of("words"), [vec![None], some(&["bf800000", "ffff0001"])].concat());
        assert_eq!(of("floats")[1], Some("-1.0".to_owned()));
        assert_eq!(of("shorts"), [vec![None], some(&["16256", "0", "49024", "1", "65535"])].concat());
        assert_eq!(of("ints")[2], Some("-65535".to_owned()));
        assert_eq!(of("VFMT4_16_16_SINT")[2..], some(&["0", "-16512", "1", "-1"]));
        assert_eq!(of("TFMT4_8_8_8_8_UNORM")[8..], some(&["0.003921569", "0.0", "1.0", "1.0"]));
    }

    #[test]
    fn a_part_of_a_unit_is_its_bytes() {
        let shown = values(&layout("VFMT4_32_32_FLOAT"), &[0; 6]);
        assert_eq!(
            shown.concat(),
            [
                None,
                None,
                Some("00".to_owned()),
                Some("00".to_owned()),
                Some("00".to_owned()),
                Some("00".to_owned())
            ]
        );
    }

    #[test]
    fn texels_have_their_place_in_the_image() {
        let grid = Grid { tiling: Tiling::Squares(4), pitch: 32, size: [8, 4], layer_bytes: 128 };
        let plain = layout("RB4_R8G8B8A8_UNORM");
        let layout = Layout { grid: Some(grid), ..plain };
        let place = |at: u64| layout.element(at).unwrap_or_default();
        assert_eq!(
            [place(4), place(16), place(64), place(128)],
            ["1,0 layer 0", "0,1 layer 0", "4,0 layer 0", "0,0 layer 1"]
        );
        let strided = Layout { stride: 12, ..Layout::elements("", codec(), 12) };
        assert_eq!(strided.element(24).as_deref(), Some("2"));
    }

    fn codec() -> Codec {
        let format =
            formats::color(a4emu_decoder::a4xx::enums::ColorFmt::RB4_R8G8B8A8_UNORM).expect("a format");
        format.codec(Swap::WZYX, Transfer::Linear).expect("it is not compressed")
    }

    #[test]
    fn layouts_are_named_or_formats() {
        assert!(layout("TFMT4_DXT1").name.contains("blocks of 4x4"));
        for text in ["", "word", "TFMT4_", "7"] {
            assert!(Layout::named(text).is_none(), "{text}");
        }
    }
}
