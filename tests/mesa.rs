//! Programs on the real driver. The tests need a Mesa with freedreno (`scripts/mesa`), and some need an X
//! server and VirtualGL. If one is missing, the test is ignored and its name contains the reason.

use std::error::Error;
use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Failed, Trial};

/// Number of frames in the run that is replayed.
const FRAMES: usize = 30;
/// Time limit until a program's window shows a picture.
const PATIENCE: Duration = Duration::from_secs(120);

type Outcome = Result<(), Failed>;

/// The folder in which cargo puts the tests.
fn tests() -> PathBuf {
    std::env::current_exe().expect("a path").parent().expect("a folder").to_path_buf()
}

/// The library that cargo builds beside the tests.
fn library() -> PathBuf {
    let places = [tests(), tests().join("..")].map(|folder| folder.join("liba4emu_drm.so"));
    places.into_iter().find(|place| place.exists()).expect("it is built with the tests")
}

/// The launcher, with the library of this build.
fn a4emu(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_a4emu"));
    command.args(arguments).env("A4EMU_LIBRARY", library());
    command
}

fn succeeded(output: &Output) -> Result<String, Failed> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(format!("{}: {}{}", output.status, text(&output.stdout), text(&output.stderr)).into()),
    }
}

fn tree() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn triangle() -> PathBuf {
    tree().join("scripts/triangle")
}

fn a_triangle_on_both_chips() -> Outcome {
    for gpu in ["420", "430"] {
        let output = a4emu(&["run", "--gpu", gpu, "--"]).arg(triangle()).output()?;
        assert_eq!(succeeded(&output)?, format!("FD{gpu}: a triangle\n"));
    }
    Ok(())
}

fn frames_are_what_replay_makes_of_the_recording() -> Outcome {
    let folder = tempfile::tempdir()?;
    let [frames, recording, png] = ["frames", "run.rd.gz", "replay.png"].map(|name| folder.path().join(name));
    let mut command = a4emu(&["run", "--frames"]);
    command.arg(&frames).arg("--record").arg(&recording).arg("--").arg(triangle()).arg(FRAMES.to_string());
    succeeded(&command.output()?)?;
    assert_eq!(fs::read_dir(&frames)?.count(), FRAMES);
    for frame in 0..FRAMES {
        let mut command = a4emu(&["replay", "--submit", &frame.to_string(), "--png"]);
        succeeded(&command.arg(&png).arg(&recording).output()?)?;
        let name = format!("frame-{frame:05}.png");
        assert!(fs::read(&png)? == fs::read(frames.join(&name))?, "{name}");
    }
    Ok(())
}

/// A program that is ended when the value is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // The launcher passes the signal on and ends with its program. An error means that it has already
        // ended.
        let _ = Command::new("kill").arg(self.0.id().to_string()).status();
        let _ = self.0.wait();
    }
}

/// An X server without a screen, whose picture is a file. It ends when the value is dropped.
struct Server {
    process: Running,
    folder: tempfile::TempDir,
    display: String,
}

