"""Attributes and methods: only the calls of a closed table exist, everything else is named with what to write."""

from __future__ import annotations

from . import _nodes as n
from ._names import METHODS
from ._near import nearest
from ._refusals import MODULES
from ._survey import Survey

__all__ = ["check_attributes"]

_INSTEAD = {
    "zfill": 'write `f"{x:0>8}"`.',
    "ljust": 'write `f"{x:<20}"`.',
    "rjust": 'write `f"{x:>20}"`.',
    "center": 'write `f"{x:^20}"`.',
    "encode": "keep it as a text.",
    "decode": "it is a text already.",
    "has_key": "write `key in d`.",
    "push": "write `xs.append(x)`.",
    "length": "write `len(xs)`.",
    "size": "write `len(xs)`.",
    "isnumeric": "write `s.isdigit()`.",
    "isdecimal": "write `s.isdigit()`.",
    "casefold": "write `s.lower()`.",
    "popitem": "write `d.pop(key)`.",
    "expandtabs": 'write `s.replace("\\t", "    ")`.',
    "translate": "write `s.replace(old, new)`.",
    "map": "write `[f(x) for x in xs]`.",
    "filter": "write `[x for x in xs if test(x)]`.",
    "forEach": "write `for x in xs:`.",
    "includes": "write `x in xs`.",
    "contains": "write `x in xs`.",
    "result": "use the value itself: words return it.",
    "fromkeys": "write `{key: value for key in keys}`.",
}


def check_attributes(survey: Survey) -> None:
    """Judge attributes, methods and the two ways of formatting that plans do not have."""
    suspects = [node for node in survey.all(n.Attribute, n.MethodCall) if _suspect(survey, node)]
    bad = set(suspects)
    for node in suspects:
        if not any(inner in bad for inner in _receivers(node)):
            _say(survey, node)
    for chain in survey.all(n.Chain):
        _percent(survey, chain)


def _suspect(survey: Survey, node: n.Attribute | n.MethodCall) -> bool:
    return isinstance(node, n.Attribute) or node.name not in METHODS or _word_receiver(survey, node.receiver) != ""


def _word_receiver(survey: Survey, node: n.Node) -> str:
    """Return the name of the word whose attribute is asked for, if it is a word's."""
    if isinstance(node, n.Name) and node.kind == n.WORD and node.id in survey.vocabulary.words:
        return node.id
    return ""


def _receivers(node: n.Node) -> list[n.Node]:
    """Return what the attribute is taken of, and of what that was taken, and so on."""
    found: list[n.Node] = []
    while True:
        if isinstance(node, n.Attribute | n.Subscript):
            node = node.value
        elif isinstance(node, n.MethodCall):
            node = node.receiver
        elif isinstance(node, n.Call):
            node = node.function
        else:
            return found
        found.append(node)


def _say(survey: Survey, node: n.Attribute | n.MethodCall) -> None:
    receiver = node.value if isinstance(node, n.Attribute) else node.receiver
    if isinstance(receiver, n.Name) and _is_module(survey, receiver):
        if receiver in survey.names.unknown:
            message = f"`{receiver.id}` is a module, and a plan has none"
            survey.at("PL116", node, message, f"{MODULES.get(receiver.id, 'use the words')}.")
        return
    word = _word_receiver(survey, receiver)
    if word:
        message = f"`{word}` is a word, which has no `.{node.name}`"
        survey.at("PL119", node, message, f"write `{word}(...)`." if word != "budget" else "write `budget()`.")
    elif isinstance(node, n.Attribute):
        _attribute(survey, node)
    else:
        _method(survey, node)


def _is_module(survey: Survey, name: n.Name) -> bool:
    if name in survey.names.unknown:
        return name.id in MODULES
    binding = survey.names.of.get(name)
    imported = {bound for node in survey.all(n.Refused) if node.kind == "import" for bound in node.binds}
    return binding is not None and any(write in imported for write in binding.writes)


def _attribute(survey: Survey, node: n.Attribute) -> None:
    shown = survey.text(node.value)
    if node.name.startswith("_"):
        hint = "delete it: values have no inside that a plan can reach."
    elif node.name == "format":
        hint = 'write an f-string: `f"{x}"`.'
    elif node.name in METHODS:
        hint = f"call it: `{shown}.{node.name}(...)`; as a value write `lambda x: {shown}.{node.name}(x)`."
    else:
        hint = f'write `{shown}["{node.name}"]`.'
    message = f"`.{node.name}` is attribute access, which plans do not have"
    survey.complain("PL060", node.name_start - 1, node.name_end, message, hint)


def _method(survey: Survey, node: n.MethodCall) -> None:
    place = node.name_start, node.name_end
    if node.name in ("format", "format_map"):
        hint = 'write an f-string: `f"{name}: {value}"`.'
        survey.complain("PL063", *place, f"`.{node.name}` is not part of the plan language", hint)
        return
    near = nearest(node.name, METHODS)
    if node.name in _INSTEAD:
        hint = _INSTEAD[node.name]
    elif node.name.startswith("_"):
        hint = "delete it: values have no inside that a plan can reach."
    elif near:
        hint = f"write `.{near}(...)`."
    else:
        hint = f'use a word or a builtin; for an item of a dict write `{survey.text(node.receiver)}["{node.name}"]`.'
    survey.complain("PL061", *place, f"no value has a method `{node.name}`", hint)


def _percent(survey: Survey, chain: n.Chain) -> None:
    first = chain.operands[0]
    is_text = isinstance(first, n.FString) or (isinstance(first, n.Constant) and isinstance(first.value, str))
    if is_text and chain.ops[0] == "%":
        message = "`%` on a text is not part of the plan language"
        survey.at("PL064", chain, message, 'write an f-string: `f"{name}: {value}"`.')
