"""Prints each draw with its primitive, its count and the value of a register."""

import sys

import a4emu

for draw in a4emu.open(sys.argv[1]).draws():
    if draw.kind == "draw":
        depth = draw.state.get("RB_DEPTH_CONTROL")
        print(f"submit {draw.submit} draw {draw.number}: {draw.primitive} {draw.count}, RB_DEPTH_CONTROL {depth:08x}")
