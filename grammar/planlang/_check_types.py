"""Types where data is meant: schemas written with Python's types, and types with brackets."""

from __future__ import annotations

from . import _nodes as n
from ._survey import Survey

__all__ = ["check_types"]

_SCHEMA_TYPES = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "list": "array",
    "dict": "object",
}


def check_types(survey: Survey) -> None:
    """Name types with brackets, such as ``list[str]``, and dicts of types that are handed to a word."""
    told: set[n.Node] = set()
    for call in survey.all(n.Call):
        word = survey.word(call)
        data = word is not None and not word.runs_tasks
        values = [*call.args, *(keyword.value for keyword in call.keywords)] if data else []
        for value in values:
            types = [] if isinstance(value, n.Name) else _types_in(value)  # a lone name is told with the word's call
            if types:
                _say_schema(survey, value, types)
                told.add(value)
    for node in survey.all(n.Subscript):
        if _is_type(node.value) and told.isdisjoint((node, *survey.above(node))):
            _say_subscript(survey, node)


def _is_type(node: n.Node) -> bool:
    return isinstance(node, n.Name) and node.kind == n.BUILTIN and node.id in _SCHEMA_TYPES


def _types_in(node: n.Node) -> list[n.Node]:
    """Return the types that stand as values in a dict or a list, or that ``node`` is."""
    if isinstance(node, n.DictDisplay):
        return [found for value in node.values for found in _types_in(value)]
    if isinstance(node, n.ListDisplay):
        return [found for item in node.items for found in _types_in(item)]
    if isinstance(node, n.Chain) and set(node.ops) == {"|"}:
        return [found for operand in node.operands for found in _types_in(operand)]
    return [node] if _is_type(node) or (isinstance(node, n.Subscript) and _is_type(node.value)) else []


def _say_schema(survey: Survey, value: n.Node, types: list[n.Node]) -> None:
    made = "" if _is_schema(value) else _schema(survey, value)
    if made:
        survey.at("PL108", value, _message(survey, types[0]), f"write `{made}`.")
    elif _is_schema(value):
        for one in types:
            survey.at("PL108", one, _message(survey, one), f"write `{_schema(survey, one)}`.")
    else:
        hint = 'give the name of the type in a schema: `{"type": "string"}`.'
        survey.at("PL108", types[0], _message(survey, types[0]), hint)


def _message(survey: Survey, node: n.Node) -> str:
    return f"a word takes data, and `{survey.text(node)}` is a type"


def _is_schema(node: n.Node) -> bool:
    """Say whether a dict names its type, as a JSON Schema does: Python's types are only some of its values."""
    pairs = zip(node.keys, node.values, strict=True) if isinstance(node, n.DictDisplay) else ()
    return any(
        isinstance(key, n.Constant) and key.value == "type" and isinstance(value, n.Constant) for key, value in pairs
    )


def _schema(survey: Survey, node: n.Node) -> str:
    """Return the JSON Schema that a structure of types stands for, or nothing."""
    if isinstance(node, n.Name) and _is_type(node):
        return f'{{"type": "{_SCHEMA_TYPES[node.id]}"}}'
    if isinstance(node, n.Subscript) and isinstance(node.value, n.Name) and _is_type(node.value):
        inside = _schema(survey, node.index) if node.value.id == "list" else ""
        return _array(inside) if inside else _schema(survey, node.value)
    if isinstance(node, n.Chain):
        return _either(node)
    if isinstance(node, n.ListDisplay):
        inside = _schema(survey, node.items[0]) if len(node.items) == 1 else ""
        return _array(inside) if inside else ""
    if not isinstance(node, n.DictDisplay) or not all(isinstance(key, n.Constant) for key in node.keys):
        return ""
    made = [_schema(survey, value) for value in node.values]
    keys = [survey.text(key) for key in node.keys if key is not None]
    inside = ", ".join(f"{key}: {value}" for key, value in zip(keys, made, strict=True))
    return f'{{"type": "object", "properties": {{{inside}}}}}' if all(made) else ""


def _either(node: n.Chain) -> str:
    """Return the schema of ``str | None`` and the like, or nothing."""
    names = [_SCHEMA_TYPES[one.id] for one in node.operands if isinstance(one, n.Name) and _is_type(one)]
    names += ["null" for one in node.operands if isinstance(one, n.Constant) and one.value is None]
    shown = ", ".join(f'"{name}"' for name in names)
    return f'{{"type": [{shown}]}}' if len(names) == len(node.operands) else ""


def _array(items: str) -> str:
    return f'{{"type": "array", "items": {items}}}'


def _say_subscript(survey: Survey, node: n.Subscript) -> None:
    message = f"`{survey.text(node)}` is a type, and a plan has no use for types but in `isinstance`"
    user = survey.parent.get(node)
    if isinstance(user, n.Assign):
        survey.at("PL108", node, message, "delete this line, and the annotations that need it.")
    else:
        survey.at("PL108", node, message, f"write `{survey.text(node.value)}`, the type alone.")
