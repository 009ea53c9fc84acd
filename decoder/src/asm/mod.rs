//! The text form of a whole capture: text to bytes.
//!
//! ```text
//! include "setup.a4i"                   // path beside this file
//! const SIZE = 64 * 4                   // + - * / % << >> & ^ | == != < > ~ ( )
//!
//! gpu_id 420                            // sections, in file order
//! chip_id 0x04020000
//! cmd "triangle/1: fence=1"             // also: test "..", section 12 { .. }, marker 3, raw { .. }
//! form 12                               // address records of 12 (default) or 8 bytes from here on
//!
//! buffer vertices @ 0x10000000 {        // announced, with contents; without `@` the next free page
//!     f32 -1.0, -1.0, 0.5, 1.0,         // u8 u16 u32 u64 i8 i16 i32 f16 f32; a line may end after a comma
//!         0.0, 1.0, 0.5, 1.0
//! }
//! buffer target size SIZE * SIZE * 4    // announced only
//! buffer fs { shader {
//!     mov.f32f32 r0.x, c${SLOT}.x       // ir3 as freedreno writes it, labels, ${constant}
//!     end
//! } }
//!
//! macro colour(i, base) {               // any statements; parameters are values
//!     RB_MRT[i].CONTROL { ROP_CODE = ROP_COPY | COMPONENT_ENABLE = 0xf }
//!     RB_MRT[i].BASE = base
//! }
//!
//! buffer main {
//!     use colour(0, target)
//!     RB_MODE_CONTROL { WIDTH = 320 | ENABLE_GMEM }       // one type-0 packet
//!     GRAS_CL_VPORT_XOFFSET_0 = 128.0
//!     + GRAS_CL_VPORT_XSCALE_0 = 128.0                    // the same packet goes on
//!     load FS.constants at 2 { f32 1.0, 0.0, 0.0, 1.0 }   // CP_LOAD_STATE4, data in the packet
//!     load FS.shader from fs                              // .. from memory, units from its size
//!     CP_WAIT_FOR_IDLE
//!     CP_DRAW_INDX_OFFSET({ PRIM_TYPE = DI_PT_TRILIST }, NUM_INSTANCES = 1, NUM_INDICES = 3)
//!     call other                                          // CP_INDIRECT_BUFFER
//!     pad                                                 // the filler dword
//!     part: { CP_NOP }                                    // a label with a size; `name:` has none
//! }
//! submit main
//! again vertices { at 8  f32 0.25 }     // dumped once more, with changes
//! ```
//!
//! * **Data** goes anywhere inside a buffer, a section or the braces of a packet: numbers, `hex 00ff`
//!   and `words 3f800000 0` (to the end of the line or block), `text ".."`, `zero BYTES`, `fill DWORDS, value`,
//!   `align N`, `at OFFSET`, `png "file" pitch N`, `shader { .. }`, and words of descriptors by name
//!   (`TEX_CONST_0 { FMT = TFMT4_8_8_8_8_UNORM }`, `TEX_SAMP_1 { .. }`, `SSBO_0_0 { .. }`).
//! * **`size N`** on a buffer fills it with zeros up to N bytes.
//! * **Addresses**: a buffer without `@` begins at the next page that no other buffer of the source takes. Two buffers
//!   of one submit (of the statements up to `submit`) must not overlap, unless the later one says so behind its address:
//!   `buffer view @ 0x10000000 overlaps { .. }`.
//! * **Loads** are `load OWNER.WHAT [at UNIT] { .. }` or `.. from ADDRESS [units N]`, with owner VS HS DS GS
//!   FS CS and what `shader` `constants` `samplers` `textures` `ubos`, or owner SSBO or CS_SSBO and what
//!   `descriptors` `sizes` `addresses`. Inline shaders are filled to groups of 16 instructions.
//! * **Packets** take their dwords in order: `{ FIELD = value | FLAG | 0x40 }`, a value, or `NAME = value`
//!   (dwords passed over are 0); data in braces after it is appended; `pred CP_X(..)` sets the predicate
//!   bit, `opcode_7f(..)` is one without a name. A packet without dwords gets one of 0.
//! * **Values** are whole numbers or floats. A name is an enumerator of the field, a register such as `r0.x`
//!   where the field holds one, a constant or parameter, a label (its address), or a register (its offset).
//!   A hexadecimal literal in a float is its bits. Functions: `bytes(label)`, `dwords(label)`,
//!   `groups(label)` (16 instructions each), `here()`, `bits(f32)`, `half(f16)`, `float`, `int`, `sqrt`,
//!   `min`, `max`.
//! * **The chip** that `gpu_id` or `chip_id` names first says whose registers and packets statements name. On an A6xx,
//!   register writes are packets of type 4 and commands of type 7. There an address in two registers or dwords has
//!   one name for both: `RB_MRT[0].BASE = target`, `CP_MEM_WRITE(ADDR = target)`. `load` is for the A4xx alone.
//! * **Macros** take values and names: a parameter can be a label (also one that the macro defines), an
//!   enumerator or a shader register.
//! * **`for i in 0..8 { .. }`**, **`repeat n { .. }`**, **`if a == b { .. } else { .. }`** work at any level.
//!   A `const` inside a macro or loop stays inside.
//! * Labels may be used before they are defined. Comments run from `//` or `;` to the end of the line.

