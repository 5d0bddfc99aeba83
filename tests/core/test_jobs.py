"""Which kits a plan needs."""

from __future__ import annotations

import pytest

from planloom.jobs import kits_in
from planloom.plugins import Registry, load_plugins
from planloom.settings import offline_settings


@pytest.fixture(scope="module")
def registry() -> Registry:
    return load_plugins()


def needed(registry: Registry, source: str) -> list[str]:
    return [kit.name for kit in kits_in(registry, offline_settings(), source)]


@pytest.mark.parametrize(
    "source",
    [
        "result = work()\n",
        "result = f'{len(work())} files'\n",
        "result = parallel([lambda s=s: scan(s) for s in [1]])\n",
        "while work():\n    this is no plan\n",
    ],
)
def test_a_kit_is_needed_where_a_plan_uses_its_words(registry: Registry, source: str) -> None:
    assert needed(registry, source) == ["audit"]


@pytest.mark.parametrize(
    "source",
    [
        "result = agent('check this work and report')  # scan it\n",
        "report = agent('sum up')\nresult = report\n",
        "def check(work):\n    return work\n\nresult = check(1)\n",
        "result = agent('q', schema={'report': 1}, label='vote')\n",
    ],
)
def test_no_kit_is_needed_for_words_in_texts_or_for_names_of_the_plans_own(registry: Registry, source: str) -> None:
    assert needed(registry, source) == []
