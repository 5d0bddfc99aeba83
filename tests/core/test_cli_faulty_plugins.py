"""What a person is told when a plugin is at fault: which one, with what, where its author can look, and what to do."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HOOKIMPL = "from planloom.hookspecs import hookimpl\n"

EXPORTERS = f"""{HOOKIMPL}
import os
from planloom.exporters import Exporter

def broken(report):
    if "BROKEN" in os.environ:
        return {{}}["color"]
    return "whole"

@hookimpl
def register_exporters(register):
    register(Exporter(name="colors", kit="audit", file_name="colors.txt", export=broken))
    register(Exporter(name="half", kit="audit", file_name="half.txt", export=lambda report: "half"))
"""


class Place:
    """A working folder beside audited code, and a folder of plugins that are installed."""

    def __init__(self, path: Path) -> None:
        self.desk, self.code, self.site = path / "desk", path / "code", path / "site"
        for folder in (self.desk, self.code, self.site, path / "tmp"):
            folder.mkdir()
        (self.code / "one.py").write_text("def one():\n    return 1\n")

    def install(self, name: str, source: str) -> None:
        """Install a package of one module, as pip would leave it."""
        info = self.site / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: planloom-{name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[planloom]\n{name} = {name}_plugin\n")
        (self.site / f"{name}_plugin.py").write_text(source)

    def run(self, *arguments: str, **env: str) -> tuple[int, str, str]:
        """Run a command; its exit code, output and remarks."""
        known = {"PYTHONPATH": str(self.site), "TMPDIR": str(self.site.parent / "tmp"), "COLUMNS": "200"}
        done = subprocess.run(
            [sys.executable, "-m", "planloom", *arguments],
            cwd=self.desk,
            env={**os.environ, **known, **env},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert "Traceback" not in done.stdout + done.stderr
        assert "planloom itself" not in done.stderr
        return done.returncode, done.stdout, " ".join(done.stderr.split())


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def traceback_told(said: str) -> str:
    """Return what the file holds that the remarks name as the traceback's."""
    found = re.search(r"traceback is in (\S+\.txt)", said)
    assert found, said
    return Path(found[1]).read_text()


def test_an_exporter_that_fails_takes_no_other_file_and_no_finding_along(place: Place) -> None:
    place.install("paint", EXPORTERS)
    code, output, said = place.run("audit", str(place.code), "--out", "report", BROKEN="1")
    assert code == 1, said
    assert "No finding in 1 file" in output
    assert ": completed |" in said
    assert "the exporter `colors` of the plugin paint failed: KeyError: 'color'" in said
    assert "report/colors.txt is not written" in said
    assert "in broken" in traceback_told(said)
    written = {file.name for file in (place.desk / "report").iterdir()}
    assert written == {"findings.json", "findings.sarif", "half.txt", "report.html", "report.md"}
    assert "wrote findings.json, findings.sarif, half.txt, report.html, report.md below report" in said


def test_what_an_exporter_did_not_write_the_same_audit_writes_once_it_is_mended(place: Place) -> None:
    place.install("paint", EXPORTERS)
    _, _, said = place.run("audit", str(place.code), "--out", "report", BROKEN="1")
    assert "run the same command again" in said
    code, _, said = place.run("audit", str(place.code), "--out", "report")
    assert (code, "0 asked" in said) == (0, True), said
    assert (place.desk / "report" / "colors.txt").read_text() == "whole"


@pytest.mark.parametrize("given", ["None", "b'x'", "'\\ud800'"])
def test_an_exporter_that_gives_no_text_that_can_be_written_is_named(place: Place, given: str) -> None:
    place.install("paint", EXPORTERS.replace('"whole"', given))
    code, _, said = place.run("audit", str(place.code), "--out", "report")
    assert (code, "the exporter `colors` of the plugin paint failed" in said) == (1, True), said


# --- plugins that cannot be loaded

BROKEN = {
    "one that cannot be imported": ("import not_there\n", "cannot be imported: ModuleNotFoundError: No module named"),
    "one with a misspelled argument of a plugin's own hook": (
        f"{HOOKIMPL}@hookimpl\ndef register_lenses(registr):\n    pass\n",
        "does not fit its hook: Plugin 'broken' for hook 'register_lenses'",
    ),
    "one with a misspelled argument of a hook of the core": (
        f"{HOOKIMPL}@hookimpl\ndef register_kits(registr):\n    pass\n",
        "does not fit its hook: Plugin 'broken' for hook 'register_kits'",
    ),
    "one with a hook that nobody knows": (
        f"{HOOKIMPL}@hookimpl\ndef register_lense(register):\n    pass\n",
        "implements a hook that nobody specified: unknown hook 'register_lense'",
    ),
    "one that fails in a hook": (
        f"{HOOKIMPL}@hookimpl\ndef register_kits(register):\n    {{}}['size']\n",
        "failed in register_kits: KeyError: 'size'",
    ),
    "one that registers something else": (
        f"{HOOKIMPL}@hookimpl\ndef register_lenses(register):\n    register('a lens')\n",
        "gave register_lenses a str, where a Lens belongs",
    ),
}


@pytest.mark.parametrize(("source", "fault"), BROKEN.values(), ids=BROKEN.keys())
def test_a_plugin_that_cannot_be_loaded_is_named_by_every_command_and_stops_none_that_looks(
    place: Place, source: str, fault: str
) -> None:
    place.install("broken", source)
    place.install("paint", EXPORTERS)
    code, output, _ = place.run("doctor", "--offline")
    assert code == 2
    looked = next(line for line in output.splitlines() if line.startswith("bad   plugin broken:"))
    assert fault in looked
    assert "pip uninstall planloom-broken" in looked
    code, output, said = place.run("plugins")
    assert code == 2
    assert {"paint  (planloom-paint 1.0)", "  exporter: colors, half"} <= set(output.splitlines())
    assert fault in said
    code, _, said = place.run("runs")
    assert (code, said.startswith("planloom: plugin broken"), fault in said) == (2, True, True), said


