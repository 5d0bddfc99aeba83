"""What the audit kit's tests share: code with marked bugs, and a real server that answers as models would."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest

from planloom.clients import Endpoint
from planloom.jobs import compile_plan, kits_in
from planloom.kits import Kit
from planloom.loom import Job, Outcome, open_loom
from planloom.money import MICRO, Price
from planloom.plugins import Registry, load_plugins
from planloom.settings import RoleSettings, Settings, default_parameters
from planloom.testing.loopback import Received, Served, completion, serving
from planloom.words import build_vocabulary

ROLES = ("lead", "worker", "judge", "fast")


@pytest.fixture(scope="session")
def registry() -> Registry:
    return load_plugins()


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """Four modules in two folders; each line that ends in ``# BUG`` is one that the model server reports."""
    folder = tmp_path / "code"
    texts = {
        "shop/prices.py": "def total(rows):\n    return sum(rows[1:])  # BUG\n\n\ndef one():\n    return 1\n",
        "shop/stock.py": "def left(have, sold):\n    return sold - have  # BUG\n",
        "tools/dates.py": "def is_leap(year):\n    return year % 4 == 0  # BUG\n",
        "tools/fine.py": "def one():\n    return 1\n",
    }
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


@attrs.define
class AuditModel:
    """Answers an audit's questions about marked code; tests change how.

    :ivar doubt: what every skeptic says. :ivar overrides: (text that a request holds, answer) pairs, tried first.
    """

    doubt: bool = True
    overrides: list[tuple[str, Served]] = attrs.field(factory=list)

    def __call__(self, request: Received) -> Served:
        messages = request.json["messages"]
        system, user = messages[0]["content"], messages[-1]["content"]
        for text, served in self.overrides:
            if text in system or text in user:
                return served
        if "response_format" not in request.json:
            return completion(f"notes on {len(user)} characters")
        name = request.json["response_format"]["json_schema"]["name"]
        answer: dict[str, Callable[[str], Any]] = {
            "findings": _findings,
            "verdicts": self._verdicts,
            "report": _groups,
            "answer": lambda text: {"keep": "good" in text, "why": ""},
        }
        return completion(json.dumps(answer[name](user)))

    def _verdicts(self, text: str) -> dict[str, Any]:
        numbers = re.findall(r"^--- report (\d+) ---$", text, re.MULTILINE)
        return {"verdicts": [{"report": int(n), "real": self.doubt, "reason": "read it"} for n in numbers]}


def _findings(text: str) -> dict[str, Any]:
    found, path = [], ""
    for line in text.splitlines():
        if line.startswith("### "):
            path = line[4:]
        elif line.endswith("# BUG"):
            found.append({"file": path, "line": int(line[:5]), "claim": "it is wrong", "confidence": 0.9})
    return {"findings": found}


def _groups(text: str) -> dict[str, Any]:
    ids = re.findall(r"^(C\d+) \|", text, re.MULTILINE)
    return {"bugs": [{"ids": [i], "severity": "high", "title": f"bug {i}"} for i in ids], "summary": "Mend them."}


@pytest.fixture
def model() -> AuditModel:
    return AuditModel()


@attrs.define
class Bench:
    """Runs plans of the audit kit on the marked code against the model server."""

    registry: Registry
    settings: Settings
    server: Any
    code: Path

    async def run(
        self, source: str, cap: int = 150 * MICRO, args: Mapping[str, Any] | None = None, **options: Any
    ) -> Outcome:
        kits = kits_in(self.registry, self.settings, source)
        program, _ = compile_plan(source, build_vocabulary(self.registry, self.settings, kits))
        works = {kit.name: kit.open(str(self.code), {}) for kit in kits}
        job = Job(title="audit code", kits=kits, works=works, target=str(self.code), cap=cap, args=args or {})
        async with open_loom(self.registry, self.settings) as loom:
            return await loom.run(job, program, source, **options)

    def fixed(self) -> str:
        plans = self.registry.get("kit", "audit", Kit).saved_plans
        return next(plan.source for plan in plans if plan.name == "fixed")


@pytest.fixture
def bench(registry: Registry, code: Path, model: AuditModel, tmp_path: Path) -> Iterator[Bench]:
    with serving(model) as server:
        roles = {
            name: RoleSettings(
                name=name,
                endpoint="main",
                model="m-1",
                price=Price(call=MICRO // 5),
                parameters=default_parameters(name),
            )
            for name in ROLES
        }
        settings = Settings(
            store_path=str(tmp_path / "store.db"),
            endpoints={"main": Endpoint(name="main", client="openai", url=server.url)},
            roles=roles,
        )
        yield Bench(registry, settings, server, code)