pub mod ast;
mod diagnostic;
mod emit;
mod grammar;
pub mod pack;
mod print;
mod ranges;

pub use diagnostic::{Diagnostic, Reason};
pub use print::{Disassembly, Rest, disassemble, disassemble_into};

/// Limits for assembling a source. A loop of one line can ask for years of work, or for any size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Steps of work in all passes together. A step is about one token or 16 bytes.
    pub steps: u64,
    /// Steps that are added for each byte of a source.
    pub steps_per_byte: u64,
    /// Largest section, in bytes.
    pub section: usize,
    /// Largest number of passes until the addresses of labels no longer change.
    pub passes: usize,
}

impl Default for Bounds {
    /// Limits that allow some seconds of work, and sections as large as a capture can hold.
    fn default() -> Self {
        Self {
            steps: 1 << 26,
            steps_per_byte: 16,
            section: crate::adreno::capture::MAX_PAYLOAD as usize,
            passes: 8,
        }
    }
}

impl Bounds {
    /// Limits of `steps` steps, independent of the size of the source.
    pub fn of_steps(steps: u64) -> Self {
        Self { steps, steps_per_byte: 0, ..Self::default() }
    }
}

/// Address of the first buffer without an address of its own.
pub const DEFAULT_ORIGIN: u64 = 0x1000_0000;
/// Bytes of an address record with a high half.
pub const WIDE_RECORD: usize = 12;
/// Bytes of an address record of an old recorder.
pub const NARROW_RECORD: usize = 8;

/// A picture: rows of RGBA, 8 bits each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// 4 * width * height bytes.
    pub rgba: Vec<u8>,
}

/// Why a file cannot be read, in one line.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct FileError(pub String);

/// Access to the files that a source names.
pub trait Files {
    /// The name of the file that `path` refers to in the file called `from`. Two paths with one resolved name
    /// are one file.
    fn resolve(&mut self, from: &str, path: &str) -> String;

    /// The text of the file called `name`.
    ///
    /// # Errors
    /// The file cannot be read.
    fn text(&mut self, name: &str) -> Result<String, FileError>;

    /// The picture in the file called `name`.
    ///
    /// # Errors
    /// The picture cannot be read.
    fn image(&mut self, name: &str) -> Result<Image, FileError>;
}

/// Assembles `text`, the source called `name`, into a capture.
///
/// # Errors
/// The first error in the source and its position, or that the source exceeds `bounds`.
pub fn assemble(
    name: &str,
    text: &str,
    files: &mut dyn Files,
    bounds: Bounds,
) -> Result<Vec<u8>, Box<Diagnostic>> {
    emit::assemble(name, text, files, bounds)
}

/// Parses a source into statements without evaluating them. A program that changes sources works on them.
///
/// # Errors
/// The position in the text called `name` at which parsing failed, and what was expected there.
pub fn parse(name: &str, text: &str) -> Result<ast::Block, Box<Diagnostic>> {
    emit::parse(name, text)
}

/// Assembles `block` into a capture. `block` has the statements of the source called `name`; their spans
/// point into `text`.
///
/// # Errors
/// The first error and its position in `text`.
pub fn assemble_block(
    name: &str,
    text: &str,
    block: ast::Block,
    files: &mut dyn Files,
    bounds: Bounds,
) -> Result<Vec<u8>, Box<Diagnostic>> {
    emit::assemble_block(name, text, block, files, bounds)
}
