"""Counts the formats and sizes of the textures that draws sample."""

import collections
import sys

import a4emu

seen: collections.Counter[str] = collections.Counter()
for row in a4emu.open(sys.argv[1]).commands()["rows"]:
    for texture in row["textures"]:
        width, height, depth = texture["size"]
        seen[f"{texture['format']} {width}x{height}x{depth}"] += 1
for texture, count in sorted(seen.items()):
    print(f"{count} {texture}")
