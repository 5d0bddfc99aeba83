"""Runs commands in its working folder: a line of JSON holds the arguments of each, and one the way it ended."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.here import planloom_here

if __name__ == "__main__":
    for line in sys.stdin:
        ended = planloom_here(Path.cwd(), *json.loads(line))
        print(json.dumps([ended.returncode, ended.stdout, ended.stderr]), flush=True)
