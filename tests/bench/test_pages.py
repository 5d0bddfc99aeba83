"""Pages of figures: what is shown is what is kept."""

from __future__ import annotations

import json
from typing import Any

from tests.bench import bench_runtime


def test_the_page_is_what_the_kept_figures_say() -> None:
    kept: dict[str, Any] = json.loads(bench_runtime.RESULTS.read_text(encoding="utf-8"))
    shown = bench_runtime.RESULTS.with_suffix(".md").read_text(encoding="utf-8")
    assert shown == bench_runtime.page(kept)
