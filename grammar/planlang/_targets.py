"""What may stand on the left of ``=``, after ``for`` and in front of ``+=``."""

from __future__ import annotations

from . import _nodes as n
from ._building import Building

__all__ = ["as_aug_target", "as_target", "line_prefix"]

_KINDS: dict[type[n.Node], str] = {
    n.Call: "a call",
    n.MethodCall: "a call",
    n.Constant: "a literal",
    n.FString: "a text",
    n.Compare: "a comparison",
    n.Chain: "a computed value",
    n.Unary: "a computed value",
    n.And: "a condition",
    n.Or: "a condition",
    n.Conditional: "a conditional expression",
    n.Lambda: "a lambda",
    n.DictDisplay: "a dict",
    n.SetDisplay: "a set",
    n.Generator: "a generator expression",
    n.ListComp: "a comprehension",
    n.SetComp: "a comprehension",
    n.DictComp: "a comprehension",
}


def as_target(b: Building, node: n.Node, starred: bool = False) -> n.Node:
    """Return ``node`` as a target; one that cannot be assigned to is complained about and becomes a BadTarget."""
    if isinstance(node, n.Name | n.Subscript | n.Attribute | n.Refused):
        return node
    if isinstance(node, n.TupleDisplay | n.ListDisplay):
        node.items = [as_target(b, item, True) for item in node.items]
        stars = [item for item in node.items if isinstance(item, n.Starred)]
        if len(stars) > 1:
            hint = "keep the `*` of one of them."
            b.complain("PL021", stars[1].start, stars[1].end, "only one name of an unpacking may take the rest", hint)
        return node
    prefixed = _without_prefix(node)
    if prefixed is not None:
        said = "a line number" if isinstance(node, n.Chain) else "the mark of a diff"
        return line_prefix(b, node, prefixed, said)
    if isinstance(node, n.Starred) and starred:
        node.value = as_target(b, node.value)
        return node
    return _bad(b, node)


def _without_prefix(node: n.Node) -> n.Node | None:
    """Return the target behind ``12 |``, ``+`` or ``-``, which copied lines begin with."""
    if isinstance(node, n.Chain) and node.ops == ["|"] and isinstance(node.operands[0], n.Constant):
        return node.operands[1] if isinstance(node.operands[1], n.Name | n.Subscript) else None
    if isinstance(node, n.Unary) and node.op in ("+", "-") and isinstance(node.operand, n.Name | n.Subscript):
        return node.operand
    return None


def line_prefix(b: Building, node: n.Node, target: n.Node, said: str) -> n.Node:
    """Complain, once a plan, about what stands in front of its lines, and return the target behind it."""
    message = f"this line begins with {said}, which is not part of a plan"
    if not any(fault.message == message for fault in b.faults):
        hint = "delete it, and the others like it; send the plan's lines alone."
        b.complain("PL009", node.start, target.start, message, hint)
    return target


def as_aug_target(b: Building, node: n.Node, op: str) -> n.Node:
    """Return ``node`` as the target of ``op``: one name or one subscript."""
    if isinstance(node, n.TupleDisplay | n.ListDisplay):
        shown = "a tuple" if isinstance(node, n.TupleDisplay) else "a list"
        message = f"`{op}` changes one name or one item, not {shown}"
        b.complain("PL021", node.start, node.end, message, f"write one `{op}` for each name.")
        return n.BadTarget(node.start, node.end, node)
    return as_target(b, node)


def _hyphened(node: n.Node) -> bool:
    if not isinstance(node, n.Chain) or set(node.ops) != {"-"}:
        return False
    ends = [one.end + 1 for one in node.operands[:-1]]
    return all(isinstance(one, n.Name) for one in node.operands) and ends == [one.start for one in node.operands[1:]]


def _bad(b: Building, node: n.Node) -> n.Node:
    text = b.text_of(node)
    if isinstance(node, n.Starred):
        message, hint = (
            "a target with `*` needs other names around it",
            f"write `{b.text_of(node.value)}, = ...` or drop `*`.",
        )
    elif isinstance(node, n.Lambda):
        message, hint = "a lambda holds one expression, and `=` assigns", "use `==` to compare, or a `def`."
    elif _hyphened(node):
        message, hint = "names have no `-`", f"write `{text.replace('-', '_')}`."
    elif text in ("None", "True", "False"):
        message, hint = f"`{text}` is a keyword and cannot be assigned to", "choose another name."
    else:
        message = f"{_KINDS.get(type(node), 'this')} cannot be assigned to"
        hint = "put a name on the left, as in `x = value`; write `==` to compare."
    b.complain("PL021", node.start, node.end, message, hint)
    return n.BadTarget(node.start, node.end, node)
