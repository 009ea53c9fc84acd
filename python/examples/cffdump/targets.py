"""Lists the colour targets of each submit: format, width and height, address."""

import sys

import a4emu

targets: dict[int, set[tuple[str, int, int]]] = {}
for draw in a4emu.open(sys.argv[1]).draws():
    if draw.pass_ == "resolve":
        to = draw.state["RB_COPY_DEST_BASE"]
        size = draw.state.fields("RB_FRAME_BUFFER_DIMENSION")
        form = draw.state.fields("RB_COPY_DEST_INFO")["FORMAT"]
        targets.setdefault(draw.submit, set()).add((f"{form} at {to:#x}", size["WIDTH"], size["HEIGHT"]))
for submit, found in targets.items():
    for form, width, height in sorted(found):
        print(f"submit {submit}: {width}x{height} {form}")
