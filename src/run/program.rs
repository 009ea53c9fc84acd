//! Inspects a program before it is started: whether the device's library can be preloaded into it.
//!
//! Source: the ELF specification and `ld.so(8)`, `execve(2)`. glibc ignores `LD_PRELOAD` in secure mode.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::process::{getgid, getuid};

/// Maximum depth of scripts that are interpreters of scripts, as in Linux.
const SCRIPTS: usize = 5;

/// The relevant properties of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// Path of the file, if it was found.
    pub path: Option<PathBuf>,
    /// Reason why the device cannot be preloaded, if any.
    pub refuses: Option<String>,
    /// A library that has to be preloaded before the device.
    pub before: Option<String>,
}

impl Program {
    /// Inspects the program that `name` starts.
    pub fn find(name: &OsStr) -> Self {
        let Some(path) = place(name, env::var_os("PATH").as_deref()) else { return Self::default() };
        Self { path: Some(path.clone()), ..Self::at(&path, SCRIPTS) }
    }

    fn at(path: &Path, scripts: usize) -> Self {
        let Ok(file) = File::open(path) else { return Self::default() };
        if let Some(interpreter) = interpreter(&file).filter(|_| scripts > 0) {
            return Self::at(&interpreter, scripts - 1);
        }
        let name = path.display();
        let elf = Elf::of(&file);
        let why = match &elf {
            Some(Err(what)) => Some(*what),
            Some(Ok(elf)) if elf.is_static() && !is_loader(path) => Some("is statically linked"),
            _ if file.metadata().is_ok_and(|it| is_secure(path, &it)) => {
                Some("gets rights that you do not have")
            }
            _ => None,
        };
        let refuses =
            why.map(|why| format!("{name} {why}: the device's library cannot be preloaded into it"));
        let needed = elf.and_then(Result::ok).map(|elf| elf.needed()).unwrap_or_default();
        Self { path: None, refuses, before: needed.into_iter().find(|it| it.starts_with("libasan.so")) }
    }
}

/// The file that `execvp` finds for a program.
fn place(name: &OsStr, path: Option<&OsStr>) -> Option<PathBuf> {
    if name.as_bytes().contains(&b'/') {
        return Some(name.into()).filter(|path: &PathBuf| path.is_file());
    }
    let default = OsString::from("/bin:/usr/bin");
    let runs = |path: &PathBuf| {
        fs::metadata(path).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
    };
    env::split_paths(path.unwrap_or(&default)).map(|folder| folder.join(name)).find(runs)
}

/// The interpreter in the first line of a script.
fn interpreter(file: &File) -> Option<PathBuf> {
    let mut bytes = [0; 256];
    let read = file.read_at(&mut bytes, 0).ok()?;
    let line = bytes[..read].strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let name = line.split(|byte| b" \t".contains(byte)).find(|word| !word.is_empty())?;
    Some(PathBuf::from(OsStr::from_bytes(name)))
}

/// Whether the file is the dynamic loader. It is static, but preloads libraries for its program.
fn is_loader(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name.as_bytes().starts_with(b"ld-") || name.as_bytes().starts_with(b"ld."))
}

/// Whether the program gets more rights than its user has.
fn is_secure(path: &Path, metadata: &Metadata) -> bool {
    let (mode, root) = (metadata.mode(), getuid().is_root());
    let other_user = mode & 0o4000 != 0 && metadata.uid() != getuid().as_raw();
    let other_group = mode & 0o2010 == 0o2010 && metadata.gid() != getgid().as_raw();
    let capable = || rustix::fs::getxattr(path, "security.capability", &mut [0u8; 64][..]).is_ok();
    other_user || other_group || (!root && capable())
}

/// An ELF program for this machine.
struct Elf<'f> {
    file: &'f File,
    segments: Vec<Segment>,
}

/// A segment in the program's table.
struct Segment {
    kind: u32,
    offset: u64,
    address: u64,
    size: u64,
}

/// `PT_LOAD`.
const LOAD: u32 = 1;
/// `PT_DYNAMIC`.
const DYNAMIC: u32 = 2;
/// `PT_INTERP`.
const INTERPRETER: u32 = 3;
/// `DT_NEEDED`.
const NEEDED: u64 = 1;
/// `DT_STRTAB`.
const NAMES: u64 = 5;
/// Size of the file's header in bytes.
const HEADER: usize = 64;
/// Size of a row of the segment table in bytes.
const ROW: usize = 56;
/// Maximum number of bytes of a table or name that are read.
const MOST: usize = 1 << 16;

/// `e_machine` of this launcher's processor.
const MACHINE: u16 = if cfg!(target_arch = "aarch64") { 183 } else { 62 };

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// Reads bytes of `file`, as many as exist.
fn part(file: &File, offset: u64, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len.min(MOST)];
    let read = file.read_at(&mut bytes, offset).unwrap_or(0);
    bytes.truncate(read);
    bytes
}

