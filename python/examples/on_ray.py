"""Replays a folder of captures on a Ray cluster: python on_ray.py FOLDER [> table.jsonl]"""

import json
import sys
from pathlib import Path

import ray


@ray.remote(max_retries=2)
def play(path: Path, name: str) -> dict:
    import a4emu

    run = a4emu.open(path, threads=1).replay(frames=True, check=False)
    frames = [[frame.submit, frame.hash] for frame in run.frames]
    return {"name": name, "status": run.status, "draws": run.draws, "work": run.work, "frames": frames}


folder = Path(sys.argv[1]).resolve()
ray.init(log_to_driver=False)  # address="auto" joins the cluster that `ray start --head` began
for row in ray.get([play.remote(path, str(path.relative_to(folder))) for path in sorted(folder.rglob("*.rd.gz"))]):
    print(json.dumps(row))
