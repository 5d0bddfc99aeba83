"""Makes the shelf's benchmark from its library, as ``planloom bench build`` makes any other.

    python data/shelf_tools/plant.py

The seed is the command's own default: no other was looked at. Times of files are not compared afterwards, since the
benchmark is copied with planloom.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "planloom_data" / "shelf"
LIBRARY = DATA / "library"
BENCHMARK = DATA / "benchmark"
LICENCE = DATA.parents[2] / "LICENSE"
BUGS = 24


def make(out: Path, scratch: Path) -> None:
    """Build the benchmark in a folder.

    :param scratch: an empty folder, for a copy of the library that is named as the benchmark should be.
    """
    named = scratch / "shelf"
    shutil.copytree(LIBRARY, named, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(LICENCE, named)
    command = (sys.executable, "-m", "planloom", "bench", "build", str(named), "--bugs", str(BUGS), "--out", str(out))
    subprocess.run(command, check=True)  # noqa: S603 - our own command on our own library
    path = out / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    del manifest["file_time"]
    path.write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8", newline="\n")


def main() -> None:
    """Replace the benchmark."""
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch, "made")
        make(made, Path(scratch))
        shutil.rmtree(BENCHMARK, ignore_errors=True)
        shutil.copytree(made, BENCHMARK)


if __name__ == "__main__":
    main()
