//! The guesses: facts about the chip that the emulator assumes without a source.
//!
//! `docs/guesses.md` is made from this table. Code that rests on a row names it by id in a comment (``guess
//! `nan-compare` ``), and a run counts the rows it used. Registers and fields with an inferred name or place
//! are not listed here: their own rows carry the mark ([`crate::bits::Certainty`]).

use std::fmt;

/// How certain a guess is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confidence {
    /// Follows from a known fact about this chip or its relatives.
    Inferred,
    /// What other implementations do, or the simplest behaviour that works.
    Guess,
}

impl fmt::Display for Confidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Inferred => "inferred",
            Self::Guess => "guess",
        })
    }
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Identifier of the row, in lower case with hyphens.
    pub id: &'static str,
    /// How certain the guess is.
    pub confidence: Confidence,
    /// The behaviour of the emulator.
    pub says: &'static str,
    /// The reason for this behaviour.
    pub because: &'static str,
    /// A test or source that would settle the question.
    pub settles: &'static str,
    /// When a run counts as resting on the guess.
    pub counts: &'static str,
}

macro_rules! guesses {
    ($($name:ident $id:literal $confidence:ident { says: $says:literal, because: $because:literal,
       settles: $settles:literal, counts: $counts:literal })*) => {
        /// A row of the table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Guess {
            $(#[doc = $says] $name,)*
        }

        impl Guess {
            /// All rows, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The texts of the row.
            pub const fn row(self) -> Row {
                match self {
                    $(Self::$name => Row {
                        id: $id, confidence: Confidence::$confidence, says: $says, because: $because,
                        settles: $settles, counts: $counts,
                    },)*
                }
            }
        }
    };
}

impl Guess {
    /// The row with this id.
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|guess| guess.row().id == id)
    }
}

