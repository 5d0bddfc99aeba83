"""What holds for all tests."""

from __future__ import annotations

import os
import signal

import pytest
from hypothesis import settings

# A busy machine is no fault of the code: how long something takes is for benchmarks to say.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

# What a shell starts in the background ignores Ctrl-C, what `nohup` starts a terminal that is closed, and so would each
# process that tests send one.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

# What a developer's shell says to planloom is not said to the tests.
for name in [name for name in os.environ if name.startswith("PLANLOOM_")]:
    del os.environ[name]

# They play whole commands as a person does, many in a process of their own, build whole benchmarks, or wait for real
# time to pass: on a second Python they take as long and say little more.
COMMANDS = (
    "test_api",
    "test_audit_command",
    "test_audit_hostile",
    "test_audit_planned_again",
    "test_audit_rehearsal",
    "test_audit_resume",
    "test_begun_twice",
    "test_bench_build",
    "test_bench_command",
    "test_bench_sandbox",
    "test_bench_sources",
    "test_cli_",
    "test_hedging",
    "test_killed_between_attempts",
    "test_losers",
    "test_machine_slots",
    "test_never_sent",
    "test_offline_audit",
    "test_offline_types",
    "test_quota",
    "test_refusals",
    "test_sqlite_processes",
    "test_store_cap",
    "test_suspended_calls",
    "test_stranger",
    "test_takeover",
    "test_tracked",
    "test_trust",
    "test_warmup",
    "test_worker_time",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that play whole commands or wait."""
    for item in items:
        if item.path.name.startswith(COMMANDS):
            item.add_marker(pytest.mark.command)
