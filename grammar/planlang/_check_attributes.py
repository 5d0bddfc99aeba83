"""Attributes and methods: only the calls of a closed table exist, everything else is named with what to write."""

from __future__ import annotations

from . import _nodes as n
from ._formats import of_format, of_percent
from ._modules import hint_of_module, outermost_of_module
from ._names import ELSEWHERE, METHODS
from ._near import nearest
from ._refusals import MODULES
from ._rewrites import of_method
from ._survey import Survey

__all__ = ["check_attributes"]

_INSTEAD = {
    "zfill": 'use `f"{x:0>8}"`.',
    "ljust": 'use `f"{x:<20}"`.',
    "rjust": 'use `f"{x:>20}"`.',
    "center": 'use `f"{x:^20}"`.',
    "popitem": "use `d.pop(key)` with a key of it.",
    "translate": "use `s.replace(old, new)`, once for each character.",
    "swapcase": "use `.upper()` or `.lower()`.",
    "rfind": "use `.rpartition(...)`.",
    "rindex": "use `.rpartition(...)`.",
    "lastIndexOf": "use `.rpartition(...)`.",
    "map": "use `[f(x) for x in xs]`.",
    "filter": "use `[x for x in xs if test(x)]`.",
    "forEach": "use `for x in xs:` with an indented block.",
    "reduce": "use a `for` loop, `sum`, `min` or `max`.",
    "flat": "use `[x for xs in xss for x in xs]`.",
    "flatMap": "use `[y for x in xs for y in f(x)]`.",
    "splice": "assign to a slice: `xs[a:b] = []`.",
    "read": "use the words for files; a plan opens none.",
    "write": "give the value in `result`; a plan writes no files.",
    "close": "delete this line; a plan opens nothing.",
    "encode": "leave this call out: texts need no encoding.",
    "decode": "leave this call out: texts need no decoding.",
    "then": "use the value in the next line: words that wait are simply called.",
    "catch": "test `if answer is None:` in the next line.",
}
_ANSWER = frozenset(("text", "content", "output", "result", "response", "value", "data"))
_TESTS = ("isdigit", "isalpha", "isalnum", "isspace")
_NO_ARGUMENTS = frozenset(
    ("upper", "lower", "title", "capitalize", *_TESTS, "keys", "values", "items", "copy", "clear")
)
_TYPES = frozenset(("str", "list", "dict", "set"))
_DROPPED = frozenset(("import", "with", "try", "class"))
"""What binds names and is refused as a whole: what is asked of these names goes with it."""


def check_attributes(survey: Survey) -> None:
    """Judge attributes, methods and the two ways of formatting that plans do not have."""
    dropped = _dropped(survey)
    suspects = [node for node in survey.all(n.Attribute, n.MethodCall) if _suspect(survey, node)]
    bad = set(suspects)
    for node in suspects:
        inside = _receivers(node)
        if not any(inner in bad for inner in inside) and not _told_elsewhere(survey, node, inside[-1], dropped):
            _say(survey, node)
    for chain in survey.all(n.Chain):
        _percent(survey, chain)


def _suspect(survey: Survey, node: n.Attribute | n.MethodCall) -> bool:
    if isinstance(node, n.Attribute) or node.name not in METHODS:
        return True
    receiver = node.receiver
    return _word_receiver(survey, receiver) != "" or _is_type(receiver) or _is_module(survey, receiver)


def _is_module(survey: Survey, node: n.Node) -> bool:
    return isinstance(node, n.Name) and node.id in MODULES and node in survey.names.unknown


def _is_type(node: n.Node) -> bool:
    return isinstance(node, n.Name) and node.kind == n.BUILTIN


def _dropped(survey: Survey) -> set[n.Name]:
    """Return the names that refused statements bind, and those that are assigned what an import brings."""
    dropped = {name for node in survey.all(n.Refused) if node.kind in _DROPPED for name in node.binds}
    imported = imported_names(survey)
    for assign in sorted(survey.all(n.Assign), key=lambda node: node.start):
        inside = _receivers(assign.value)
        if inside and _foreign(survey, inside[-1], imported):
            brought = [target for target in assign.targets if isinstance(target, n.Name)]
            dropped.update(brought)
            imported.update(brought)
    return dropped


