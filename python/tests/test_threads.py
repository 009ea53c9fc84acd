"""The interpreter's lock is free while work runs, and ctrl-C ends it."""

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from conftest import ROOT, SHARED

import a4emu

TASKS = Path("/proc/self/task")

LONG = """
import sys, a4emu
capture = a4emu.open(sys.argv[1], threads=1)
print("begun", flush=True)
while True:
    {work}
"""

WORK = {
    "replay": "capture.replay(check=False)",
    "callback": "capture.replay(check=False, on_draw=lambda draw: None)",
    "draws": "list(capture.draws())",
    "decode": "for _ in capture.decode(): pass",
}


@pytest.mark.parametrize("work", WORK)
def test_ctrl_c_ends_a_loop_of_replays(capture, work):
    interrupted(LONG.format(work=WORK[work]), capture)


def test_ctrl_c_ends_one_long_run():
    path = SHARED / "hostile/02-vs-store-nolimit-2e24.rd"
    if not path.exists():
        pytest.skip("SKIPPED: no shared inputs")
    interrupted(LONG.format(work="capture.replay(check=False)"), path)


def interrupted(program, path):
    child = subprocess.Popen([sys.executable, "-c", program, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert child.stdout.readline() == b"begun\n"
        time.sleep(0.3)
        assert child.poll() is None, child.stderr.read()
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=60)
    finally:
        child.kill()
    assert said.rstrip().endswith(b"KeyboardInterrupt") and child.returncode == -signal.SIGINT, said


def test_another_thread_counts_meanwhile(capture):
    opened, counted, done = a4emu.open(capture), [0], threading.Event()

    def count():
        while not done.wait(0.0001):  # Which gives the lock away.
            counted[0] += 1

    counter = threading.Thread(target=count)
    counter.start()
    sys.setswitchinterval(1000)  # Nobody is asked for the lock: it has to be given away.
    try:
        during = []
        for _ in range(3):
            before = counted[0]
            opened.replay()
            during.append(counted[0] - before)
    finally:
        sys.setswitchinterval(0.005)
        done.set()
        counter.join()
    assert min(during) > 0, during


@pytest.mark.skipif(not TASKS.exists(), reason="SKIPPED: no /proc")
def test_an_iterator_that_is_left_ends():
    before = len(list(TASKS.iterdir()))
    left = [a4emu.open(ROOT / "captures/many.rd.gz").packets() for _ in range(20)]
    [next(walk) for walk in left]
    assert len(list(TASKS.iterdir())) > before, "they wait to be asked"
    del left
    patience = time.monotonic() + 60
    while len(list(TASKS.iterdir())) > before:
        assert time.monotonic() < patience, "their threads go on"
        time.sleep(0.01)


def test_several_threads_replay_at_once(capture):
    opened = a4emu.open(capture)
    pictures = []
    threads = [threading.Thread(target=lambda: pictures.append(opened.replay().surface.png())) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert len(pictures) == 4 and len(set(pictures)) == 1
