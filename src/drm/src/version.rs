//! The ioctls of every DRM driver: version and capabilities.

use rustix::io::Errno;

use crate::device::Call;
use crate::ffi::user;
use crate::uapi::{self, cap};

/// Version of the implemented msm interface, which is that of Linux 5.18 to 6.0. It has fence descriptors,
/// submit queues, GPU addresses by `GEM_INFO` ("softpin") and names.
const VERSION: (i32, i32, i32) = (1, 9, 0);

/// `DRM_IOCTL_VERSION`.
///
/// # Errors
/// The call fails with `EFAULT`.
pub fn version(_: &Call, version: &mut uapi::Version) -> Result<(), Errno> {
    (version.major, version.minor, version.patchlevel) = VERSION;
    text(version.name, &mut version.name_len, "msm")?;
    text(version.date, &mut version.date_len, "20130625")?;
    text(version.desc, &mut version.desc_len, "MSM Snapdragon DRM")
}

/// Copies as much of `text` as fits, and stores its full length.
fn text(address: u64, len: &mut u64, text: &str) -> Result<(), Errno> {
    let fits = text.len().min(usize::try_from(*len).unwrap_or(usize::MAX));
    *len = text.len() as u64;
    if address == 0 { Ok(()) } else { user::write_bytes(address, &text.as_bytes()[..fits]) }
}

/// `DRM_IOCTL_GET_CAP`.
///
/// # Errors
/// The call fails with `EINVAL` for a display capability or an unknown one.
pub fn get_cap(_: &Call, get: &mut uapi::GetCap) -> Result<(), Errno> {
    get.value = match get.capability {
        // Both import and export are supported.
        cap::PRIME => 3,
        cap::TIMESTAMP_MONOTONIC | cap::SYNCOBJ | cap::SYNCOBJ_TIMELINE => 1,
        _ => return Err(Errno::INVAL),
    };
    Ok(())
}