impl<'f> Elf<'f> {
    /// Reads the ELF headers of `file`. The error describes a program of another machine. `None` if it is no
    /// ELF file.
    fn of(file: &'f File) -> Option<Result<Self, &'static str>> {
        let header = part(file, 0, HEADER);
        if !header.starts_with(b"\x7fELF") {
            return None;
        }
        if header.get(4) != Some(&2) {
            return Some(Err("is a 32-bit program"));
        }
        if half(&header, 18)? != MACHINE {
            return Some(Err("is a program of another processor"));
        }
        let table = part(file, long(&header, 32)?, usize::from(half(&header, 56)?) * ROW);
        let segment = |row: &[u8]| {
            let kind = half(row, 0)?.into();
            Some(Segment { kind, offset: long(row, 8)?, address: long(row, 16)?, size: long(row, 32)? })
        };
        Some(Ok(Self { file, segments: table.chunks_exact(ROW).filter_map(segment).collect() }))
    }

    fn segment(&self, kind: u32) -> Option<&Segment> {
        self.segments.iter().find(|segment| segment.kind == kind)
    }

    /// Whether the program starts without a loader. Then nothing can be preloaded.
    fn is_static(&self) -> bool {
        self.segment(INTERPRETER).is_none()
    }

    /// The libraries that the program needs.
    fn needed(&self) -> Vec<String> {
        let table =
            self.segment(DYNAMIC).map(|it| part(self.file, it.offset, it.size as usize)).unwrap_or_default();
        let rows: Vec<(u64, u64)> =
            table.chunks_exact(16).filter_map(|row| Some((long(row, 0)?, long(row, 8)?))).collect();
        let names = rows.iter().find(|(tag, _)| *tag == NAMES).and_then(|(_, address)| self.offset(*address));
        let name = |at: u64| {
            let bytes = part(self.file, names?.checked_add(at)?, 256);
            Some(String::from_utf8_lossy(bytes.split(|byte| *byte == 0).next()?).into_owned())
        };
        rows.iter().filter(|(tag, _)| *tag == NEEDED).filter_map(|(_, at)| name(*at)).collect()
    }

    /// The file offset of an address.
    fn offset(&self, address: u64) -> Option<u64> {
        let far = |segment: &Segment| address.checked_sub(segment.address).filter(|far| *far < segment.size);
        let loads = self.segments.iter().filter(|segment| segment.kind == LOAD);
        let (far, segment) = loads.filter_map(|segment| Some((far(segment)?, segment))).next()?;
        segment.offset.checked_add(far)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes an ELF file of `bits` (1: 32, 2: 64) with these kinds of segments, all empty.
    fn elf(bits: u8, kinds: &[u32]) -> Vec<u8> {
        let mut bytes = vec![0x7f, b'E', b'L', b'F', bits, 1, 1];
        bytes.resize(HEADER, 0);
        bytes[18..20].copy_from_slice(&MACHINE.to_le_bytes());
        bytes[32..40].copy_from_slice(&(HEADER as u64).to_le_bytes());
        bytes[56..58].copy_from_slice(&(kinds.len() as u16).to_le_bytes());
        for kind in kinds {
            let row = bytes.len();
            bytes.resize(row + ROW, 0);
            bytes[row..row + 4].copy_from_slice(&kind.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn programs_that_cannot_preload_a_library_are_detected() {
        let folder = tempfile::tempdir().unwrap();
        let refusal = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            fs::write(&path, bytes).unwrap();
            Program::find(path.as_os_str()).refuses.unwrap_or_default()
        };
        assert!(refusal("static", &elf(2, &[LOAD, DYNAMIC])).contains("static is statically linked: "));
        assert!(refusal("small", &elf(1, &[INTERPRETER])).contains("small is a 32-bit program: "));
        let mut other = elf(2, &[INTERPRETER]);
        other[18] = 8;
        assert!(refusal("mips", &other).contains("mips is a program of another processor"));
        let script = format!("#! {}/static -x\n", folder.path().display());
        assert!(refusal("script", script.as_bytes()).contains("static is statically linked"));
        let endless = format!("#!{}/endless\n", folder.path().display());
        for (name, bytes) in [
            ("dynamic", &elf(2, &[LOAD, INTERPRETER, DYNAMIC])[..]),
            ("ld-linux.so.2", &elf(2, &[LOAD])),
            ("cut", b"\x7fELF\x02"),
            ("text", b"echo"),
            ("endless", endless.as_bytes()),
        ] {
            assert_eq!(refusal(name, bytes), "", "{name}");
        }
    }

    #[test]
    fn rights_of_others_are_known_by_owner_and_mode() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        fs::write(&path, "").unwrap();
        let is_secure = |mode| {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            is_secure(&path, &fs::metadata(&path).unwrap())
        };
        assert!(!is_secure(0o4755), "it is ours");
        if getuid().is_root() {
            std::os::unix::fs::chown(&path, Some(12345), Some(12345)).unwrap();
            assert_eq!([0o755, 0o4755, 0o2755, 0o2745].map(is_secure), [false, true, true, false]);
        }
    }

    #[test]
    fn programs_are_found_as_the_shell_finds_them_with_the_libraries_that_they_name() {
        assert_eq!(place("sh".as_ref(), Some("/nowhere:/bin".as_ref())), Some("/bin/sh".into()));
        assert_eq!([place("no-such".as_ref(), None), place("./no-such".as_ref(), None)], [None, None]);
        let own = env::current_exe().unwrap();
        let file = File::open(own).unwrap();
        let elf = Elf::of(&file).unwrap().unwrap();
        assert!(elf.needed().iter().any(|library| library.starts_with("libc.so")), "{:?}", elf.needed());
    }
}