def _foreign(survey: Survey, root: n.Node, imported: set[n.Name]) -> bool:
    """Say whether ``root`` is a name that an import binds, or one that an import would have to."""
    if not isinstance(root, n.Name):
        return False
    if root in survey.names.unknown:
        return root.id in MODULES or root.id in ELSEWHERE
    binding = survey.names.of.get(root)
    return binding is not None and any(write in imported for write in binding.writes)


def imported_names(survey: Survey) -> set[n.Name]:
    """Return the names that imports bind."""
    return {name for refused in survey.all(n.Refused) if refused.kind == "import" for name in refused.binds}


def asks_dropped(survey: Survey, node: n.Node, imported: set[n.Name]) -> bool:
    """Say whether ``node`` is given to something of an import, as in ``logging.getLogger(__name__)``."""
    calls = [outer for outer in survey.above(node) if isinstance(outer, n.Call | n.MethodCall)]
    return any(_foreign(survey, _receivers(call)[-1], imported) for call in calls)


def _told_elsewhere(survey: Survey, node: n.Node, root: n.Node, dropped: set[n.Name]) -> bool:
    """Say whether the cause is what the attribute is asked of: an unknown name, or one of a refused statement."""
    if not isinstance(root, n.Name) or calls_word(survey, node):
        return False
    if root in survey.names.unknown:
        return root.id not in MODULES or _receivers(node)[0] is not root
    binding = survey.names.of.get(root)
    return binding is not None and any(write in dropped for write in binding.writes)


_OF_NUMBERS = frozenset(("Math", "math", "np", "numpy"))
"""Modules with a ``log`` that writes nothing."""


def calls_word(survey: Survey, node: n.Node) -> bool:
    """Say whether ``node`` calls a word as if it were a method of something, as in ``ctx.agent(...)``."""
    return (
        isinstance(node, n.MethodCall)
        and node.name not in METHODS
        and node.name in survey.vocabulary.words
        and isinstance(node.receiver, n.Name)
        and node.receiver.id not in _OF_NUMBERS
        and _word_receiver(survey, node.receiver) == ""
    )


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
    if calls_word(survey, node):
        message = f"`{node.name}` is a word and belongs to nothing"
        survey.complain("PL061", receiver.start, node.name_end, message, f"write `{node.name}`.")
        return
    if isinstance(receiver, n.Name) and _is_module(survey, receiver):
        whole = outermost_of_module(survey, node)
        hint = hint_of_module(survey, receiver.id, whole)
        survey.at("PL116", whole, f"`{receiver.id}` is a module, and a plan has none", hint)
        return
    word = _word_receiver(survey, receiver)
    if word:
        message = f"`{word}` is a word, which has no `.{node.name}`"
        hint = "write `budget()`." if word == "budget" else f"call it alone: `{word}(...)`."
        survey.at("PL119", node, message, hint)
    elif isinstance(node, n.Attribute):
        _attribute(survey, node)
    else:
        _method(survey, node)


def _attribute(survey: Survey, node: n.Attribute) -> None:
    shown = survey.text(node.value)
    message = f"`.{node.name}` is attribute access, which plans do not have"
    start, end = node.name_start - 1, node.name_end
    if node.name.startswith("_"):
        hint = "leave it out: values have no inside that a plan can reach."
    elif node.name == "format":
        hint = 'use an f-string: `f"{x}"`.'
    elif node.name in METHODS:
        start, hint = node.start, _bare_method(survey, node, shown)
    elif node.name == "length":
        start, hint = node.start, f"write `len({shown})`."
    elif node.name in _ANSWER and survey.spends(node.value):
        start = node.start
        hint = f'write `{shown}`, which is the answer itself; for a field of it `{shown}["{node.name}"]`.'
    else:
        outer = _outermost(survey, node)
        start, end, hint = outer.start, outer.end, f"write `{_as_items(survey, outer)}`."
    survey.complain("PL060", start, end, message, hint)


