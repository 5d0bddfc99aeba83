"""Only what may wait is marked as waiting."""

from __future__ import annotations

from planlang import Vocabulary
from planlang import _nodes as n
from planlang._check import check_module


def function(source: str, vocabulary: Vocabulary, name: str) -> n.Def:
    module = check_module(f"{source}\nresult = 1\n", vocabulary).module
    assert module is not None
    (found,) = [node for node in module.body if isinstance(node, n.Def) and node.target.id == name]
    return found


def test_a_function_that_calls_a_waiting_word_waits(audit_vocabulary: Vocabulary) -> None:
    assert function("def f():\n    return scan(work())", audit_vocabulary, "f").body_waits


def test_a_function_that_only_computes_does_not_wait(audit_vocabulary: Vocabulary) -> None:
    source = "def f(xs):\n    return sorted(xs, key=lambda x: x)\ny = parallel([lambda: scan(f([1]))])"
    assert not function(source, audit_vocabulary, "f").body_waits


def test_waiting_goes_through_functions_called_by_name(audit_vocabulary: Vocabulary) -> None:
    source = "def g():\n    return f()\ndef f():\n    return agent('x')"
    assert function(source, audit_vocabulary, "g").body_waits


def test_a_called_value_may_wait_only_when_a_waiting_function_is_a_value(audit_vocabulary: Vocabulary) -> None:
    call = "def f(g):\n    return g()\n"
    assert not function(f"{call}x = f(len)", audit_vocabulary, "f").body_waits
    assert not function(f"{call}x = parallel([lambda: agent('x')])", audit_vocabulary, "f").body_waits
    assert function(f"{call}x = f(lambda: agent('x'))", audit_vocabulary, "f").body_waits


def test_a_waiting_node_has_no_waiting_child_unseen(audit_vocabulary: Vocabulary) -> None:
    source = "def f(a=[scan([1])], *, b={'k': scan([2])}):\n    return f\nx = f\ny = [z for z in x if agent(f'{z}')]\n"
    module = check_module(source.replace("return f", "return a") + "result = y\n", audit_vocabulary).module
    assert module is not None
    waiting = [node for node in module.body if node.waits]
    assert [type(node) for node in waiting] == [n.Def, n.Assign]