def test_where_a_plugin_could_not_be_imported_its_author_finds_why(place: Place) -> None:
    place.install("broken", "def begin():\n    return {}['size']\nbegin()\n")
    _, _, said = place.run("runs")
    assert "in begin" in traceback_told(said)


def test_two_plugins_that_cannot_be_loaded_are_both_named(place: Place) -> None:
    place.install("broken", "import not_there\n")
    place.install("torn", "import nowhere\n")
    _, output, _ = place.run("doctor", "--offline")
    assert "bad   plugin broken: " in output
    assert "bad   plugin torn: " in output


# --- plugins that fail at work

KIT = f"""{HOOKIMPL}
import os
from planlang import Word
from planloom.kits import Kit
from planloom.runtime import host_of
from planloom.words import signature_of

class Work:
    def manifest(self):
        return {{}}
    def digest(self):
        return ""
    def new_run(self, *, rehearsal):
        return Rehearsed() if rehearsal else Work()

class Rehearsed(Work):
    pass

def open_work(target, options):
    OPENED
    return Work()

def shape(text: str): ...

def shout(call, text):
    if not isinstance(host_of(call).state("loud", Work), Rehearsed):
        FAILS
    return text.upper()

def vocabulary(registry, settings):
    return [Word("shout", shout, signature=signature_of(shape), doc="the text, louder")]

@hookimpl
def register_kits(register):
    register(Kit(name="loud", version="1", summary="", vocabulary=vocabulary, open=open_work))
"""


def loud(place: Place, plan: str, *, opened: str = "pass", fails: str = "pass", rehearsal: bool = False) -> None:
    source = KIT.replace("OPENED", opened).replace("FAILS", fails)
    place.install("loud", source.replace("if not isinstance(", "if isinstance(") if rehearsal else source)
    (place.desk / "job.plan").write_text(plan)


@pytest.mark.parametrize(
    "raised", ['OSError("the reel is torn")', 'KeyError("reel")', 'OSError(5, "the reel is torn")']
)
def test_a_kit_that_cannot_open_its_work_is_named_with_what_it_raised(place: Place, raised: str) -> None:
    loud(place, 'result = shout("x")\n', opened=f"raise {raised}")
    code, _, said = place.run("run", "job.plan", "--target", ".")
    assert code == 1
    assert said.startswith("planloom: the plugin loud failed (loud_plugin, line "), said
    assert raised.split("(")[0] in said
    assert "reel" in said
    assert "report it to who wrote the plugin" in said
    assert "in open_work" in traceback_told(said)


@pytest.mark.parametrize(
    ("fails", "kind"),
    [("{}['size']", "KeyError: size"), ("None[0]", "TypeError: 'NoneType' object is not subscriptable")],
)
def test_a_word_that_fails_is_told_apart_from_a_plan_that_does(place: Place, fails: str, kind: str) -> None:
    loud(place, 'text = "x"\nresult = shout(text)\n', fails=fails)
    code, _, said = place.run("run", "job.plan", "--target", ".")
    assert code == 1
    assert "the word `shout` of the plugin loud (loud_plugin, line " in said, said
    assert f"failed at line 2, column 10 of the plan: {kind}" in said
    assert "this plan fails there" not in said
    assert "in shout" in traceback_told(said)


def test_what_a_word_says_of_what_it_was_given_is_for_the_plan_to_mend(place: Place) -> None:
    loud(place, 'result = shout("x")\n', fails='raise ValueError("give it a longer text")')
    code, _, said = place.run("run", "job.plan", "--target", ".")
    assert code == 1
    assert "the plan failed at line 1, column 10: ValueError: give it a longer text" in said
    assert "mend it" in said


def test_a_word_that_fails_in_the_rehearsal_is_named_there(place: Place) -> None:
    loud(place, 'result = shout("x")\n', fails="{}['size']", rehearsal=True)
    code, _, said = place.run("run", "job.plan", "--target", ".")
    assert code == 6
    assert "line 1: KeyError: size, in the word `shout` of the plugin loud (loud_plugin, line " in said, said


def test_a_task_whose_word_failed_says_whose_word_it_was(place: Place) -> None:
    loud(place, 'result = parallel([lambda: shout("x")])\n', fails="{}['size']")
    code, _, said = place.run("run", "job.plan", "--target", ".")
    assert code == 3, said
    run = re.search(r"(\S+): completed", said)
    assert run, said
    _, shown, remarks = place.run("show", run[1], "--json")
    assert "KeyError: size, in the word of the plugin loud (loud_plugin, line " in shown, remarks


def test_a_kit_whose_words_cannot_be_had_is_a_finding_of_the_doctor(place: Place) -> None:
    loud(place, "result = 1\n")
    module = place.site / "loud_plugin.py"
    module.write_text(module.read_text().replace("    return [Word(", "    {}['size']\n    return [Word("))
    code, output, _ = place.run("doctor", "--offline")
    assert code == 1
    assert "bad   kit loud: the vocabulary of the kit loud of the plugin loud failed: KeyError: 'size'" in output
    assert "ok    disk" in output
    (place.desk / "planloom.toml").write_text('[kits.audit]\nlensez = ["logic"]\n')
    code, output, _ = place.run("doctor", "--offline")
    assert code == 2
    assert "bad   kit audit: kits.audit.lensez is not a setting" in output