def _bare_method(survey: Survey, node: n.Attribute, shown: str) -> str:
    given = isinstance(survey.parent.get(node), n.Call | n.MethodCall | n.Keyword)
    if isinstance(node.value, n.Name) and node.value.id in _TYPES and node.value not in survey.names.of:
        return f"write `lambda x: x.{node.name}()`."
    arguments = "" if node.name in _NO_ARGUMENTS else "x"
    if given and arguments:
        return f"write `lambda x: {shown}.{node.name}(x)`."
    if not arguments:
        return f'write `{shown}.{node.name}()`, or for a field of that name `{shown}["{node.name}"]`.'
    return f'call it: `{shown}.{node.name}(...)`; or for a field of that name `{shown}["{node.name}"]`.'


def _plain(node: n.Node) -> bool:
    return isinstance(node, n.Attribute) and node.name not in METHODS and not node.name.startswith("_")


def _outermost(survey: Survey, node: n.Node) -> n.Node:
    """Return the whole of a chain such as ``answer.findings[0].file`` from its first attribute."""
    last = node
    while True:
        user = survey.parent.get(node)
        if not isinstance(user, n.Attribute | n.Subscript) or user.value is not node:
            return last
        node = user
        last = node if _plain(node) else last


def _as_items(survey: Survey, node: n.Node) -> str:
    if isinstance(node, n.Attribute) and _plain(node):
        return f'{_as_items(survey, node.value)}["{node.name}"]'
    if isinstance(node, n.Subscript):
        return _as_items(survey, node.value) + survey.source[node.value.end : node.end]
    return survey.text(node)


def _method(survey: Survey, node: n.MethodCall) -> None:
    if node.name in ("format", "format_map"):
        made = of_format(survey, node) if node.name == "format" else ""
        hint = f"write `{made}`." if made else 'use an f-string: `f"{name}: {value}"`.'
        place = (node.start, node.end) if made else (node.name_start, node.name_end)
        survey.complain("PL063", *place, f"`.{node.name}` is not part of the plan language", hint)
        return
    if node.name in METHODS:
        _of_type(survey, node)
        return
    message = f"no value has a method `{node.name}`"
    if node.name in (*_ANSWER, "json", "dict", "model_dump", "to_dict") and not node.args and not node.keywords:
        survey.at("PL061", node, message, f"write `{survey.text(node.receiver)}`: answers are plain data already.")
        return
    made = of_method(survey, node)
    if made:
        survey.at("PL061", node, message, f"write `{made}`.")
        return
    near = nearest(node.name, METHODS)
    if node.name in _INSTEAD:
        hint = _INSTEAD[node.name]
    elif node.name.startswith("_"):
        hint = "leave it out: values have no inside that a plan can reach."
    elif near:
        hint = f"write `{near}`."
    elif isinstance(node.receiver, n.Constant | n.FString):
        hint = "use a word, a builtin or another method of texts."
    else:
        shown = survey.text(node.receiver)
        shown = "d" if shown == "..." else shown
        hint = f'use a word or a builtin; for an item of a dict `{shown}["{node.name}"]`.'
    survey.complain("PL061", node.name_start, node.name_end, message, hint)


def _of_type(survey: Survey, node: n.MethodCall) -> None:
    """Name ``str.join(sep, xs)``: a method that is called on a type."""
    message = f"`{survey.text(node.receiver)}` is a type, and methods are called on values"
    hint = f"call it on the value: `value.{node.name}(...)`."
    if node.args and not node.keywords and not isinstance(node.args[0], n.Starred):
        end = node.args[1].start if len(node.args) > 1 else node.end - 1
        made = f"{survey.text(node.args[0])}.{node.name}({survey.source[end : node.end]}"
        hint = f"write `{made}`." if "..." not in made and "`" not in made and "\n" not in made else hint
    survey.at("PL061", node, message, hint)


def _percent(survey: Survey, chain: n.Chain) -> None:
    first = chain.operands[0]
    is_text = isinstance(first, n.FString) or (isinstance(first, n.Constant) and isinstance(first.value, str))
    if is_text and chain.ops[0] == "%":
        message = "`%` on a text is not part of the plan language"
        made = of_percent(survey, first, chain.operands[1])
        hint = f"write `{made}`." if made else 'use an f-string: `f"{name}: {value}"`.'
        survey.complain("PL064", chain.start, chain.operands[1].end, message, hint)
