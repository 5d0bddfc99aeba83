"""What tests of every client share: a key, and no proxy."""

from __future__ import annotations

import pytest

from .ways import KEY


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    monkeypatch.setenv("NO_PROXY", "*")
