"""What tests of whole commands share: a working folder whose models are a scripted server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.here import FolderHere

from planloom.testing.folders import Folder
from planloom.testing.loopback import Script, serving


@pytest.fixture
def folder_with(tmp_path: Path) -> Iterator[Callable[[Script, str], Folder]]:
    """Make a folder with a plan whose endpoint is a scripted server."""
    with ExitStack() as stack:

        def make(script: Script, plan: str) -> Folder:
            folder = FolderHere(tmp_path, stack.enter_context(serving(script)), plan)
            stack.callback(folder.end)
            return folder

        yield make
