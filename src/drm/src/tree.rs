//! The files through which libdrm finds a device: `/dev/dri`, and the parts of `/sys` that describe it. They
//! are ordinary files and links in a folder of the temporary directory, and the hooks redirect their paths
//! to it.
//!
//! Inside the process, the folder replaces the machine's own `/dev/dri`, so that the program does not use
//! another GPU.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use a4emu_process::folder;
use rustix::fs::Access;
use rustix::io::Errno;

use crate::ffi::{Inode, room, signals};
use crate::{refusal, settings};

/// File name of the render node.
pub const NODE: &str = "renderD128";
/// Major device number of the render node.
pub const MAJOR: u32 = 226;
/// Minor device number of the render node.
pub const MINOR: u32 = 128;

/// File name of the KGSL device.
pub const KGSL: &str = "kgsl-3d0";
/// Device number of the KGSL device. The kernel gives it any free one.
pub const KGSL_NUMBER: (u32, u32) = (234, 0);

/// Paths of the KGSL device, which only chips from the A6xx on have.
const KGSL_PREFIXES: [&str; 2] = ["/dev/kgsl-3d0", "/sys/class/kgsl"];
/// Paths that are redirected to the tree, with everything below them.
const PREFIXES: [&str; 3] = ["/dev/dri", "/sys/class/drm", "/sys/devices/platform/a4emu.gpu"];
/// Devices by number. Every DRM minor is redirected, so that only this device is found.
const BY_NUMBER: &str = "/sys/dev/char/226:";

/// The device's folder, from the root of the tree.
const DEVICE: &str = "sys/devices/platform/a4emu.gpu";

struct Tree {
    root: PathBuf,
    node: Inode,
    /// The stand-in for the KGSL device.
    kgsl: Option<Inode>,
    /// The folder of a tree for this process only, and the process that made it.
    own: Option<(PathBuf, u32)>,
}

static TREE: OnceLock<Option<Tree>> = OnceLock::new();

/// The tree's root, if `path` is redirected: the new path is the root followed by `path`. For other paths,
/// the call neither locks nor allocates.
pub fn root_for(path: &[u8]) -> Option<&'static [u8]> {
    let below = |prefixes: &[&str]| prefixes.iter().any(|prefix| is_below(path, prefix));
    let ours =
        path.starts_with(BY_NUMBER.as_bytes()) || below(&PREFIXES) || below(&KGSL_PREFIXES) && has_kgsl();
    let tree = ours.then(tree).flatten()?;
    if rustix::fs::access(&tree.root, Access::EXISTS) == Err(Errno::NOENT) {
        refusal::tell_ended();
    }
    Some(tree.root.as_os_str().as_encoded_bytes())
}

fn is_below(path: &[u8], prefix: &str) -> bool {
    let rest = path.strip_prefix(prefix.as_bytes());
    rest.is_some_and(|rest| rest.first().is_none_or(|next| *next == b'/'))
}

/// The part of the path `bytes` after the tree's root, if it is in the tree.
pub fn without_root(bytes: &[u8]) -> Option<&[u8]> {
    let tree = TREE.get()?.as_ref()?;
    let rest = bytes.strip_prefix(tree.root.as_os_str().as_encoded_bytes())?;
    rest.starts_with(b"/").then_some(rest)
}

/// Whether the chip has a KGSL device here.
fn has_kgsl() -> bool {
    settings::get().chip.is_some_and(|chip| chip.generation().number >= 6)
}

/// Whether `inode` is the file that stands in for the KGSL device.
pub fn is_kgsl(inode: Inode) -> bool {
    TREE.get().and_then(Option::as_ref).is_some_and(|tree| tree.kgsl == Some(inode))
}

/// Whether `inode` is the file that stands in for the node.
pub fn is_node(inode: Inode) -> bool {
    TREE.get().and_then(Option::as_ref).is_some_and(|tree| tree.node == inode)
}

fn tree() -> Option<&'static Tree> {
    let create = || {
        let _writes = signals::keep_from_writes();
        room::check().inspect_err(|errno| refusal::tell_no_room(*errno)).ok()?;
        let made = match &settings::get().folder {
            Some(folder) if !folder.exists() => {
                refusal::tell_ended();
                return None;
            }
            Some(folder) => Tree::new(folder),
            None => own_tree(),
        };
        made.inspect_err(refusal::tell_no_files).ok()
    };
    TREE.get_or_init(create).as_ref()
}

/// Makes a tree for this process only, which is removed at exit.
fn own_tree() -> io::Result<Tree> {
    let folder = folder::make()?.keep();
    crate::ffi::process::at_exit();
    Ok(Tree { own: Some((folder.clone(), std::process::id())), ..Tree::new(&folder)? })
}

/// Removes the folder, if it is for this process only.
pub fn remove_own() {
    let own = TREE.get().and_then(Option::as_ref).and_then(|tree| tree.own.as_ref());
    if let Some((folder, maker)) = own
        && *maker == std::process::id()
    {
        let _ = fs::remove_dir_all(folder);
    }
}

