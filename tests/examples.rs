//! The examples of the library do what the pages say.

use std::process::Command;

use pretty_assertions::assert_eq;
use serde_json::Value;

#[path = "../examples/hash_every_draw.rs"]
mod hash_every_draw;

/// The hashes of the example are those that `corpus run --draws` records, in any schedule of the work.
#[test]
fn hashes_of_draws_are_those_of_a_corpus() {
    let folder = tempfile::tempdir().unwrap();
    let captures = folder.path().join("captures");
    std::fs::create_dir(&captures).unwrap();
    let capture = captures.join("cube.rd.gz");
    std::fs::copy(crate::captures::own("cube"), &capture).unwrap();
    for option in [&[][..], &["--reference"]] {
        let run = folder.path().join(format!("run{}", option.len()));
        let mut command = Command::new(env!("CARGO_BIN_EXE_a4emu"));
        command
            .args(["corpus", "run"])
            .arg(&captures)
            .arg("-o")
            .arg(&run)
            .args(["--draws", "-q"])
            .args(option);
        assert!(command.output().unwrap().status.success());
        let text = std::fs::read_to_string(run.join("results.jsonl")).unwrap();
        let row = text.lines().find(|line| line.contains("draw_hashes")).unwrap_or_else(|| panic!("{text}"));
        let row: Value = serde_json::from_str(row).unwrap();
        let recorded = row["played"]["draw_hashes"].as_array().unwrap_or_else(|| panic!("{row}"));
        let recorded: Vec<(u64, u64, &str)> = recorded
            .iter()
            .map(|it| {
                (
                    it["draw"].as_u64().unwrap(),
                    it["frame_draw"].as_u64().unwrap(),
                    it["hash"].as_str().unwrap(),
                )
            })
            .collect();
        let ours = hash_every_draw::hashes(&capture).unwrap().list;
        let ours: Vec<(u64, u64, String)> = ours
            .into_iter()
            .map(|(draw, frame, hash)| (draw.into(), frame.into(), format!("{hash:032x}")))
            .collect();
        let ours: Vec<(u64, u64, &str)> =
            ours.iter().map(|(draw, frame, hash)| (*draw, *frame, &**hash)).collect();
        assert_eq!(ours, recorded);
        assert!(ours.len() > 3 && ours[0].2 != ours[1].2);
    }
}
