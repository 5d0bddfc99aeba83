"""What the runtime was shown to do, by killing and measuring: ``make bench-runtime``.

Each section is a measurement of its own (``--only NAME,...``; ``--list`` names them); what it finds is kept with the
facts of the machine in ``docs/reference/benchmarks-runtime.json``, and the page beside it is written from all that is
kept. ``--small`` tries the scripts at sizes that show nothing, and keeps nothing; ``--page`` writes the page alone.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from tests.bench.bench import REPOSITORY, machine
from tests.bench.evidence._section import Section

RESULTS = REPOSITORY / "docs" / "reference" / "benchmarks-runtime.json"
PLACES = {
    "kills": "kill_runtime:SECTION",
    "cap": "one_cap:SECTION",
    "first_call": "first_call:SECTION",
    "install": "base_install:SECTION",
    "long_prompts": "long_prompts:SECTION",
    "disk": "disk_runtime:SECTION",
    "disk_large": "disk_runtime:LARGE",
    "looking_on": "looking_on:SECTION",
    "peers": "runtime_peers:SECTION",
}
"""The module and name of each section, in the order of the page; what compares engines needs their environment."""


def section(name: str) -> Section:
    """Return a section by name."""
    module, _, attribute = PLACES[name].partition(":")
    found: Section = getattr(import_module(f"tests.bench.{module}"), attribute)
    return found


def kept() -> dict[str, Any]:
    """Return what was measured so far, by section."""
    found: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    return found


def measured(name: str, *, small: bool) -> dict[str, Any]:
    """Measure a section; return its figures with the facts of the machine and how long it took."""
    facts, began_s = machine(), time.monotonic()
    figures = section(name).measure(small)
    found = {"machine": facts | {"took_s": time.monotonic() - began_s}, "figures": figures}
    rounded: dict[str, Any] = json.loads(json.dumps(found), parse_float=lambda text: round(float(text), 4))
    return rounded


def page(results: dict[str, Any]) -> str:
    """Return all that is kept as a page of the documentation."""
    lines = [
        "# What a run survives, and what it costs",
        "",
        "Written by `make bench-runtime`; the figures are in `benchmarks-runtime.json`.",
        f"`make bench-runtime ONLY=kills` measures one section again: {', '.join(f'`{name}`' for name in PLACES)}.",
    ]
    for name in PLACES:
        if name in results:
            lines += ["", *_shown(section(name), results[name])]
    return "\n".join(lines) + "\n"


def _shown(part: Section, found: dict[str, Any]) -> Iterator[str]:
    facts = found["machine"]
    speed = f", ten million additions in {facts['loop_s']:.2f} s" if "loop_s" in facts else ""
    yield from (f"## {part.title}", "", *part.about)
    yield (
        f"{facts['system']}, {facts['processors']} cores, Python {facts['python']}, load {facts['load_before']:.1f} "
        f"before{speed}, {facts['measured_at'][:10]}."
    )
    yield from ("", *part.lines(found["figures"]))


def write(results: dict[str, Any]) -> None:
    """Keep the figures, and write the page."""
    ordered = {name: results[name] for name in PLACES if name in results}
    RESULTS.write_text(json.dumps(ordered, indent=2) + "\n", encoding="utf-8")
    RESULTS.with_suffix(".md").write_text(page(ordered), encoding="utf-8")


def main() -> None:
    """Measure what is wanted, print it and keep it with the documentation."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="sections, by commas (default: all but the large ones)")
    parser.add_argument("--small", action="store_true", help="sizes that only try the scripts; nothing is kept")
    parser.add_argument("--page", action="store_true", help="write the page from what is kept, and measure nothing")
    parser.add_argument("--list", action="store_true", help="name the sections")
    options = parser.parse_args()
    if options.list:
        print("\n".join(f"{name:13} {section(name).title}" for name in PLACES))
        return
    names = [name for name in options.only.split(",") if name]
    if unknown := set(names) - set(PLACES):
        parser.error(f"there is no section {', '.join(sorted(unknown))}; there are {', '.join(PLACES)}")
    if options.page:
        write(kept())
        return
    for name in names or [name for name in PLACES if not section(name).opt_in]:
        found = measured(name, small=options.small)
        print(json.dumps({name: found}, indent=2), flush=True)
        if not options.small:
            write(kept() | {name: found})  # what another wrote meanwhile stays
    sys.exit(0)


if __name__ == "__main__":
    main()
