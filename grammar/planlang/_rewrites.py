"""Calls that plans do not have and that can be written as something they do have, in the plan's own words.

A pattern holds ``{0}``, ``{1}`` for arguments, ``{x}`` for what the method is called on and ``{call}`` for an argument
that is a ``lambda`` of one parameter, applied to ``x``. A pattern fits when the call has exactly the arguments that it
names and all of them are short enough to be shown.
"""

from __future__ import annotations

from string import Formatter

from . import _nodes as n
from ._survey import Survey

__all__ = ["of_builtin", "of_method", "of_module"]

_BUILTINS: dict[str, tuple[str, ...]] = {
    "repr": ('f"{{{0}!r}}"',),
    "ascii": ('f"{{{0}!a}}"',),
    "format": ('f"{{{0}}}"',),
    "hex": ('f"{{{0}:#x}}"',),
    "oct": ('f"{{{0}:#o}}"',),
    "bin": ('f"{{{0}:#b}}"',),
    "hasattr": ("{1} in {0}",),
    "getattr": ("{0}[{1}]", "{0}.get({1}, {2})"),
    "setattr": ("{0}.update({{{1}: {2}}})",),
    "delattr": ("{0}.pop({1})",),
    "next": ("list({0})[0]", "(list({0}) or [{1}])[0]"),
    "iter": ("{0}",),
    "frozenset": ("tuple(sorted({0}))",),
    "cast": ("{1}",),
}
_MODULES: dict[str, tuple[str, ...]] = {
    "json.dumps": ("to_json({0})",),
    "json.loads": ("{0}",),
    "JSON.stringify": ("to_json({0})",),
    "JSON.parse": ("{0}",),
    "console.log": ("log({0})",),
    "console.error": ("log({0})",),
    "logging.info": ("log({0})",),
    "logging.debug": ("log({0})",),
    "logging.warning": ("log({0})",),
    "logging.error": ("log({0})",),
    "asyncio.run": ("{0}",),
    "math.floor": ("int({0} // 1)",),
    "math.ceil": ("-int(-({0}) // 1)",),
    "Math.floor": ("int({0} // 1)",),
    "Math.ceil": ("-int(-({0}) // 1)",),
    "Math.round": ("round({0})",),
    "Math.abs": ("abs({0})",),
    "Math.max": ("max({0}, {1})", "max({0}, {1}, {2})"),
    "Math.min": ("min({0}, {1})", "min({0}, {1}, {2})"),
    "random.choice": ("{0}[0]",),
    "statistics.mean": ("sum({0}) / len({0})",),
    "itertools.product": ("[(a, b) for a in {0} for b in {1}]",),
    "itertools.chain": ("[*{0}, *{1}]",),
    "copy.copy": ("{0}.copy()",),
    "Object.keys": ("list({0}.keys())",),
    "Object.values": ("list({0}.values())",),
    "Object.entries": ("list({0}.items())",),
}
_METHODS: dict[str, tuple[str, ...]] = {
    "zfill": ('f"{{{x}:0>{{{0}}}}}"',),
    "ljust": ('f"{{{x}:<{{{0}}}}}"',),
    "rjust": ('f"{{{x}:>{{{0}}}}}"',),
    "center": ('f"{{{x}:^{{{0}}}}}"',),
    "has_key": ("{0} in {x}",),
    "has": ("{0} in {x}",),
    "includes": ("{0} in {x}",),
    "contains": ("{0} in {x}",),
    "push": ("{x}.append({0})",),
    "unshift": ("{x}.insert(0, {0})",),
    "shift": ("{x}.pop(0)",),
    "concat": ("{x} + {0}",),
    "length": ("len({x})",),
    "size": ("len({x})",),
    "isnumeric": ("{x}.isdigit()",),
    "isdecimal": ("{x}.isdigit()",),
    "isupper": ("{x} == {x}.upper()",),
    "islower": ("{x} == {x}.lower()",),
    "casefold": ("{x}.lower()",),
    "toUpperCase": ("{x}.upper()",),
    "toLowerCase": ("{x}.lower()",),
    "trim": ("{x}.strip()",),
    "toString": ("str({x})",),
    "toFixed": ('f"{{{x}:.{0}f}}"',),
    "charAt": ("{x}[{0}]",),
    "at": ("{x}[{0}]",),
    "substring": ("{x}[{0}:{1}]", "{x}[{0}:]"),
    "substr": ("{x}[{0}:]",),
    "slice": ("{x}[{0}:{1}]", "{x}[{0}:]"),
    "expandtabs": ('{x}.replace("\\t", "        ")', '{x}.replace("\\t", " " * {0})'),
    "replaceAll": ("{x}.replace({0}, {1})",),
    "most_common": (
        "sorted({x}.items(), key=lambda kv: kv[1], reverse=True)",
        "sorted({x}.items(), key=lambda kv: kv[1], reverse=True)[:{0}]",
    ),
    "fromkeys": ("{{key: None for key in {0}}}", "{{key: {1} for key in {0}}}"),
    "map": ("[{call} for {p} in {x}]",),
    "filter": ("[{p} for {p} in {x} if {call}]",),
    "some": ("any({call} for {p} in {x})",),
    "every": ("all({call} for {p} in {x})",),
}
_LONGEST = 80


