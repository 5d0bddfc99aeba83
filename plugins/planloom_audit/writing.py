"""The files of a report. Whoever made one fails for itself: the others are written all the same."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from planloom import Misuse, PlanloomError, PluginFailed
from planloom.crashes import traceback_told
from planloom.data_classes import frozen
from planloom.exporters import Exporter
from planloom.plugins import Registry

from .report import AuditReport

__all__ = ["Written", "write_report"]


@frozen
class Written:
    """What became of a report's files.

    :ivar names: of those that were written. :ivar unmade: why an exporter made none. :ivar unwritten: why some cannot
        be written where they belong.
    """

    below: Path
    names: tuple[str, ...]
    unmade: tuple[str, ...]
    unwritten: tuple[str, ...]

    @property
    def told(self) -> str:
        """What was written, empty where nothing was."""
        return f"wrote {', '.join(self.names)} below {self.below}" if self.names else ""

    def check(self) -> None:
        """Raise what lacks.

        :raises Misuse: a file cannot be written. :raises PlanloomError: an exporter failed.
        """
        if self.unwritten:
            said = "\n".join([*self.unmade, *self.unwritten])
            raise Misuse(f"{said}; run the same command with another --out")
        if self.unmade:
            said = "\n".join(self.unmade)
            raise PlanloomError(
                f"{said}\nOnce that is mended run the same command again: every answer is known, so that it pays for "
                "nothing and writes them all"
            )


def write_report(registry: Registry, report: AuditReport, out: Path) -> Written:
    """Write a report in every form there is, in the order of their files. No file is ever half of one."""
    ours = (e for e in registry.all("exporter", Exporter).values() if e.kit == "audit")
    names, unmade, unwritten = [], [], []
    for exporter in sorted(ours, key=lambda e: e.file_name):
        target = out / exporter.file_name
        try:
            _put(target, _made(registry, exporter, report))
            names.append(exporter.file_name)
        except PluginFailed as error:
            unmade.append(f"{error}, and {target} is not written; {traceback_told(error.raised or error)}")
        except OSError as error:
            unwritten.append(f"cannot write {target}: {error.strerror}")
    return Written(out, tuple(names), tuple(unmade), tuple(unwritten))


def _made(registry: Registry, exporter: Exporter, report: AuditReport) -> bytes:
    """Return a file's content.

    :raises PluginFailed: its exporter raised something, or gave no text that has a form in UTF-8.
    """
    try:
        text = exporter.export(report)
        if not isinstance(text, str):
            raise TypeError(f"it gave a {type(text).__name__}, where a str belongs")
        return text.encode("utf-8")
    except Exception as error:
        owner = registry.owner("exporter", exporter.name)
        raise PluginFailed(f"the exporter `{exporter.name}`", owner, error) from error


def _put(target: Path, content: bytes) -> None:
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content)
        part.replace(target)
    except OSError:
        with suppress(OSError):
            part.unlink()
        raise