impl Tree {
    /// Makes or opens the tree in `folder`. Several processes may do so at once.
    fn new(folder: &Path) -> io::Result<Self> {
        let root = folder.join("tree");
        if !root.exists() {
            let draft = folder.join(format!("draft.{}", std::process::id()));
            build(&draft)?;
            if has_kgsl() {
                build_kgsl(&draft)?;
            }
            if let Err(error) = fs::rename(&draft, &root) {
                fs::remove_dir_all(&draft)?;
                // Another process may have made it.
                if !root.exists() {
                    return Err(error);
                }
            }
        }
        let root = root.canonicalize()?;
        let inode = |path: &Path| {
            let found = fs::symlink_metadata(root.join(path))?;
            io::Result::Ok(Inode { device: found.dev(), number: found.ino() })
        };
        let node = inode(&Path::new("dev/dri").join(NODE))?;
        let kgsl = inode(&Path::new("dev").join(KGSL)).ok();
        Ok(Self { root, node, kgsl, own: None })
    }
}

/// Makes all files and links below `root`.
fn build(root: &Path) -> io::Result<()> {
    let number = format!("{MAJOR}:{MINOR}");
    let minor = format!("{DEVICE}/drm/{NODE}");
    for folder in ["dev/dri", &minor, "sys/dev/char", "sys/class/drm", "sys/bus/platform/drivers/msm"] {
        fs::create_dir_all(root.join(folder))?;
    }
    let file = |path: &str, text: &str| fs::write(root.join(path), text);
    let link = |path: &str, target: &str| symlink(target, root.join(path));
    file(&format!("dev/dri/{NODE}"), "")?;
    file(
        &format!("{minor}/uevent"),
        &format!("MAJOR={MAJOR}\nMINOR={MINOR}\nDEVNAME=dri/{NODE}\nDEVTYPE=drm_minor\n"),
    )?;
    file(&format!("{minor}/dev"), &format!("{number}\n"))?;
    file(&format!("{DEVICE}/uevent"), &device_uevent())?;
    link(&format!("{minor}/device"), "../../../a4emu.gpu")?;
    link(&format!("{minor}/subsystem"), "../../../../../class/drm")?;
    link(&format!("{DEVICE}/subsystem"), "../../../bus/platform")?;
    link(&format!("{DEVICE}/driver"), "../../../bus/platform/drivers/msm")?;
    link(&format!("sys/dev/char/{number}"), &format!("../../devices/platform/a4emu.gpu/drm/{NODE}"))?;
    link(&format!("sys/class/drm/{NODE}"), &format!("../../devices/platform/a4emu.gpu/drm/{NODE}"))
}

/// Makes the files of the KGSL device below `root`.
///
/// tinygrad's profiler wants the idle timer to be the greatest number that the kernel knows.
fn build_kgsl(root: &Path) -> io::Result<()> {
    let folder = root.join("sys/class/kgsl").join(KGSL);
    fs::create_dir_all(&folder)?;
    fs::write(root.join("dev").join(KGSL), "")?;
    fs::write(folder.join("idle_timer"), "4294967276\n")?;
    let chip = settings::get().chip.map_or(0, |chip| chip.id);
    fs::write(folder.join("gpu_model"), format!("Adreno{chip}\n"))
}

/// The description of the GPU on the platform bus: of an APQ8084, or of an SDM845 (sdm845.dtsi of the kernel).
fn device_uevent() -> String {
    let (place, chip) =
        if has_kgsl() { ("soc@0/gpu@5000000", "630.2") } else { ("soc/gpu@fdb00000", "420.0") };
    let lines = [
        "DRIVER=msm",
        "OF_NAME=gpu",
        &format!("OF_FULLNAME=/{place}"),
        &format!("OF_COMPATIBLE_0=qcom,adreno-{chip}"),
        "OF_COMPATIBLE_1=qcom,adreno",
        "OF_COMPATIBLE_N=2",
        &format!("MODALIAS=of:NgpuT(null)Cqcom,adreno-{chip}Cqcom,adreno"),
    ];
    lines.map(|line| format!("{line}\n")).concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_devices_lead_into_the_tree() {
        assert!(is_below(b"/dev/dri", "/dev/dri") && is_below(b"/dev/dri/card0", "/dev/dri"));
        assert!(!is_below(b"/dev/drill", "/dev/dri") && !is_below(b"/dev", "/dev/dri"));
        assert_eq!(root_for(b"/dev/null"), None);
    }

    #[test]
    fn links_lead_where_libdrm_follows_them() {
        let folder = folder::make().unwrap();
        let tree = Tree::new(folder.path()).unwrap();
        let device = tree.root.join("sys/dev/char/226:128/device");
        assert!(device.join("drm").join(NODE).is_dir());
        assert!(device.join("subsystem").canonicalize().unwrap().ends_with("sys/bus/platform"));
        assert!(fs::read_to_string(device.join("uevent")).unwrap().contains("OF_COMPATIBLE_N=2"));
        assert_eq!(device.canonicalize().unwrap(), tree.root.join(DEVICE));
    }
}
