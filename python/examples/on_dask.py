"""Replays a folder of captures on a Dask cluster: python on_dask.py FOLDER [> table.jsonl]"""

import json
import sys
from pathlib import Path

from dask.distributed import Client


def play(path: Path, name: str) -> dict:
    import a4emu

    run = a4emu.open(path, threads=1).replay(frames=True, check=False)
    frames = [[frame.submit, frame.hash] for frame in run.frames]
    return {"name": name, "status": run.status, "draws": run.draws, "work": run.work, "frames": frames}


if __name__ == "__main__":
    folder = Path(sys.argv[1]).resolve()
    paths = sorted(folder.rglob("*.rd.gz"))
    client = Client(n_workers=2, threads_per_worker=1, dashboard_address=None)  # Client("tcp://head:8786") joins one
    for row in client.gather(client.map(play, paths, [str(path.relative_to(folder)) for path in paths])):
        print(json.dumps(row))
