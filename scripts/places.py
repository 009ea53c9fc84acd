"""A place to run programs on a4emu and on Mesa's rasterisers: this system, or a root (the folder of another
system, as debootstrap makes it). scripts/ratios and scripts/drivers use it.

A root is entered by chroot, which only the administrator may do. Each program gets mounts of its own, which
end with it: /dev, /proc, /sys, and the folder `work` at the same path. So a file in `work` has one name inside
and outside of the root.
"""
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIBRARY = "liba4emu_drm.so"
# What each driver calls itself in GL_RENDERER. A figure counts only if its driver has drawn.
RENDERER = {"a4emu": "FD4", "softpipe": "softpipe", "llvmpipe": "llvmpipe"}
FOLDERS = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/games"]
# Arguments: the root, the shared folder, the command.
ENTER = """set -e; root=$1 work=$2; shift 2
mkdir -p "$root$work"; mount --bind "$work" "$root$work"
mount --rbind /dev "$root/dev"; mount -t proc proc "$root/proc"; mount --rbind /sys "$root/sys"
exec chroot "$root" "$@" """


def enter(root, work, command):
    """A command in a root."""
    return list(map(str, ["unshare", "--mount", "sh", "-c", ENTER, "sh", root, work, *command]))


class Place:
    """`binary` is a4emu, with the library of its device in the same folder. `mesa` is a prefix of scripts/mesa.
    `patience` is how much longer than usual programs may take."""

    def __init__(self, binary, root=None, mesa=None, cores=None, patience=1):
        self.patience = patience
        self.root, self.mesa, self.cores = root and Path(root).resolve(), mesa, cores
        self.work = Path(tempfile.mkdtemp(prefix="a4emu-", dir="/tmp"))
        self.runtime = self.work / "run"
        self.runtime.mkdir(mode=0o700)
        # Copies: a root may not see the originals, and a build during the run does not change them.
        for file in (Path(binary), Path(binary).parent / LIBRARY):
            shutil.copy2(file, self.work / file.name)
        self.a4emu = self.work / Path(binary).name
        if mesa and self.root:
            self.mesa = shutil.copytree(mesa, self.work / "mesa", symlinks=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.work)
        if self.root:
            with contextlib.suppress(OSError):
                (self.root / self.work.relative_to("/")).rmdir()

    def path(self, name):
        """A path of the place as this process sees it."""
        return self.root / str(name).lstrip("/") if self.root else Path(name)

    def has(self, program):
        if not self.root:
            return shutil.which(program, path=":".join([os.environ["PATH"], *FOLDERS])) is not None
        # A link of the root may not lead anywhere from outside.
        return any(os.path.lexists(self.path(f"{folder}/{program}")) for folder in FOLDERS)

    def environment(self, driver, more):
        env = {"LANG": "C.UTF-8", "HOME": str(self.work)} if self.root else dict(os.environ)
        env["PATH"] = ":".join(FOLDERS if self.root else [env["PATH"], *FOLDERS])
        env |= {"XDG_RUNTIME_DIR": str(self.runtime), **more}
        if driver in ("softpipe", "llvmpipe"):
            env |= {"LIBGL_ALWAYS_SOFTWARE": "1", "GALLIUM_DRIVER": driver}
        if self.cores:
            env["LP_NUM_THREADS"] = str(self.cores)
        return env

    def command(self, driver, command, options=()):
        """`options` are of `a4emu run`."""
        if driver == "a4emu":
            threads = ["--threads", str(self.cores)] if self.cores else []
            mesa = ["--mesa", self.mesa] if self.mesa else []
            command = [self.a4emu, "run", "--quiet", *threads, *mesa, *options, "--", *command]
        if self.cores:
            command = ["taskset", "-c", f"0-{self.cores - 1}", *command]
        if self.root:
            command = enter(self.root, self.work, command)
        return list(map(str, command))

    def run(self, driver, command, seconds=900, options=(), **more):
        """What a program prints, and its exit status; nothing and None if it takes longer than `seconds`."""
        environment = self.environment(driver, more)
        process = subprocess.Popen(self.command(driver, command, options), env=environment, text=True, errors="replace",
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            return process.communicate(timeout=seconds)[0], process.returncode
        except subprocess.TimeoutExpired:
            end(process)
            return "", None

    @contextlib.contextmanager
    def running(self, driver, command, log, **more):
        """A program that runs until the `with` ends. What it prints goes to the file `log` in `work`."""
        with (self.work / log).open("w") as out:
            process = subprocess.Popen(self.command(driver, command), env=self.environment(driver, more),
                                       stdout=out, stderr=out, start_new_session=True)
        try:
            yield process
        finally:
            end(process)

    @contextlib.contextmanager
    def compositor(self, driver):
        """A Wayland compositor without a screen, which programs for Wayland need to start. It must draw on the
        same GPU as they do, or they cannot share pictures with it. Gives the name of its socket. With nothing
        to show it sleeps, so that it takes no time from the program. Its pictures may be taken (`--debug`)."""
        name = "a4emu"
        command = ["weston", "--backend=headless-backend.so", "--use-gl", f"--socket={name}", "--idle-time=0", "--debug"]
        with self.running(driver, command, "weston.log") as process:
            for _ in range(300 * self.patience):
                if (self.runtime / name).exists() or process.poll() is not None:
                    break
                time.sleep(0.1)
            if not (self.runtime / name).exists():
                sys.exit(f"weston does not start: {(self.work / 'weston.log').read_text()[-2000:]}")
            yield name


def end(process):
    """Ends a program with all that it has started. SIGTERM first: `a4emu run` passes it on."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, 15)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(5)
        os.killpg(process.pid, 9)
    process.wait()


def under_x(command):
    return ["xvfb-run", "-a", "-s", "-screen 0 1280x1024x24", *command]
