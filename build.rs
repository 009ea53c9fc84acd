//! Which commit a release is made of, for `--version`: that which A4EMU_COMMIT names, or the checkout's;
//! none in a tarball. Other builds do not say, so that a commit does not make them build again.

use std::env;
use std::process::Command;

fn git(arguments: &[&str]) -> Option<String> {
    let output =
        Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (!text.is_empty()).then_some(text)
}

fn main() {
    println!("cargo::rerun-if-env-changed=A4EMU_COMMIT");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=A4EMU_TARGET={}", env::var("TARGET").unwrap_or_default());
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let ours = || git(&["ls-files", "--error-unmatch", "build.rs"]);
    let checkout = is_release.then(ours).flatten().and_then(|_| {
        let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
        println!("cargo::rerun-if-changed={log}");
        git(&["rev-parse", "--short=12", "HEAD"])
    });
    if let Some(commit) = env::var("A4EMU_COMMIT").ok().or(checkout) {
        println!("cargo::rustc-env=A4EMU_COMMIT={commit}");
    }
}
