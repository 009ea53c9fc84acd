//! Properties of the chip: `MSM_GET_PARAM` and `MSM_SET_PARAM`.

use std::sync::OnceLock;
use std::time::Instant;

use a4emu_gpu::gpu::Chip;
use rustix::io::Errno;

use crate::device::Call;
use crate::ffi::user;
use crate::settings;
use crate::uapi::{self, param};

/// Clock of the GPU in Hz (that of an APQ8084), which is the unit of time stamps.
const FREQUENCY: u64 = 600_000_000;
/// Clock of an A630 in Hz (that of an SDM845), and its unit of time stamps: the counter that is always on.
const FREQUENCIES_A6XX: (u64, u64) = (710_000_000, 19_200_000);
/// Bit of an address up to which banks are swizzled, levels of swizzling and mode of macrotiles of an A630 (the
/// kernel's a6xx_gpu.c, `a6xx_calc_ubwc_config`).
const LAYOUT_A630: (u64, u64, u64) = (15, 6, 0);
/// Address of tile memory in the kernel, for every chip before the A6xx.
const GMEM_BASE: u64 = 0x10_0000;
/// Number of priority levels: three for each ring, and this chip has one ring.
pub const PRIORITIES: u32 = 3;
/// Maximum length of a process name or command line.
const MAX_TEXT: u32 = 4096;

/// `chip`'s id in the kernel's form: core, major, minor, patch level, a byte each.
///
/// Patch levels: the A420's is not known to matter; A430 as in
/// docs/hardware/capture-format.md, section 2.1.
pub fn chip_id(chip: Chip) -> u32 {
    let digit = |place: u32| (chip.id / place % 10) as u8;
    chip.row().map_or_else(|| u32::from_be_bytes([digit(100), digit(10), digit(1), 0]), |row| row.chip_id)
}

fn check(request: &uapi::Param) -> Result<(), Errno> {
    if request.pipe == uapi::PIPE_3D0 && request.pad == 0 { Ok(()) } else { Err(Errno::INVAL) }
}

/// `MSM_GET_PARAM`.
///
/// # Errors
/// The call fails with `EINVAL` for another pipe, and for a feature that this chip lacks: an address space
/// for each process. It fails with `ENOENT` for the layout of compressed surfaces, which came with the A5xx.
/// Source: adreno_get_param of the kernel, with the patches of April 2026.
pub fn get(call: &Call, get: &mut uapi::Param) -> Result<(), Errno> {
    check(get)?;
    let chip = call.device.chip;
    get.value = match get.param {
        param::GPU_ID => u64::from(chip.id),
        param::GMEM_SIZE => chip.gmem_bytes() as u64,
        param::CHIP_ID => u64::from(chip_id(chip)),
        param::MAX_FREQ => frequencies().0,
        param::TIMESTAMP => timestamp(),
        param::GMEM_BASE => GMEM_BASE,
        param::PRIORITIES => u64::from(PRIORITIES),
        param::FAULTS => call.device.state().ring.hangs,
        param::PP_PGTABLE | param::SUSPENDS => 0,
        param::RAYTRACING | param::UCHE_TRAP_BASE | param::HAS_PRR | param::AQE => 0,
        param::HIGHEST_BANK_BIT | param::UBWC_SWIZZLE | param::MACROTILE_MODE if !is_a6xx(chip) => {
            return Err(Errno::NOENT);
        }
        param::HIGHEST_BANK_BIT => LAYOUT_A630.0,
        param::UBWC_SWIZZLE => LAYOUT_A630.1,
        param::MACROTILE_MODE => LAYOUT_A630.2,
        _ => return Err(Errno::INVAL),
    };
    Ok(())
}

fn is_a6xx(chip: Chip) -> bool {
    chip.generation().number == 6
}

/// Clock of the chip, and its unit of time stamps, in Hz.
fn frequencies() -> (u64, u64) {
    let is_a6xx = settings::get().chip.is_some_and(is_a6xx);
    if is_a6xx { FREQUENCIES_A6XX } else { (FREQUENCY, FREQUENCY) }
}

/// Clock ticks since the first call. The counter starts anew when the chip wakes. The driver's nanoseconds
/// (`ticks * 10^9 / frequency`) overflow half a minute later.
pub fn timestamp() -> u64 {
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    let nanoseconds = BEGIN.get_or_init(Instant::now).elapsed().as_nanos();
    (nanoseconds * u128::from(frequencies().1) / 1_000_000_000) as u64
}

/// `MSM_SET_PARAM`.
///
/// # Errors
/// The call fails with `EINVAL` or `EFAULT`, and with `EPERM` for a parameter that only an administrator may
/// set.
pub fn set(_: &Call, set: &mut uapi::Param) -> Result<(), Errno> {
    check(set)?;
    match set.param {
        param::COMM | param::CMDLINE if set.len > MAX_TEXT => Err(Errno::INVAL),
        // The kernel uses the text in crash dumps. There are none here, but the pointer must be valid.
        param::COMM | param::CMDLINE => user::read_array::<u8>(set.value, set.len, MAX_TEXT).map(|_| ()),
        param::SYSPROF => Err(Errno::PERM),
        _ => Err(Errno::INVAL),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chip_ids() {
        assert_eq!(chip_id(Chip { id: 420 }), 0x0402_0000);
        assert_eq!(chip_id(Chip { id: 430 }), 0x0403_0002);
        assert_eq!(chip_id(Chip { id: 630 }), 0x0603_0001);
    }
}
