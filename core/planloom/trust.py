"""Whether a configuration may send keys where it says.

A configuration that lies in or below the folder to work on, or in the working folder above it, could have come with the
code: it might name an endpoint of its own, and receive the key and the code. It is used only after a person has seen
the endpoints and said yes, once; the answer is kept in the person's own state folder, never in the folder itself.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ._errors import ConfigurationError
from .clients import Endpoint
from .questions import canonical_json
from .settings import OFFLINE, Settings

__all__ = ["require_trust"]


def require_trust(settings: Settings, target: Path, *, given: bool, ask: Callable[[str], bool] | None) -> None:
    """Return when the configuration may be used for work on that path; on what is no path it always may.

    :param given: the person trusts it by an option. :param ask: asks a person, ``None`` where there is none.
    :raises ConfigurationError: it may have come with the target, and nobody trusts it.
    """
    source = settings.source
    if source is None or settings.offline or given or not _may_belong(source, target):
        return
    shown = ", ".join(_shown(endpoint) for endpoint in settings.endpoints.values() if endpoint.client != OFFLINE)
    mark = _mark(settings, source)
    if mark in _trusted():
        return
    what = f"{source} may have come with the code that is worked on, and sends it to {shown}"
    if ask is not None and ask(f"{what}. Do you trust it?"):
        _remember(mark)
        return
    raise ConfigurationError(
        f"{what}; if you trust it say --trust-config, or name a configuration outside that folder with --config"
    )


def _shown(endpoint: Endpoint) -> str:
    proxy = endpoint.settings.get("proxy")
    return f"{endpoint.name}: {endpoint.url or endpoint.client}" + (f" through {proxy}" if proxy else "")


def _may_belong(source: Path, target: Path) -> bool:
    """Whether the configuration lies below the target, or was found in a working folder above it.

    A checkout's own configuration stands at its top, and ``src`` below that is as often what is audited.
    """
    if not os.path.exists(target):
        return False
    folder = (target if target.is_dir() else target.parent).resolve()
    place = source.resolve()
    found_here = place.parent == Path.cwd().resolve()
    return place.is_relative_to(folder) or (found_here and folder.is_relative_to(place.parent))


def _mark(settings: Settings, source: Path) -> str:
    named = [[e.name, e.client, e.url, e.key_env, dict(e.settings)] for e in settings.endpoints.values()]
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