guesses! {
    MadRoundsTwice "mad-rounds-twice" Guess {
        says: "mad.f32 and mad.f16 round the product before they add",
        because: "llvmpipe and softpipe do",
        settles: "mad.f32 of operands for which both ways differ, on an A420",
        counts: "a mad whose result would be another if it rounded once"
    }
    NanMinMax "nan-min-max" Guess {
        says: "min.f and max.f return the other source for a NaN",
        because: "IEEE 754's minNum and maxNum",
        settles: "min.f of a NaN on an A420",
        counts: "one of them had a NaN"
    }
    NanSaturate "nan-saturate" Guess {
        says: "(sat) makes 0 of a NaN",
        because: "Direct3D asks for it",
        settles: "a saturated NaN on an A420",
        counts: "a NaN was saturated"
    }
    NanCompare "nan-compare" Guess {
        says: "compares with a NaN are false, but for ne",
        because: "IEEE 754, and GL wants it",
        settles: "cmps.f with NaN on an A420",
        counts: "cmps.f had a NaN"
    }
    Denormals "denormals" Guess {
        says: "a denormal f32 source is zero to compares and operations of one source, itself to add, mul, mad, min and max; results keep them",
        because: "piglit shows the first on relatives; the rest shows only behind a product with a huge number",
        settles: "add.f of denormals on an A420",
        counts: "an operation on floats had a denormal source"
    }
    HalfRounding "half-rounding" Guess {
        says: "results of half precision are rounded to nearest even from f32, and denormals kept",
        because: "IEEE 754",
        settles: "add.f of half registers whose sum is a tie, on an A420",
        counts: "a result was no half-precision number before it was rounded"
    }
    CovHalfTruncates "cov-half-truncates" Guess {
        says: "cov.f32f16 without a rounding goes toward zero",
        because: "the open compiler uses this form where the API asks for truncation; on a board, tinygrad finds its products of f16 imprecise (pull request 6353)",
        settles: "cov.f32f16 of 1.0009 on an A420",
        counts: "one whose result would be another to nearest even"
    }
    CovIntegerRounds "cov-integer-rounds" Guess {
        says: "a rounding on a conversion from float to integer replaces truncation",
        because: "it does so for float results",
        settles: "such a cov of 1.5 on an A420",
        counts: "one ran"
    }
    SpecialFunctions "special-functions" Guess {
        says: "rcp and sqrt are IEEE's; rsq is within 1.5 ulp, log2, exp2, sin and cos within 1",
        because: "the chip's error is not published; exactness is the same on every machine",
        settles: "the functions over all of their range on an A420",
        counts: "one ran"
    }
    SatIgnored "sat-ignored" Guess {
        says: "(sat) on integer operations other than add, sub and mul does nothing",
        because: "no compiler sets it",
        settles: "such an instruction on an A420",
        counts: "one ran"
    }
    UnusedOps "unused-ops" Guess {
        says: "sel.s, sel.f, sad, msad, madsh.u16, mgen.b, shb, getbit.b and cmpv do what their names suggest",
        because: "nothing is published and no open compiler emits them",
        settles: "each on an A420",
        counts: "one ran"
    }
    RelativeOutside "relative-outside" Guess {
        says: "a register or constant that a0.x puts outside of its file reads 0, and writes to it are lost",
        because: "it harms nobody",
        settles: "such an access on an A420",
        counts: "one was made"
    }
    PrimitiveInputs "primitive-inputs" Inferred {
        says: "in the local memory that geometry and hull shaders read, an attribute is four output locations of the stage before. A primitive takes no more than its attributes need",
        because: "the vendor's streams fit it (docs/hardware/geometry-and-tessellation.md, section 1.2)",
        settles: "a vendor stream with packed varyings",
        counts: "a geometry or hull shader ran"
    }
    InputsOutside "inputs-outside" Guess {
        says: "local memory outside of the primitive's inputs reads 0",
        because: "on the chip it is what was there before. GL's tests read nothing there that shows",
        settles: "nothing: it is not defined",
        counts: "a geometry or hull shader read there"
    }
    GeometryKill "geometry-kill" Guess {
        says: "the run of a geometry shader that kills makes a vertex if it wrote its position before",
        because: "both forms of the vendor's shaders work so. GL cannot tell whether any run that kills makes a vertex. Nine cases of dEQP rule out that each does, with Mesa's form of shaders (conformance/mesa/geometry-and-tessellation)",
        settles: "a kill in the first run, before and after the position is written, on a chip",
        counts: "a geometry shader ran"
    }
    LayerVertex "layer-vertex" Guess {
        says: "the provoking vertex names the layer and the viewport of a primitive",
        because: "GL leaves it open, and GL's tests cannot tell (conformance/mesa/geometry-and-tessellation)",
        settles: "a vendor's board with vertices that differ",
        counts: "a primitive chose its layer or viewport"
    }
    LayerStride "layer-stride" Inferred {
        says: "layers of a target follow each other after as many rows as RB_FRAME_BUFFER_DIMENSION has",
        because: "no register is known that says more",
        settles: "a vendor stream that draws to a layered target",
        counts: "a primitive chose its layer"
    }
    PatchNumber "patch-number" Inferred {
        says: "the patch number of a hull shader counts on over instances",
        because: "each patch needs a place of its own for its factors. Settled by GL if hull shaders of all instances run first: five tests of piglit (primitiveid-instanced) fail where it begins anew",
        settles: "a vendor stream with instanced patches",
        counts: "patches were drawn instanced"
    }
    GlobalIndex "global-index" Guess {
        says: "A6xx: the index of ldg.a and stg.a is signed, and its shift does not apply to the offset",
        because: "the text of Mesa's disassembler has the offset behind the shift; nothing says more",
        settles: "a load with the index -1 on an A630",
        counts: "one of them ran"
    }
    GroupConstant "group-constant" Guess {
        says: "A6xx: WGIDCONSTID below r48.x names a constant",
        because: "the name of the field. Mesa's compiler puts the number of the group to r48.x",
        settles: "a dispatch with WGIDCONSTID below r48.x on an A630",
        counts: "a dispatch had it"
    }
    WaveOutside "wave-outside" Guess {
        says: "A6xx: shfl of a lane outside the wave, and quad_shuffle of one that does not run, leave the destination as it is",
        because: "shfl does so for a lane that does not run (Mesa: ir3_lower_subgroups.c). APIs leave the others open",
        settles: "shfl.up by 1 in all lanes, and quad_shuffle in odd ones alone, on an A630",
        counts: "shfl, but not rup or rdown, or quad_shuffle, ran"
    }
    TessellatorConnects "tessellator-connects" Guess {
        says: "domain points connect as Direct3D 11 says",
        because: "other implementations do. GL's tests cannot tell: with the other diagonals the same ones pass (conformance/mesa/geometry-and-tessellation)",
        settles: "a vendor's picture of a coarse wire frame",
        counts: "a patch was tessellated"
    }
    TessellationMode "tessellation-mode" Inferred {
        says: "bits 24:20 of the draw initiator are domain and enable, 4 more when a geometry shader runs too",
        because: "the four values that are known, and the A5xx",
        settles: "a vendor capture with both",
        counts: "patches were drawn with a geometry shader"
    }
    VertexReuse "vertex-reuse" Inferred {
        says: "VTXCNT counts shaded vertices, from 0 in each instance. An index among the last sixteen is not shaded again (--model strict-gl: each entry of the list is)",
        because: "the 28 results of transform feedback that fail on a board, and only there (docs/hardware/board-a420.md, B1, B2); sixteen is usual",
        settles: "stores of a sentinel-filled buffer for 0,1,3,1,2,3, for 0..31,0 and for three instances, on a chip",
        counts: "a vertex shader took the running vertex number"
    }
    StreamOut "stream-out" Inferred {
        says: "the stream-out registers of the VPC: their places, and that offsets advance at once",
        because: "the A5xx, and one public name (docs/hardware/registers.md, section 9.3)",
        settles: "a vendor stream with transform feedback",
        counts: "stream-out was on"
    }
    FillRule "fill-rule" Guess {
        says: "positions are snapped to 1/256 pixel; a centre on a top or left edge is inside",
        because: "GL's usual rule; reference pictures agree",
        settles: "triangles with vertices at 1/512 pixel on a chip",
        counts: "a primitive reached the rasteriser"
    }
    PlanePrecision "plane-precision" Guess {
        says: "the planes of weights count from the screen's first pixel (--model strict-gl: the primitive's), that of depth from the primitive's. Slopes are rounded once and all else is binary32",
        because: "the form of the reference rasterisers; the origin of weights is what 40 results of a board leave over (docs/hardware/board-a420.md, B5)",
        settles: "one quad whose varying is stored as a float, at many positions of the screen",
        counts: "fragments had varyings or a depth"
    }
    SideClipping "side-clipping" Inferred {
        says: "points are dropped by their centre and lines cut by their axis at the sides of the view volume. What is left may reach beyond (--model strict-gl: cut to the viewport's pixels)",
        because: "wide points and lines that a board leaves out (docs/hardware/board-a420.md, B7); what reaches beyond cannot be seen there",
        settles: "points and lines at 0.99 and 1.01 in a viewport smaller than its target, on a chip",
        counts: "a point or a line reached the rasteriser"
    }
    LineShape "line-shape" Guess {
        says: "lines cover what GL's basic rasterisation covers",
        because: "the chip's own is not documented",
        settles: "pictures of lines from a chip",
        counts: "a line reached the rasteriser"
    }
    RectangleVaryings "rectangle-varyings" Guess {
        says: "a rectangle of two corners varies to the right in x and even components, down in y and odd ones",
        because: "restores send (s, t) pairs",
        settles: "a stream with other varyings on a rectangle",
        counts: "one had more than two components"
    }
    SamplePlaces "sample-places" Inferred {
        says: "two samples of a pixel lie at (4, 4) and (-4, -4) sixteenths from its centre. Four lie at (-2, -6), (6, -2), (-6, 2) and (2, 6)",
        because: "Direct3D 11, which the chip supports, asks for these; a rasteriser told of one sample looks at the centre for all",
        settles: "edges at every sixteenth of a pixel with each bit of SAMPLE_MASK, on an A420",
        counts: "a draw had targets with several samples"
    }
    SampleLayout "sample-layout" Inferred {
        says: "the samples of a pixel follow each other in tile memory, memory and textures",
        because: "RB_MRT_CONTROL3.STRIDE is the pitch times bytes times samples, and the layouts of A5xx and A6xx count samples into the bytes of a pixel",
        settles: "a target of four samples copied without resolving, on an A420",
        counts: "a draw had targets with several samples, or read such a texture"
    }
    SampleShading "sample-shading" Inferred {
        says: "a shader that is given a sample number, or barycentrics at a sample, runs for each covered sample, its position being the sample's",
        because: "no register says so otherwise; HLSQ_CONTROL_4_REG is said to differ for shading by sample",
        settles: "a shader that counts its runs into memory, on an A420",
        counts: "such a shader drew to targets with several samples"
    }
    CentroidPlace "centroid-place" Guess {
        says: "the centroid is the centre if all samples are covered, else the first covered sample",
        because: "Direct3D allows it, and it is simple",
        settles: "barycentrics at the centroid along edges, on an A420",
        counts: "a shader with such inputs drew to targets with several samples"
    }
    AlphaCoverage "alpha-coverage" Guess {
        says: "alpha as coverage leaves the first samples, as many as are nearest to their share, the same at every pixel",
        because: "GL leaves the pattern open",
        settles: "a ramp of alpha on an A420",
        counts: "alpha was coverage"
    }
    MaskOutput "mask-output" Inferred {
        says: "SP_FS_OUTPUT_REG.SAMPLEMASK_REGID counts with several samples, unless it is r0.x or r63.x",
        because: "open drivers write r0.x there and mean nothing",
        settles: "a shader with gl_SampleMask from the vendor's driver",
        counts: "a shader's mask left samples out"
    }
    ResolveAverage "resolve-average" Guess {
        says: "a copy that resolves averages stored colours in binary32, also those of sRGB, and takes the first sample of integers and depth",
        because: "the register that A3xx has for sRGB has no name on A4xx; GL asks for one sample of the others",
        settles: "such copies on an A420",
        counts: "one ran"
    }
    CopySamples "copy-samples" Guess {
        says: "a copy that resolves none copies all samples that RB_MSAA_CONTROL names",
        because: "else targets with samples could not leave tile memory",
        settles: "such a copy on an A420",
        counts: "one ran"
    }
    DitherMatrix "dither-matrix" Guess {
        says: "dithering rounds linear normalised colours by the 4x4 Bayer matrix, the same for all components; other formats are not dithered",
        because: "the chip's pattern is not public, and this is the usual one",
        settles: "a ramp drawn to 565 on an A420",
        counts: "a target was dithered"
    }
    DitherAlpha "dither-alpha" Guess {
        says: "DITHER_IF_ALPHA_OFF dithers targets that are not blended",
        because: "its name",
        settles: "a ramp with it, blended and not, on an A420",
        counts: "a target had it"
    }
    TileOrder "tile-order" Guess {
        says: "TILE4_3, and a texture with TILED, is squares of 4x4 pixels, TILE4_2 of 32x32. Squares follow row by row, and so do the pixels in them. No bank is swapped, and levels are of whole squares",
        because: "A3xx's modes of 4x4 for textures and 32x32 for tile memory are named so; A5xx has textures in mode 3",
        settles: "a texture of the vendor's driver with numbered texels, read as a buffer",
        counts: "a tiled surface in memory was drawn or copied to, or sampled"
    }
    BlendPrecision "blend-precision" Guess {
        says: "blending is done in binary32 and rounded once to the target",
        because: "the chip's precision is not documented",
        settles: "a blended gradient from a chip",
        counts: "a target was blended"
    }
    BlendConstant "blend-constant" Inferred {
        says: "unorm targets of less than 8 bits take UINT of RB_BLEND_*. Those of 10 and 16 bits, snorm of 16 bits and R11G11B10 take the half",
        because: "A3xx has UINT and the half alone. Mesa 81b16350fa says that snorm of 16 bits takes a float. Counters name blenders of 8 and of 16 bits",
        settles: "a blended pixel of each format with four copies that differ, on an A420",
        counts: "such a target was blended with the constant"
    }
    FormatRounding "format-rounding" Guess {
        says: "colours are rounded to their format as src/shader/format/convert.rs lists",
        because: "GL's rules, and the reference rasterisers'",
        settles: "a ramp stored to each format by a chip",
        counts: "a target was of another format than 32-bit numbers"
    }
    IntegerSaturates "integer-saturates" Guess {
        says: "an integer too large for its target becomes the target's largest",
        because: "GL leaves it open",
        settles: "such a store by a chip",
        counts: "a target was of integers below 32 bits"
    }
    SwapUnfit "swap-unfit" Guess {
        says: "a swap that moves a component to a place that the format does not have changes nothing",
        because: "drivers write one only in placeholders",
        settles: "such a target on a chip",
        counts: "never: such a format is a placeholder's"
    }
    LuminanceAlpha "luminance-alpha" Guess {
        says: "the texture format named L8A8 is 8 bits of luminance, then 8 of alpha",
        because: "its name; no driver writes it",
        settles: "such a texture on a chip",
        counts: "one was sampled"
    }
    FilterPrecision "filter-precision" Guess {
        says: "coordinates are cut to 1/256 of a texel (--model strict-gl: not), and textures filtered in binary32, x before y before z before level",
        because: "no Adreno gives back a texture drawn 1:1 (docs/hardware/board-a420.md, B6), and 8 bits are usual; the reference rasterisers filter so",
        settles: "a ramp of two texels at 4096 positions, on a chip",
        counts: "a texture was filtered linearly"
    }
    SliceQuarter "slice-quarter" Inferred {
        says: "a slice of a 3D level takes a quarter of the bytes of the level before it (--model strict-gl: its rows)",
        because: "of the sums that have a board fail three tests and no other it is the simplest (docs/hardware/board-a420.md, B4)",
        settles: "a texel of every slice of 3D textures from 1 to 98 texels wide, on a chip",
        counts: "a 3D texture with levels was read"
    }
    AstcHdr "astc-hdr" Guess {
        says: "HDR blocks of ASTC are decoded, not in sRGB textures (--model strict-gl: the error colour)",
        because: "a board does not give the error colour (docs/hardware/board-a420.md, B12)",
        settles: "a texel of each HDR mode, on a chip",
        counts: "an ASTC texture was read"
    }
    LevelOfDetail "level-of-detail" Guess {
        says: "the level of detail is the logarithm of the largest single derivative, along each pixel's own row and column in its quad. It is rounded to the nearest 1/256 (--model strict-gl: not rounded)",
        because: "softpipe and llvmpipe take the largest. With one pair of derivatives a quad, tests fail that pass on a board (docs/hardware/board-a420.md, D9). With the length of the gradient they would pass too. The level's limits, its bias and what getlod answers have 8 fraction bits",
        settles: "levels in different colours, on a chip, and how many shades there are between two of them",
        counts: "a texture with several levels was sampled"
    }
    AnisotropyLinear "anisotropy-linear" Guess {
        says: "anisotropic filtering is linear filtering",
        because: "the chip's pattern is not known",
        settles: "pictures from a chip",
        counts: "a sampler asked for it"
    }
    CubeSeams "cube-seams" Guess {
        says: "seamless cube maps filter across edges and average three texels at corners",
        because: "it is the usual way",
        settles: "the corner of a cube map on a chip",
        counts: "a cube map was filtered linearly"
    }
    WrapUnnamed "wrap-unnamed" Guess {
        says: "wrap modes without a name repeat",
        because: "no driver writes them",
        settles: "such a sampler on a chip",
        counts: "a sampler had one"
    }
    TexelOutside "texel-outside" Guess {
        says: "A4xx: fetches outside of a texture give a texel of zeros, in which a component that the format lacks is as it is inside. A level that does not exist has size 0",
        because: "an A630 does so: dEQP-VK.robustness passes on it. GL leaves it open",
        settles: "isam and getsize outside, on an A4xx",
        counts: "a texel was fetched by number, or a size asked for"
    }
    ConditionalBuffer "conditional-buffer" Guess {
        says: "CP_COND_INDIRECT_BUFFER_PFD and _PFE hold a flag, an address and a size, and are always taken",
        because: "nobody has published the condition",
        settles: "a vendor capture with one",
        counts: "one ran"
    }
    DrawAuto "draw-auto" Guess {
        says: "CP_DRAW_AUTO has the layout of later chips with addresses of one dword",
        because: "kgsl says which dwords are addresses",
        settles: "a vendor capture with one",
        counts: "one ran"
    }
    DrawPredicate "draw-predicate" Guess {
        says: "the address in CP_DRAW_PRED_SET is one dword",
        because: "every address of an A4xx packet is",
        settles: "a vendor capture with conditional rendering",
        counts: "one ran"
    }
    FirstIndex "first-index" Guess {
        says: "FIRST_INDX of CP_DRAW_INDX_OFFSET counts indices from the buffer's base",
        because: "its name; Mesa always writes 0",
        settles: "a vendor capture with another value",
        counts: "a draw had one that is not 0"
    }
    IndirectBase "indirect-base" Guess {
        says: "first vertex and first instance of an indirect draw replace VFD_INDEX_OFFSET and the register behind it",
        because: "Mesa writes both to 0 before such draws",
        settles: "an indirect draw with the registers set",
        counts: "an indirect draw had one that is not 0"
    }
    OldInstances "old-instances" Guess {
        says: "0 instances in the draw initiator of CP_DRAW_INDX mean one",
        because: "there was a time before instancing",
        settles: "a vendor capture with such a draw",
        counts: "one ran"
    }
    GroupsOnce "groups-once" Guess {
        says: "a group of draw state runs for the next draw alone",
        because: "Mesa's decoder drops them too",
        settles: "a blob's capture with a group set once before two draws that differ elsewhere",
        counts: "one ran"
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ids_are_words_with_hyphens_and_occur_once() {
        let ids: BTreeSet<_> = Guess::ALL.iter().map(|guess| guess.row().id).collect();
        assert_eq!(ids.len(), Guess::ALL.len());
        assert!(ids.iter().all(|id| id.chars().all(|c| c.is_ascii_lowercase() || c == '-')));
        assert!(Guess::ALL.iter().all(|guess| Guess::from_id(guess.row().id) == Some(*guess)));
        assert_eq!(Guess::from_id("nan"), None);
    }
}
