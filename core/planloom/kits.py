"""A kit: the words, values, prompts, schemas and saved plans of one kind of job."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from .data_classes import frozen

if TYPE_CHECKING:
    from rich.console import Console

    from planlang import Value, Word

    from .outcomes import Outcome
    from .plugins import Registry
    from .settings import Settings
    from .stores import RunRow

__all__ = ["Finished", "Kit", "KitWork", "Prompt", "SavedPlan"]


@frozen(kw_only=True)
class Prompt:
    """One prompt, as a Markdown text that a project may replace (``planloom prompts``)."""

    name: str
    text: str

    @property
    def digest(self) -> str:
        """The first twelve hex digits of the SHA-256 of its text; stored with every run."""
        return hashlib.sha256(self.text.encode("utf-8")).hexdigest()[:12]


@frozen(kw_only=True)
class SavedPlan:
    """A plan that ships with a kit and can be run by name."""

    name: str
    title: str
    source: str


class KitWork(Protocol):
    """What a kit holds for one job: the work itself, read once. One object serves the rehearsal and the run."""

    def manifest(self) -> Mapping[str, Any]:
        """Return what the work is: files with sizes and hashes, what was skipped and why. Stored with the run."""

    def digest(self) -> str:
        """Return a hash of all that a plan can see of the work: equal ones give equal rehearsals."""

    def new_run(self, *, rehearsal: bool) -> object:
        """Return fresh state for one run of a plan; words reach it through their call.

        :param rehearsal: the answers will be made up, so that looking closely at them is wasted time.
        """


@frozen(kw_only=True)
class Finished:
    """A run that ended, or was stopped, for its kit to report on.

    :ivar row: what the run's record says now. :ivar outcome: how it ended, with the kit's state in ``outcome.states``.
    :ivar out: where results are shown. :ivar say: where remarks are shown.
    :ivar work_out: gives what an earlier run of the job worked out under a name from the same key, or makes it and
        keeps it with this run: name, key, maker.
    """

    registry: Registry
    settings: Settings
    row: RunRow
    outcome: Outcome
    work: KitWork
    out: Console
    say: Console
    work_out: Callable[[str, str, Callable[[], Any]], Any]


@frozen(kw_only=True)
class Kit:
    """One kind of job.

    :ivar name: what a run's record says. :ivar version: stored with every run.
    :ivar vocabulary: makes the kit's words and values, knowing everything that is registered and configured.
    :ivar open: reads the work of a job from its target, an absolute path or whatever the kit's command was given.
    :ivar roles: roles that the kit's words use, in the order they should be shown.
    :ivar job: the text of the job when the person gives none.
    :ivar finish: reports on a run of the kit's own command when it has ended, also after a resume, and returns the
        command's exit code. Such a run's facts name the kit as ``reporter``.
    """

    name: str
    version: str
    summary: str
    vocabulary: Callable[[Registry, Settings], Sequence[Word | Value]]
    open: Callable[[str, Mapping[str, Any]], KitWork]
    prompts: tuple[Prompt, ...] = ()
    saved_plans: tuple[SavedPlan, ...] = ()
    roles: tuple[str, ...] = ("lead", "worker", "judge", "fast")
    job: str = ""
    finish: Callable[[Finished], int] | None = None

    def prompt(self, name: str) -> Prompt:
        """Return one of the kit's prompts by name."""
        return next(prompt for prompt in self.prompts if prompt.name == name)