def of_builtin(survey: Survey, call: n.Node) -> str:
    """Return what to write for a call of a builtin that plans lack, or nothing."""
    if not isinstance(call, n.Call) or not isinstance(call.function, n.Name) or call.keywords:
        return ""
    if call.function.id == "chr" and len(call.args) == 1:
        return _character(call.args[0])
    return _filled(survey, _BUILTINS.get(call.function.id, ()), call.args, None)


def of_module(survey: Survey, node: n.Node) -> str:
    """Return what to write for a call of a module's function, or nothing."""
    if not isinstance(node, n.MethodCall) or not isinstance(node.receiver, n.Name):
        return ""
    if (node.receiver.id, node.name) in _GATHER and "parallel" in survey.vocabulary.words:
        return _gathered(survey, node)
    return _filled(survey, _MODULES.get(f"{node.receiver.id}.{node.name}", ()), node.args, None)


_GATHER = (("asyncio", "gather"), ("Promise", "all"))


def _gathered(survey: Survey, call: n.MethodCall) -> str:
    """Return ``parallel`` over what ``gather`` was given, each call in a function of its own."""
    args = call.args
    given = args[0].value if len(args) == 1 and isinstance(args[0], n.Starred) else None
    if len(args) == 1 and isinstance(args[0], n.ListDisplay):
        args = args[0].items
    if isinstance(given, n.ListComp | n.Generator) and survey.text(given, 160) != "...":
        targets = [name for clause in given.clauses for name in survey.within(clause.target)]
        bound = {name.id for name in targets if isinstance(name, n.Name)}
        read = [name.id for name in survey.within(given.element) if isinstance(name, n.Name) and name.id in bound]
        defaults = ", ".join(f"{name}={name}" for name in dict.fromkeys(read))
        thunk = f"lambda {defaults}:" if defaults else "lambda:"
        loops = survey.source[given.element.end : given.clauses[-1].end]
        return f"parallel([{thunk} {survey.text(given.element)}{loops}])"
    shown = [survey.text(arg) for arg in args]
    if not shown or given is not None or "..." in shown or not all(isinstance(a, n.Call) for a in args):
        return ""
    return f"parallel([{', '.join(f'lambda: {one}' for one in shown)}])"


def of_method(survey: Survey, call: n.MethodCall) -> str:
    """Return what to write for a call of a method that no value has, or nothing."""
    if call.name in ("encode", "decode"):
        return survey.text(call.receiver)
    return _apart(survey, call, _filled(survey, _METHODS.get(call.name, ()), call.args, call.receiver))


def _apart(survey: Survey, call: n.Node, made: str) -> str:
    """Put brackets around what would be torn apart by the operators around it."""
    joined = isinstance(survey.parent.get(call), n.Chain | n.Compare | n.Subscript | n.MethodCall | n.Unary)
    return f"({made})" if joined and made and made[-1] not in ')]"' else made


def _character(code: n.Node) -> str:
    value = code.value if isinstance(code, n.Constant) else None
    plain = type(value) is int and 32 <= value < 127 and chr(value) not in '"\\'
    return f'"{chr(int(value or 0))}"' if plain else ""


def _filled(survey: Survey, patterns: tuple[str, ...], args: list[n.Node], receiver: n.Node | None) -> str:
    shown = {str(at): _argument(survey, arg) for at, arg in enumerate(args)}
    if receiver is not None:
        shown["x"] = survey.text(receiver)
    if len(args) == 1 and isinstance(args[0], n.Lambda) and len(args[0].parameters.in_slot_order()) == 1:
        shown["p"] = args[0].parameters.in_slot_order()[0].target.id
        shown["call"] = survey.text(args[0].body)
    if "..." in shown.values() or any(isinstance(arg, n.Starred) for arg in args):
        return ""
    for pattern in patterns:
        wanted = {name for _, name, _, _ in Formatter().parse(pattern) if name}
        if "call" in wanted and "call" not in shown:
            continue
        if "call" in wanted or {name for name in wanted if name.isdigit()} == {str(i) for i in range(len(args))}:
            made = _put(pattern, shown)
            return made if len(made) <= _LONGEST and "`" not in made else ""
    return ""


def _argument(survey: Survey, node: n.Node) -> str:
    shown = survey.text(node)
    loose = isinstance(node, n.Or | n.And | n.Conditional | n.Compare | n.Chain | n.Unary | n.Lambda)
    bracketed = survey.source[node.start] == "(" and survey.source[node.end - 1] == ")"
    return f"({shown})" if loose and not bracketed and shown != "..." else shown


def _put(pattern: str, shown: dict[str, str]) -> str:
    parts = []
    for text, name, _, _ in Formatter().parse(pattern):
        parts.append(text + (shown[name] if name else ""))
    return "".join(parts)
