//! The account that a replay prints on stderr: the draws, the resources, the time, and further commands.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use a4emu_gpu::draw::rb::rendered::{Content, Written};
use a4emu_gpu::gpu::Gpu;
use a4emu_support::terminal::Shown;

/// The account of a finished run.
pub struct Account<'a> {
    /// Path of the capture.
    pub capture: &'a Path,
    /// The chip after the run.
    pub gpu: &'a Gpu,
    /// Submits that ran.
    pub submits: usize,
    /// Duration of the run.
    pub time: Duration,
}

impl fmt::Display for Account<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { gpu, capture, submits, time } = self;
        let (stats, seconds) = (gpu.pipeline.stats, time.as_secs_f64());
        let name = Shown(capture.display());
        let (chip, threads) = (gpu.chip.id, rayon::current_num_threads());
        writeln!(
            f,
            "{name}: {} draws, {} frame draws in {submits} submits on an A{chip}: {} primitives, {} pixels, \
             {} warp instructions",
            stats.draws, gpu.at.frame_draw, stats.primitives, stats.pixels, stats.instructions
        )?;
        writeln!(f, "  {seconds:.3} s with {threads} threads and {}", crate::cli::lanes())?;
        self.picture(f)?;
        writeln!(f, "  look at: --png FILE, --out DIR, --list-draws, --stats;")?;
        write!(f, "  a4emu show {name}, show {name} --draw N, pixel {name} X,Y, report {name} -o FRAME.html")
    }
}

impl Account<'_> {
    fn picture(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let surfaces = &self.gpu.pipeline.surfaces;
        let (count, last) = (surfaces.iter().count(), surfaces.last_color());
        match last {
            None => writeln!(f, "  {count} surfaces, none of them colour"),
            Some(Written { width, height, format, address, draw, content: Content::Color, .. }) => writeln!(
                f,
                "  {count} surfaces, the last of them {width}x{height} {format:?} at {address:#010x}, by draw {draw}"
            ),
            Some(_) => Ok(()),
        }
    }
}
