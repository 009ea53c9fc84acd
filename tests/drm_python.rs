//! Python on the virtual device. `subprocess.run` closes descriptors in a child of `vfork`, which runs in its
//! parent's memory. Without Python the test is ignored with a message.

use std::path::PathBuf;
use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};

/// Opens the device, starts children in four ways, and uses the device after each.
const PROGRAM: &str = r#"
import fcntl, os, struct, subprocess
node = os.open('/dev/dri/renderD128', os.O_RDWR)
def new():
    argument = bytearray(struct.pack('<QII', 4096, 0x20000, 0))
    fcntl.ioctl(node, 0xc0106442, argument, True)
    return struct.unpack('<QII', argument)[2]
handles = [new()]
subprocess.run(['true'], close_fds=True)
handles.append(new())
subprocess.run(['true'], close_fds=False)
handles.append(new())
os.system('true')
handles.append(new())
os.waitpid(os.posix_spawnp('true', ['true'], dict(os.environ), file_actions=[(os.POSIX_SPAWN_CLOSE, node)]), 0)
handles.append(new())
print(handles)
"#;

fn library() -> PathBuf {
    let tests = std::env::current_exe().expect("a path").parent().expect("a folder").to_path_buf();
    let places = [tests.clone(), tests.join("..")].map(|folder| folder.join("liba4emu_drm.so"));
    places.into_iter().find(|place| place.exists()).expect("liba4emu_drm.so is built with the tests")
}

fn children() -> Result<(), Failed> {
    for _ in 0..2 {
        let program = "ulimit -v 8388608 && LD_PRELOAD=$1 exec timeout 60 python3 -c \"$2\"";
        let mut command = Command::new("sh");
        let output = command.args(["-c", program, "sh"]).arg(library()).arg(PROGRAM).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        if text.trim() != "[1, 2, 3, 4, 5]" {
            return Err(format!("{text}{}", String::from_utf8_lossy(&output.stderr)).into());
        }
    }
    Ok(())
}

fn main() {
    let python = Command::new("python3").arg("--version").output().is_ok();
    let ci = std::env::var("CI").is_ok_and(|value| value == "true");
    let name = if python { "children" } else { "children (no python3: apt-get install python3)" };
    // Under CI the test fails instead, because ignored tests are easily missed there.
    let trial = Trial::test(name, children).with_ignored_flag(!python && !ci);
    libtest_mimic::run(&Arguments::from_args(), vec![trial]).exit();
}
