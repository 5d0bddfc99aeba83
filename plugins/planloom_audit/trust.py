"""Whether a configuration may send keys where it says.

A configuration that lies in or below the audited folder, or in the working folder above it, could have come with the
code: it might name an endpoint of its own, and receive the key and the code. It is used only after a person has seen
the endpoints and said yes, once; the answer is kept in the person's own state folder, never in the audited one.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from planloom import ConfigurationError
from planloom.questions import canonical_json
from planloom.settings import Settings

__all__ = ["require_trust"]


def require_trust(settings: Settings, audited: Path, *, given: bool, ask: Callable[[str], bool] | None) -> None:
    """Return when the configuration may be used for auditing that path.

    :param given: the person trusts it by an option. :param ask: asks a person, ``None`` where there is none.
    :raises ConfigurationError: it lies below the audited path and nobody trusts it.
    """
    source = settings.source
    if source is None or settings.offline or given or not _may_belong(source, audited):
        return
    shown = ", ".join(f"{e.name}: {e.url or e.client}" for e in settings.endpoints.values() if e.url)
    mark = _mark(settings, source)
    if mark in _trusted():
        return
    what = f"{source} may have come with the code to audit, and sends it to {shown}"
    if ask is not None and ask(f"{what}. Do you trust it?"):
        _remember(mark)
        return
    raise ConfigurationError(
        f"{what}; if you trust it say --trust-config, or name a configuration outside that folder with --config"
    )


def _may_belong(source: Path, audited: Path) -> bool:
    """Whether the configuration lies below the audited path, or was found in a working folder above it.

    A checkout's own configuration stands at its top, and ``src`` below that is as often what is audited.
    """
    folder = (audited if audited.is_dir() else audited.parent).resolve()
    place = source.resolve()
    found_here = place.parent == Path.cwd().resolve()
    return place.is_relative_to(folder) or (found_here and folder.is_relative_to(place.parent))


def _mark(settings: Settings, source: Path) -> str:
    named = [[e.name, e.client, e.url, e.key_env] for e in settings.endpoints.values()]
    return hashlib.sha256(canonical_json([str(source.resolve()), named])).hexdigest()


def _state_file() -> Path:
    home = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(home) / "planloom" / "trusted.json"


def _trusted() -> list[str]:
    try:
        marks = json.loads(_state_file().read_text(encoding="utf-8"))
    except (OSError, ValueError, RuntimeError):
        # A RuntimeError is Python's word for having no home.
        return []
    return marks if isinstance(marks, list) else []


def _remember(mark: str) -> None:
    """Keep the answer for the next time; where nothing can be kept, the person is asked again."""
    with suppress(OSError, RuntimeError):
        path = _state_file()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps([*_trusted(), mark]), encoding="utf-8")