impl Server {
    fn start() -> Result<Self, Box<dyn Error>> {
        let folder = tempfile::tempdir()?;
        let number = folder.path().join("display");
        // The server selects a free display number and writes it.
        let script =
            "exec Xvfb -displayfd 1 -screen 0 800x600x24 -nolisten tcp -fbdir \"$0\" > \"$0/display\"";
        let mut command = Command::new("sh");
        let process = Running(command.args(["-c", script]).arg(folder.path()).stderr(Stdio::null()).spawn()?);
        let mut server = Self { process, folder, display: String::new() };
        let start = Instant::now();
        while server.display.is_empty() {
            if start.elapsed() > PATIENCE || server.process.0.try_wait()?.is_some() {
                return Err("Xvfb does not start".into());
            }
            let text = fs::read_to_string(&number).unwrap_or_default();
            server.display = text.strip_suffix('\n').map(|number| format!(":{number}")).unwrap_or_default();
            sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    /// The screen as red, green and blue: an XWD file of 32 bits per pixel.
    fn picture(&self) -> Result<Vec<[u8; 3]>, Box<dyn Error>> {
        let bytes = fs::read(self.folder.path().join("Xvfb_screen0"))?;
        let word =
            |at: usize| u32::from_be_bytes(bytes[4 * at..4 * at + 4].try_into().expect("four")) as usize;
        // Skips the header and twelve bytes for each colour.
        let pixels = &bytes[word(0) + 12 * word(19)..];
        let pixels = pixels.chunks_exact(4).map(|pixel| [pixel[2], pixel[1], pixel[0]]);
        Ok(pixels.take(word(4) * word(5)).collect())
    }
}

/// Runs `program` in a window until `shows` returns true for the screen.
fn window_shows(program: &[&str], shows: impl Fn(&[[u8; 3]]) -> bool) -> Outcome {
    let server = Server::start()?;
    let home = tempfile::tempdir()?;
    let mut command = a4emu(&["run", "--window", "--"]);
    command.args(program).env("DISPLAY", &server.display).env("HOME", home.path());
    command
        .env("PATH", std::env::join_paths(folders())?)
        .env("SDL_AUDIODRIVER", "dummy")
        .stdout(Stdio::null());
    let log = home.path().join("log");
    let mut process = Running(command.stderr(fs::File::create(&log)?).spawn()?);
    let start = Instant::now();
    let shown = loop {
        if server.picture().is_ok_and(|picture| shows(&picture)) {
            break true;
        }
        if start.elapsed() > PATIENCE || process.0.try_wait()?.is_some() {
            break false;
        }
        sleep(Duration::from_millis(200));
    };
    drop(process);
    match shown {
        true => Ok(()),
        false => Err(format!("no such picture: {}", fs::read_to_string(log)?).into()),
    }
}

/// Whether more than `count` pixels each are red, green and blue.
fn has_all_colours(picture: &[[u8; 3]], count: usize) -> bool {
    let strongest = |pixel: &[u8; 3], lane: usize| {
        (0..3).all(|other| other == lane || u16::from(pixel[lane]) > 2 * u16::from(pixel[other]))
            && pixel[lane] > 100
    };
    (0..3).all(|lane| picture.iter().filter(|pixel| strongest(pixel, lane)).count() > count)
}

fn gears_in_a_window() -> Outcome {
    // Three wheels, one of each colour.
    window_shows(&["glxgears"], |picture| has_all_colours(picture, 1000))
}

fn a_game_in_a_window() -> Outcome {
    // The menu has a level as background: thousands of colours, more than an empty screen.
    window_shows(&["neverball"], |picture| {
        let mut colours = picture.to_vec();
        colours.sort_unstable();
        colours.dedup();
        colours.len() > 5000
    })
}

/// The screen of Weston; an error as long as there is none.
fn screenshot(folder: &Path) -> Result<Vec<[u8; 3]>, Box<dyn Error>> {
    let mut command = Command::new("weston-screenshooter");
    command.current_dir(folder).env("XDG_RUNTIME_DIR", folder).env("WAYLAND_DISPLAY", "wayland-a4emu");
    command.stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    let mut files = fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path()));
    let Some(file) = files.find(|path| path.extension().is_some_and(|end| end == "png")) else {
        return Ok(Vec::new());
    };
    let mut reader = png::Decoder::new(BufReader::new(fs::File::open(&file)?)).read_info()?;
    let mut bytes = vec![0; reader.output_buffer_size().ok_or("too large")?];
    let info = reader.next_frame(&mut bytes)?;
    fs::remove_file(file)?;
    Ok(bytes.chunks_exact(info.color_type.samples()).map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect())
}

/// Two GPUs: the client draws a triangle on one, and the compositor receives it as dma-buf on the other.
fn a_client_on_a_compositor() -> Outcome {
    let folder = tempfile::tempdir()?;
    let start = |program: &[&str]| {
        let mut command = a4emu(&["run", "--quiet", "--"]);
        command.args(program).env("XDG_RUNTIME_DIR", folder.path()).env("WAYLAND_DISPLAY", "wayland-a4emu");
        command.env_remove("DISPLAY").stdout(Stdio::null()).stderr(Stdio::null()).spawn().map(Running)
    };
    let _compositor = start(&[
        "weston",
        "--backend=headless-backend.so",
        "--use-gl",
        "--socket=wayland-a4emu",
        "--debug",
        "--no-config",
    ])?;
    let began = Instant::now();
    while !folder.path().join("wayland-a4emu").exists() && began.elapsed() < PATIENCE {
        sleep(Duration::from_millis(50));
    }
    let _client = start(&["weston-simple-egl"])?;
    while began.elapsed() < PATIENCE {
        if has_all_colours(&screenshot(folder.path())?, 100) {
            return Ok(());
        }
        sleep(Duration::from_millis(200));
    }
    Err("the client's triangle never showed".into())
}

