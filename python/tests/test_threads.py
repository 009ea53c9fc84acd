"""The interpreter's lock is free while work runs, and ctrl-C ends it."""

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from conftest import ROOT

import a4emu

TASKS = Path("/proc/self/task")

# A job in the background of a shell begins with SIGINT ignored.
LONG = """
import signal, sys, a4emu
signal.signal(signal.SIGINT, signal.default_int_handler)
capture = a4emu.open(sys.argv[1], threads=1)
print("begun", flush=True)
while True:
    {work}
"""

TRIANGLE = ROOT / "captures/triangle-by-hand.a4"

FIRST = "    bary.f r0.z, 0, r0.x\n"

# Two thousand warps of the triangle count to a million each.
COUNT = """
    mov.u32u32 r1.z, 0
    mov.u32u32 r1.w, 1000000
count:
    add.u r1.z, r1.z, 1
    cmps.u.lt p0.x, r1.z, r1.w
    br p0.x, #count
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


@pytest.mark.parametrize("jit", ["auto", "off"])
def test_ctrl_c_ends_one_long_run(jit, tmp_path):
    path = tmp_path / "minutes.rd"
    path.write_bytes(a4emu.assemble(TRIANGLE.read_text().replace(FIRST, COUNT + FIRST), path=TRIANGLE))
    options = f"threads=1, jit={jit!r}, max_work=1 << 50"
    interrupted(LONG.replace("threads=1", options).format(work="capture.replay(check=False)"), path)


def interrupted(program, path):
    child = subprocess.Popen([sys.executable, "-c", program, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert child.stdout.readline() == b"begun\n"
        time.sleep(0.3)
        assert child.poll() is None, child.stderr.read()
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=20)
    finally:
        child.kill()
    assert said.rstrip().endswith(b"KeyboardInterrupt") and child.returncode == -signal.SIGINT, said


def assembled():
    a4emu.assemble(LARGE, path=TRIANGLE)


LARGE = TRIANGLE.read_text() + "".join(f"buffer b{n} {{ f32 {n}.0, 1.0, 2.0, 3.0 }}\n" for n in range(4000))


# That something is done in a row: for as long as it takes once, the other thread may get no core.
TIMES = 10


@pytest.mark.parametrize("work", ["replay", "draws", "assemble"])
def test_another_thread_counts_meanwhile(work, capture):
    opened, counted, done = a4emu.open(capture), [0], threading.Event()
    doing = {"replay": opened.replay, "draws": lambda: list(opened.draws()), "assemble": assembled}[work]

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
            for _ in range(TIMES):
                doing()
            during.append(counted[0] - before)
    finally:
        sys.setswitchinterval(0.005)
        done.set()
        counter.join()
    assert min(during) > 0, during


@pytest.mark.skipif(not TASKS.exists(), reason="SKIPPED: no /proc")
def test_an_iterator_that_is_left_ends():
    before = tasks()
    left = [a4emu.open(ROOT / "captures/many.rd.gz").packets() for _ in range(20)]
    [next(walk) for walk in left]
    assert tasks() > before, "they wait to be asked"
    del left
    wait_for(before)


# Behind its two draws, packets for minutes.
CALLS = """
buffer once { RB_MODE_CONTROL { WIDTH = 32 } }
buffer often { repeat 1000 { call once } }
buffer very_often { repeat 1000 { call often } }
buffer always { repeat 1000 { call very_often } }
submit always
"""


@pytest.mark.skipif(not TASKS.exists(), reason="SKIPPED: no /proc")
def test_an_iterator_that_is_left_ends_though_it_has_nothing_more_to_say():
    before = tasks()
    walk = a4emu.open(a4emu.assemble(TRIANGLE.read_text() + CALLS, path=TRIANGLE), max_work=1 << 50).draws()
    assert [next(walk).number for _ in range(2)] == [0, 1]
    time.sleep(0.2)
    assert tasks() > before, "it looks for more"
    del walk
    wait_for(before)


def tasks():
    return len(list(TASKS.iterdir()))


def wait_for(before):
    patience = time.monotonic() + 20
    while tasks() > before:
        assert time.monotonic() < patience, "their threads go on"
        time.sleep(0.01)


def test_several_threads_replay_at_once(capture):
    opened = a4emu.open(capture)
    pictures = []
    threads = [threading.Thread(target=lambda: pictures.append(opened.replay().surface.png())) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert len(pictures) == 4 and len(set(pictures)) == 1
