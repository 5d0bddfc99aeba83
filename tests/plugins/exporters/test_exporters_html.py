"""report.html: one page that opens anywhere, and in a real browser where one is installed."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import attrs
import pytest

from planloom_audit.exporters import report_html, report_markdown, sarif
from planloom_audit.report import AuditReport, Bug

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
CHROMIUM_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-logging=stderr",
    "--virtual-time-budget=2000",
    "--dump-dom",
)


def test_the_policy_allows_the_pages_own_style_and_script_and_nothing_else(report: AuditReport) -> None:
    page = report_html(report)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    assert policy
    blocks = [re.search(rf"<{name}>(.*?)</{name}>", page, re.DOTALL) for name in ("style", "script")]
    hashes = [base64.b64encode(hashlib.sha256(block[1].encode()).digest()).decode() for block in blocks if block]
    assert policy[1] == (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def test_the_page_asks_for_no_other_file(report: AuditReport) -> None:
    page = report_html(report)
    assert not re.findall(r"https?://|@import|url\(|<img|<iframe", page)


def test_the_line_of_a_finding_is_marked(report: AuditReport) -> None:
    (marked,) = re.findall(r'<mark class="row"><span class="number">(\d+)</span>', report_html(report))
    assert marked == "44"


def test_a_finding_over_several_lines_marks_them_all(report: AuditReport, bug: Bug) -> None:
    page = report_html(attrs.evolve(report, bugs=(attrs.evolve(bug, end_line=46),)))
    assert re.findall(r'<mark class="row"><span class="number">(\d+)</span>', page) == ["44", "45", "46"]


def test_code_is_coloured_by_classes(report: AuditReport) -> None:
    assert '<span class="k">def</span> <span class="f">moving_average</span>' in report_html(report)


def test_code_in_another_language_is_shown_plain(report: AuditReport, bug: Bug) -> None:
    page = report_html(attrs.evolve(report, bugs=(attrs.evolve(bug, file="run.sh"),)))
    assert '<span class="code">def moving_average(values, size):' in page


@pytest.mark.parametrize("opening", ['x = """open', "'\\", "(", "\tif x:", "", "# \f form feed"])
def test_code_cut_out_of_its_file_keeps_its_line_numbers(opening: str, report: AuditReport, bug: Bug) -> None:
    cut = attrs.evolve(bug, code=((7, ""), (8, opening), (9, "y = 1"), (10, "")))
    rows = re.findall(r'<span class="number">(\d+)</span>', report_html(attrs.evolve(report, bugs=(cut,))))
    assert rows == ["7", "8", "9", "10"]


def test_headings_never_skip_a_level(report: AuditReport, bug: Bug) -> None:
    levels = [int(level) for level in re.findall(r"<h(\d)", report_html(attrs.evolve(report, undecided=(bug,))))]
    assert levels[0] == 1
    assert all(lower <= upper + 1 for upper, lower in pairwise(levels))


def test_every_id_is_unique(report: AuditReport, bug: Bug) -> None:
    ids = re.findall(r'\bid="([^"]+)"', report_html(attrs.evolve(report, bugs=(bug, bug), undecided=(bug,))))
    assert len(ids) == len(set(ids))


def test_every_link_leads_somewhere(report: AuditReport, bug: Bug) -> None:
    page = report_html(attrs.evolve(report, bugs=(bug, attrs.evolve(bug, file="b.py")), undecided=(bug,)))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(re.findall(r'\bid="([^"]+)"', page))


def test_without_scripts_the_filter_is_hidden_and_the_findings_are_not(report: AuditReport) -> None:
    page = report_html(report)
    assert '<form class="tools" hidden' in page
    assert not re.search(r'<article class="finding"[^>]* hidden', page)


def test_a_huge_line_is_cut_and_the_rest_counted(report: AuditReport, bug: Bug) -> None:
    page = report_html(attrs.evolve(report, bugs=(attrs.evolve(bug, code=((44, "x" * 100_000),)),)))
    assert "99,600 more characters" in page
    assert len(page) < 40_000


def test_an_offline_report_says_that_no_model_looked(report: AuditReport) -> None:
    assert '<p class="basis offline">Offline rules, no model' in report_html(attrs.evolve(report, offline=True))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("ground", ["paper", "raised", "sunken"])
def test_every_text_colour_can_be_read_on_every_ground(scheme: str, ground: str) -> None:
    palette = _palettes()[scheme]
    colours = ("ink", "soft", "link", "critical", "high", "medium", "low", "unranked", *"ksmcfbd")
    poor = {name: ratio for name in colours if (ratio := _contrast(palette[name], palette[ground])) < 4.5}
    assert not poor


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_coloured_code_can_be_read_on_a_marked_line(scheme: str) -> None:
    palette = _palettes()[scheme]
    colours = ("ink", "soft", *"ksmfbd")
    assert not {name: r for name in colours if (r := _contrast(palette[name], palette["mark"])) < 4.5}


@pytest.mark.slow
@pytest.mark.parametrize("write", [report_html, report_markdown, sarif])
def test_five_thousand_findings_make_a_file_that_still_opens(
    write: Callable[[AuditReport], str], report: AuditReport, bug: Bug
) -> None:
    many = tuple(attrs.evolve(bug, file=f"pkg/m{number}.py", group=number // 2) for number in range(5_000))
    page = write(attrs.evolve(report, bugs=many))
    assert page.count("pkg/m4999.py") >= 1
    assert len(page) < 15_000_000


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed, so no browser opens the page")
def test_a_browser_shows_the_findings_and_reports_no_error(
    report: AuditReport, report_of: Callable[[Sequence[str]], AuditReport], tmp_path: Path
) -> None:
    hostile = report_of(["</script><script>document.title='owned'</script><img src=x onerror=alert(1)>"])
    page = tmp_path / "report.html"
    page.write_text(report_html(attrs.evolve(hostile, bugs=(*report.bugs, *hostile.bugs))), encoding="utf-8")
    dom, log = _in_browser(page, tmp_path / "profile")
    assert "The last window is lost" in dom
    assert '<form class="tools" aria-label' in dom, "the page's own script did not run"
    assert "<title>owned" not in dom
    assert [line for line in log.splitlines() if "CONSOLE" in line] == []


def _in_browser(page: Path, profile: Path) -> tuple[str, str]:
    assert CHROMIUM
    command = [CHROMIUM, *CHROMIUM_FLAGS, f"--user-data-dir={profile}", page.as_uri()]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return shown.stdout, shown.stderr


def _palettes() -> dict[str, dict[str, str]]:
    style = files("planloom_audit.exporters").joinpath("templates", "report.css").read_text(encoding="utf-8")
    blocks = re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    light, dark = (dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block)) for block in blocks[:2])
    return {"light": light, "dark": dark}


def _contrast(one: str, other: str) -> float:
    """The ratio of WCAG 2.2, from 1 to 21; normal text needs 4.5."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    channels = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