/// The browser's options from docs/run.md.
const BROWSER: &str = "--headless --in-process-gpu --no-sandbox --disable-gpu-sandbox --ignore-gpu-blocklist \
                       --use-gl=angle --use-angle=gles-egl --ozone-platform=headless";

fn a_page_of_webgl() -> Outcome {
    let home = tempfile::tempdir()?;
    let page = tree().join("tests/webgl.html");
    let mut command = a4emu(&["run", "--", "chromium", "--dump-dom", "--timeout=60000"]);
    command.args(BROWSER.split_whitespace()).arg(format!("file://{}", page.display()));
    let text = succeeded(&command.env("HOME", home.path()).output()?)?;
    match text.contains(">ANGLE (freedreno, FD420, OpenGL ES 3.1): 255,255,0,255 0,0,64,255<") {
        true => Ok(()),
        false => Err(text.into()),
    }
}

/// A fixed selection of every hundredth of piglit's shader tests. They skip features that the driver lacks.
fn a_fraction_of_piglit() -> Outcome {
    let folder = tempfile::tempdir()?;
    let mut command = Command::new(tree().join("scripts/conformance"));
    command.args(["piglit", "--alone", "--fraction", "100", "--start", "31", "--out"]).arg(folder.path());
    command.env("A4EMU", env!("CARGO_BIN_EXE_a4emu")).env("A4EMU_LIBRARY", library());
    let table = succeeded(&command.env("PATH", std::env::join_paths(folders())?).output()?)?;
    let passed = table.lines().find_map(|line| line.trim().strip_prefix("pass ")?.trim().parse::<u32>().ok());
    match passed {
        Some(30..) => Ok(()),
        _ => Err(format!("too few to say anything:\n{table}").into()),
    }
}

/// Folders of programs. Games are not always in the path, and cargo installs runners beside its output.
fn folders() -> impl Iterator<Item = PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let others = ["/usr/games", "/opt/VirtualGL/bin"].map(PathBuf::from);
    folders.into_iter().chain(others).chain([tests().join("../../tools/bin")])
}

fn has(program: &str) -> bool {
    folders().any(|folder| folder.join(program).is_file())
}

/// Whether `a4emu run` finds a Mesa with the freedreno driver.
fn has_mesa() -> bool {
    let output = a4emu(&["run", "--", "true"]).output();
    output.is_ok_and(|output| !String::from_utf8_lossy(&output.stderr).contains("no Mesa with freedreno"))
}

fn main() {
    let mesa = has_mesa();
    let trial = |name: &str, needs: &[&str], test: fn() -> Outcome| {
        let mut missing: Vec<&str> = needs.iter().copied().filter(|program| !has(program)).collect();
        missing.extend((!mesa).then_some("Mesa: scripts/mesa"));
        let name = match missing.is_empty() {
            true => name.to_owned(),
            false => format!("{name} (SKIPPED: no {})", missing.join(", ")),
        };
        Trial::test(name, test).with_ignored_flag(!missing.is_empty())
    };
    let window = ["Xvfb", "vglrun"];
    let tests = vec![
        trial("a_triangle_on_both_chips", &["python3"], a_triangle_on_both_chips),
        trial(
            "frames_are_what_replay_makes_of_the_recording",
            &["python3"],
            frames_are_what_replay_makes_of_the_recording,
        ),
        trial("gears_in_a_window", &[&window[..], &["glxgears"]].concat(), gears_in_a_window),
        trial("a_game_in_a_window", &[&window[..], &["neverball"]].concat(), a_game_in_a_window),
        trial("a_page_of_webgl", &["chromium"], a_page_of_webgl),
        trial(
            "a_client_on_a_compositor",
            &["weston", "weston-simple-egl", "weston-screenshooter"],
            a_client_on_a_compositor,
        ),
        trial("a_fraction_of_piglit", &["python3", "piglit", "piglit-runner"], a_fraction_of_piglit),
    ];
    libtest_mimic::run(&Arguments::from_args(), tests).exit();
}
