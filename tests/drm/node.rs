//! The device node and queries, before the device is used.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};

use crate::client::*;
use crate::{with_device, with_variables};

#[test]
fn enumeration() {
    with_device("node::enumeration", || {
        let names: Vec<_> =
            fs::read_dir("/dev/dri").unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["renderD128"]);
        for metadata in [fs::metadata("/dev/dri/renderD128").unwrap(), open().metadata().unwrap()] {
            assert!(metadata.file_type().is_char_device());
            assert_eq!(metadata.rdev(), libc::makedev(226, 128));
        }
        let device = "/sys/dev/char/226:128/device";
        assert!(fs::metadata(format!("{device}/drm")).unwrap().is_dir());
        assert!(fs::read_link(format!("{device}/subsystem")).unwrap().ends_with("bus/platform"));
        assert_eq!(fs::canonicalize(device).unwrap().to_str(), Some("/sys/devices/platform/a4emu.gpu"));
        assert!(
            fs::read_to_string(format!("{device}/uevent")).unwrap().contains("OF_COMPATIBLE_0=qcom,adreno")
        );
        let minor = fs::read_to_string("/sys/dev/char/226:128/uevent").unwrap();
        assert!(minor.contains("DEVNAME=dri/renderD128"));
        assert!(fs::metadata("/sys/dev/char/226:0").is_err(), "no primary node");
    });
}

#[test]
fn version_names_msm() {
    with_device("node::version_names_msm", || {
        let (node, mut name) = (open(), [0u8; 8]);
        // Major and minor version, patch level, then length and address of three texts.
        let mut version = [0u64, 0, name.len() as u64, name.as_mut_ptr() as u64, 0, 0, 0, 0];
        ioctl(&node, VERSION, &mut version).unwrap();
        assert_eq!((version[0] as u32, &name[..4]), (1, &b"msm\0"[..]));
        assert_eq!((version[2], version[0] >> 32 >= 4), (3, true), "softpin came with 1.4");
    });
}

fn param(which: u64) -> Result<u64, i32> {
    let mut get = [which << 32 | u64::from(PIPE_3D0), 0, 0];
    ioctl(&open(), GET_PARAM, &mut get).map(|()| get[1])
}

#[test]
fn the_chip_is_an_a420() {
    with_device("node::the_chip_is_an_a420", || {
        assert_eq!([param(1), param(2), param(3)], [Ok(420), Ok(0x18_0000), Ok(0x0402_0000)]);
        assert!(param(5).unwrap() < param(5).unwrap() && param(4).unwrap() > 0, "time passes");
        assert_eq!(
            [param(0xe), param(0x16)],
            [Err(libc::EINVAL); 2],
            "all processes share one address space"
        );
        assert_eq!([0x10, 0x12, 0x13].map(param), [Err(libc::ENOENT); 3], "no compressed surfaces");
        assert_eq!([0x11, 0x14, 0x15, 0x17].map(param), [Ok(0); 4]);
        assert_eq!(ioctl(&open(), GET_PARAM, &mut [1u64 << 32 | 1, 0, 0]), Err(libc::EINVAL), "no 2D pipe");
    });
}

#[test]
fn the_chip_is_an_a430_on_request() {
    with_variables("node::the_chip_is_an_a430_on_request", &[("A4EMU_GPU", "430")], || {
        assert_eq!([param(1), param(3)], [Ok(430), Ok(0x0403_0002)]);
    });
}

/// The variables of Mesa's shims, which are told by them alone.
#[test]
fn the_chip_is_an_a405_for_a_shim_of_mesa() {
    with_variables("node::the_chip_is_an_a405_for_a_shim_of_mesa", &[("FD_GPU_ID", "405")], || {
        assert_eq!([param(1), param(3)], [Ok(405), Ok(0x0400_0500)]);
    });
}

/// What freedreno, turnip and rusticl ask of an A6xx: its number, tile memory and id, and the layout of surfaces.
#[test]
fn the_chip_is_an_a630_for_a_shim_of_mesa() {
    with_variables("node::the_chip_is_an_a630_for_a_shim_of_mesa", &[("FD_GPU_ID", "630")], || {
        assert_eq!([1, 2, 3].map(param), [Ok(630), Ok(1 << 20), Ok(0x0603_0001)]);
        assert_eq!([16, 18, 19].map(param), [Ok(15), Ok(6), Ok(0)]);
    });
}

#[test]
fn a_shim_of_another_generation_is_no_device() {
    with_variables("node::a_shim_of_another_generation_is_no_device", &[("FD_GPU_ID", "530")], || {
        let error = fs::File::open("/dev/dri/renderD128").unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENODEV));
    });
}

#[test]
fn other_files_are_untouched() {
    with_device("node::other_files_are_untouched", || {
        let _node = open();
        let path = std::env::temp_dir().join(format!("a4emu-test.{}", std::process::id()));
        fs::write(&path, "text").unwrap();
        let file = fs::File::open(&path).unwrap();
        assert!(file.metadata().unwrap().is_file() && fs::metadata("/dev/null").unwrap().rdev() != 0);
        assert_eq!(ioctl(&file, GEM_NEW, &mut [4096u64, 0]), Err(libc::ENOTTY));
        let map =
            Mapping::new(&fs::OpenOptions::new().read(true).write(true).open(&path).unwrap(), 4, 0).unwrap();
        assert_eq!(map.get(0).to_le_bytes(), *b"text");
        assert_eq!(fs::canonicalize(&path).unwrap(), path.canonicalize().unwrap());
        fs::remove_file(&path).unwrap();
    });
}

#[test]
fn unsupported_ioctls_return_errors() {
    with_device("node::unsupported_ioctls_return_errors", || {
        let node = open();
        assert_eq!(ioctl(&node, GEM_FLINK, &mut [1u32, 0]), Err(libc::EACCES), "not on a render node");
        assert_eq!(ioctl(&node, 3 << 30 | 8 << 16 | 0x64 << 8 | 0x9f, &mut [0u64]), Err(libc::EINVAL));
        assert_eq!(ioctl_nowhere(&node, GEM_NEW), Some(libc::EFAULT));
        assert_eq!(ioctl(&node, GET_CAP, &mut [5u64, 0]), Ok(()));
        assert_eq!(ioctl(&node, GET_CAP, &mut [1u64, 0]), Err(libc::EINVAL), "no dumb buffers");
    });
}
