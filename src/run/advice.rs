//! How to get a Mesa with freedreno on a system. Where the distribution's packages have the driver, the advice
//! names them, because they are the shortest way; elsewhere `scripts/mesa` builds it.
//!
//! docs/installation.md has the same rows, with what was tried.

use std::env::consts::ARCH;
use std::fs;

/// The loaders of OpenGL and the drivers, as Debian and Ubuntu name the packages.
const APT: &str = "libgl1-mesa-dri libegl1 libgles2 libgl1";
/// The loaders of OpenGL and the drivers, as Fedora names the packages.
const DNF: &str = "mesa-dri-drivers mesa-libEGL mesa-libGL libglvnd-gles";

/// The advice for this system.
pub fn for_this_system() -> String {
    // By its manual page, os-release is in one of these two places; the first one counts.
    let places = ["/etc/os-release", "/usr/lib/os-release"];
    let text = places.iter().find_map(|place| fs::read_to_string(place).ok()).unwrap_or_default();
    advice(&text, ARCH)
}

/// The advice for a system with this os-release file and this processor architecture.
fn advice(os_release: &str, architecture: &str) -> String {
    let field = |name: &str| {
        let value = os_release.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        value.unwrap_or_default().trim().trim_matches(['"', '\'']).to_owned()
    };
    let name = Some(field("PRETTY_NAME")).filter(|name| !name.is_empty());
    let name = name.unwrap_or_else(|| "this system".to_owned());
    // Releases that are not out yet, and those of Arch, have no number.
    let version = field("VERSION_ID").parse().unwrap_or(f32::INFINITY);
    let arch = field("ID_LIKE").split(' ').any(|like| like == "arch");
    match (field("ID").as_str(), architecture) {
        // Debian builds freedreno for ARM in all releases, for PCs since Mesa 26.1.4.
        ("debian", "aarch64") => packages(&name, "apt-get install", APT),
        ("debian", _) if version > 13.0 => packages(&name, "apt-get install", APT),
        ("debian", _) if version == 13.0 => {
            let install = "enable the suite trixie-backports, then apt-get install -t trixie-backports";
            packages(&name, install, APT)
        }
        // Ubuntu 26.10 is the first that has 26.1.4 or later.
        ("ubuntu", _) if version > 26.09 => packages(&name, "apt-get install", APT),
        ("fedora", _) if version >= 43.0 => packages(&name, "dnf install", DNF),
        ("arch", _) => packages(&name, "pacman -S", "mesa libglvnd"),
        (_, _) if arch => packages(&name, "pacman -S", "mesa libglvnd"),
        ("debian" | "ubuntu", _) => format!("the packages of {name} lack the driver: {BUILD}"),
        (_, _) => format!(
            "it is not known whether the packages of {name} have the driver: {BUILD}, from Mesa's source, which \
             --source names"
        ),
    }
}

/// The way where there is no package.
const BUILD: &str = "build it with scripts/mesa of a4emu's checkout";

fn packages(name: &str, install: &str, packages: &str) -> String {
    format!("the packages of {name} have the driver: {install} {packages}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEBIAN: &str = "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nNAME=\"Debian GNU/Linux\"\n\
                          VERSION_ID=\"12\"\nVERSION_CODENAME=bookworm\nID=debian\n";

    #[test]
    fn debian_12_builds_the_driver_and_later_releases_install_packages() {
        let pc = |text: &str| advice(text, "x86_64");
        assert!(pc(DEBIAN).starts_with("the packages of Debian GNU/Linux 12 (bookworm) lack the driver"));
        assert!(pc(DEBIAN).contains("scripts/mesa"));
        let trixie = pc(&DEBIAN.replace("12", "13"));
        assert!(trixie.contains("apt-get install -t trixie-backports libgl1-mesa-dri "), "{trixie}");
        // Testing and unstable have no VERSION_ID.
        let sid = pc("PRETTY_NAME=\"Debian GNU/Linux forky/sid\"\nID=debian\nVERSION_CODENAME=forky\n");
        assert!(sid.contains("driver: apt-get install libgl1-mesa-dri "), "{sid}");
    }

    #[test]
    fn debian_for_arm_has_the_driver_in_each_release() {
        let arm = advice(DEBIAN, "aarch64");
        assert!(arm.contains("driver: apt-get install libgl1-mesa-dri "), "{arm}");
    }

    #[test]
    fn each_distribution_gets_its_own_command() {
        let cases = [
            ("ID=ubuntu\nVERSION_ID=\"24.04\"\n", "lack the driver: build it with scripts/mesa"),
            ("ID=ubuntu\nVERSION_ID=\"26.10\"\n", "driver: apt-get install libgl1-mesa-dri "),
            ("ID=fedora\nVERSION_ID=43\n", "driver: dnf install mesa-dri-drivers "),
            ("ID=fedora\nVERSION_ID=40\n", "not known"),
            ("ID=arch\nBUILD_ID=rolling\n", "driver: pacman -S mesa "),
            ("ID=manjaro\nID_LIKE=arch\n", "driver: pacman -S mesa "),
            ("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\nVERSION_ID=\"22\"\n", "not known"),
            ("", "the packages of this system"),
        ];
        for (text, part) in cases {
            let advice = advice(text, "x86_64");
            assert!(advice.contains(part), "{text}{advice}");
            assert_eq!(advice.lines().count(), 1);
        }
    }
}
