//! The ioctls that every DRM driver has: who are you, what can you do.

use rustix::io::Errno;

use crate::device::Call;
use crate::ffi::user;
use crate::uapi::{self, cap};

/// Version of the msm interface that we speak: with fence descriptors, submit queues, GPU
/// addresses by `GEM_INFO` ("softpin") and names; as of Linux 5.18 to 6.0.
const VERSION: (i32, i32, i32) = (1, 9, 0);

/// `DRM_IOCTL_VERSION`.
///
/// # Errors
/// `EFAULT`.
pub fn version(_: &Call, version: &mut uapi::Version) -> Result<(), Errno> {
    (version.major, version.minor, version.patchlevel) = VERSION;
    text(version.name, &mut version.name_len, "msm")?;
    text(version.date, &mut version.date_len, "20130625")?;
    text(version.desc, &mut version.desc_len, "MSM Snapdragon DRM")
}

/// Copies what fits of `text`, says how long all of it is.
fn text(address: u64, len: &mut u64, text: &str) -> Result<(), Errno> {
    let fits = text.len().min(usize::try_from(*len).unwrap_or(usize::MAX));
    *len = text.len() as u64;
    if address == 0 { Ok(()) } else { user::write_bytes(address, &text.as_bytes()[..fits]) }
}

/// `DRM_IOCTL_GET_CAP`.
///
/// # Errors
/// `EINVAL` for a capability of displays or one that nobody knows.
pub fn get_cap(_: &Call, get: &mut uapi::GetCap) -> Result<(), Errno> {
    get.value = match get.capability {
        // Import and export.
        cap::PRIME => 3,
        cap::TIMESTAMP_MONOTONIC | cap::SYNCOBJ | cap::SYNCOBJ_TIMELINE => 1,
        _ => return Err(Errno::INVAL),
    };
    Ok(())
}
