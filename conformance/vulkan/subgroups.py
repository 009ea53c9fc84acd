#!/usr/bin/env python3
"""Runs subgroups.comp on the Vulkan driver turnip with a4emu as its GPU, and compares with what this script computes:

    conformance/vulkan/subgroups.py A4EMU [--root DIR]

It needs a C compiler, glslangValidator, Vulkan's headers and loader, and a Mesa with turnip. With --root, the programs run
in that root of a system (chroot), which has to have this checkout and /tmp under the same names.
"""
import argparse
import os
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
VALUES = 16
ALL = 0xFFFFFFFF
# Invocations of a group, groups, and the size of subgroups that is asked for; 0 for the driver's choice.
CASES = [(256, 2, 0), (256, 2, 64), (256, 2, 128), (32, 3, 0), (40, 3, 0), (64, 3, 0), (100, 3, 0), (1024, 3, 0)]


def expected(values, size):
    """The results of each invocation of a subgroup that has these values. None where Vulkan leaves them open."""
    count = len(values)
    ballot = sum(1 << lane for lane, value in enumerate(values) if value & 1)
    at = lambda lane: values[lane] if 0 <= lane < count else None
    votes = any(value > 4000 for value in values) | all(value < 4096 for value in values) << 1 | (len(set(values)) == 1) << 2
    thirds = [[value for value in values if value % 3 == rest] for rest in range(3)]
    for lane, value in enumerate(values):
        turns = (sum(other % 5 > turn for other in thirds[2]) for turn in range(value % 5))
        yield [
            size, lane, sum(values), sum(values[:lane + 1]), min(values[:lane], default=ALL),
            ballot & ALL, ballot >> 32 & ALL, ballot >> 64 & ALL,
            at(lane ^ 37), at(lane - 3), at(lane + 3), values[0] + (lane == 0) * 1000000,
            max(values[lane // 8 * 8:lane // 8 * 8 + 8]), at(lane * 7 % size),
            votes | (ballot & (1 << lane) - 1).bit_count() << 8,
            [sum(thirds[0]), max(thirds[1], default=0), sum(turns)][value % 3],
        ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("a4emu")
    parser.add_argument("--root")
    arguments = parser.parse_args()
    a4emu = os.path.abspath(arguments.a4emu)
    prefix = ["chroot", arguments.root] if arguments.root else []
    failed = False
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        program, shader = f"{folder}/compute", f"{folder}/shader.spv"
        subprocess.check_call(["cc", "-O1", "-o", program, f"{HERE}/compute.c", "-lvulkan"])
        for local, groups, asked in CASES:
            source = f"{HERE}/subgroups.comp"
            subprocess.check_output(["glslangValidator", "-V", "--target-env", "vulkan1.3", f"-DLOCAL={local}", "-o", shader, source])
            command = [a4emu, "run", "--gpu", "630", "--quiet", "--", program, shader, str(groups), str(local * groups)]
            ran = subprocess.run(prefix + command + [str(asked)] * (asked > 0), stdout=subprocess.PIPE, check=True)
            out = list(struct.iter_unpack(f"<{VALUES}I", ran.stdout))
            size = out[0][0]
            values = [(i * 2654435761 & ALL) >> 20 for i in range(local * groups)]
            different = 0
            for group in range(0, local * groups, local):
                for first in range(group, group + local, size or ALL):
                    end = min(first + size, group + local)
                    for got, wanted in zip(out[first:end], expected(values[first:end], size)):
                        different += sum(w is not None and g != w for g, w in zip(got, wanted))
            failed |= different > 0 or size == 0
            print(f"{groups} groups of {local}, subgroups of {size}: {different} of {VALUES * len(out)} values differ")
    sys.exit(failed)


if __name__ == "__main__":
    main()
