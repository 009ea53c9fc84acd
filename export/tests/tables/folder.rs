//! The folder of the tables: which partitions are added, skipped and replaced, and that their bytes do not
//! depend on threads or parts.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use libtest_mimic::Trial;
use tempfile::TempDir;

use crate::{export, root, tessellated, trial};

const CAPTURES: [&str; 4] = ["cube", "compute", "xfb", "triangle"];

/// A folder with a subfolder `corpus` of a few captures.
fn corpus() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("corpus")).unwrap();
    for name in CAPTURES {
        let name = format!("{name}.rd.gz");
        fs::copy(root().join("captures").join(&name), folder.path().join("corpus").join(name)).unwrap();
    }
    tessellated("tess-gs", &folder.path().join("corpus/tess.rd"));
    folder
}

/// Path and bytes of all files in and below `folder`.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        match path.is_dir() {
            true => {
                all.extend(files(&path).into_iter().map(|(below, bytes)| (format!("{name}/{below}"), bytes)))
            }
            false => drop(all.insert(name, fs::read(path).unwrap())),
        }
    }
    all
}

fn said(folder: &Path, args: &[&str]) -> String {
    let output = export(folder, args).assert().success().get_output().clone();
    String::from_utf8(output.stderr).unwrap()
}

fn same_bytes_for_any_threads_and_parts() {
    let folder = corpus();
    let folder = folder.path();
    said(folder, &["corpus", "--parquet", "one", "--threads", "1"]);
    said(folder, &["corpus", "--parquet", "many", "--threads", "4"]);
    for part in ["0/3", "1/3", "2/3"] {
        said(folder, &["corpus", "--parquet", "parts", "--shard", part]);
    }
    let one = files(&folder.join("one"));
    assert_eq!(one.len(), 2 + 9 * (CAPTURES.len() + 1), "{:?}", one.keys());
    assert_eq!(one, files(&folder.join("many")));
    assert_eq!(one, files(&folder.join("parts")));
}

fn existing_partitions_are_skipped_unless_replaced() {
    let folder = corpus();
    let folder = folder.path();
    let args = ["corpus", "--parquet", "tables"];
    assert!(said(folder, &args).ends_with("5 captures taken, 0 already there\n"));
    let before = files(&folder.join("tables"));
    let capture = before.keys().find(|name| name.ends_with("/draws.parquet")).unwrap();
    fs::write(folder.join("tables").join(capture), "another").unwrap();
    // A copy under another name adds no partition.
    fs::copy(folder.join("corpus/cube.rd.gz"), folder.join("corpus/later.rd.gz")).unwrap();
    assert!(said(folder, &args).ends_with("0 captures taken, 5 already there\n"));
    assert_eq!(files(&folder.join("tables"))[capture], b"another");
    assert!(
        said(folder, &[&args[..], &["--replace"]].concat()).ends_with("5 captures taken, 0 already there\n")
    );
    assert_eq!(files(&folder.join("tables")), before);
}

fn a_damaged_capture_has_what_could_be_read() {
    let folder = corpus();
    let folder = folder.path();
    let whole = fs::read(folder.join("corpus/tess.rd")).unwrap();
    fs::write(folder.join("cut.rd"), &whole[..whole.len() - 3]).unwrap();
    fs::write(folder.join("none.rd"), "no sections").unwrap();
    let args = ["cut.rd", "none.rd", "nowhere.rd", "corpus", "--parquet", "tables"];
    let output = export(folder, &args).assert().code(3).get_output().clone();
    let words = String::from_utf8(output.stderr).unwrap();
    assert!(words.contains("a4emu: cut.rd: ") && words.contains("a4emu: nowhere.rd: "), "{words}");
    assert!(words.contains("a4emu: none.rd: "), "{words}");
    let files = files(&folder.join("tables"));
    assert_eq!(files.len(), 2 + 9 * (CAPTURES.len() + 3), "{:?}", files.keys());
}

fn stdin_is_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let output = export(folder.path(), &["-", "--parquet", "tables"]).assert().code(2).get_output().clone();
    assert!(String::from_utf8(output.stderr).unwrap().contains("stdin is none"));
}

/// All tests of this file.
pub fn trials() -> Vec<Trial> {
    let all: [(&str, fn()); 4] = [
        ("same bytes for any threads and parts", same_bytes_for_any_threads_and_parts),
        ("existing partitions are skipped unless replaced", existing_partitions_are_skipped_unless_replaced),
        ("a damaged capture has what could be read", a_damaged_capture_has_what_could_be_read),
        ("stdin is no file", stdin_is_no_file),
    ];
    all.into_iter().map(trial).collect()
}
