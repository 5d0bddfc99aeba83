"""Who is called: functions of a shard by name, found through imports, classes and ``self``.

A name is followed only where it has one meaning. A function that is defined twice with different parameters, a name
that a function binds itself, a module that two paths could be: none of them is resolved, because a wrong guess
would be a wrong report.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

import attrs

from planloom.data_classes import frozen

from ._unbound import local_names, parameters_of
from .parsed import Function, ParsedFile, Shard


@frozen(eq=False)
class Target:
    """A function that a call reaches.

    :ivar parameters: names of its positional parameters as a caller fills them, ``self`` left out.
    """

    function: Function
    parameters: tuple[str, ...]


@attrs.define(eq=False)
class Names:
    """What the top level of one file defines and imports. Filled once and read-only afterwards.

    :ivar functions: by qualified name (``area``, ``Shape.area``); ``None`` where two definitions differ.
    :ivar imported: local name to (dotted module, name in it or an empty text for the module itself).
    """

    functions: dict[str, Target | None] = attrs.field(factory=dict)
    bases: dict[str, tuple[str, ...]] = attrs.field(factory=dict)
    imported: dict[str, tuple[str, str]] = attrs.field(factory=dict)


def module_of(path: str) -> str:
    """Return the dotted name of the module that a path holds, ``a.b`` for ``a/b.py`` and ``a/b/__init__.py``."""
    parts = path.removesuffix(".py").removesuffix(".pyi").split("/")
    if parts[-1] == "__init__":
        parts.pop()
    return ".".join(parts)


def resolver_of(shard: Shard) -> Resolver:
    """Return the resolver of a shard, made once."""
    return shard.once("signatures", lambda: Resolver(shard.files))


class Resolver:
    """Finds the functions of one shard that calls reach."""

    def __init__(self, files: Sequence[ParsedFile]) -> None:
        self._names = {id(file): _names(file) for file in files}
        self._modules: dict[str, list[ParsedFile]] = {}
        for file in files:
            dotted = module_of(file.path)
            self._modules.setdefault(dotted.rpartition(".")[2], []).append(file)

    def target(self, file: ParsedFile, called: ast.expr, function: Function | None) -> Target | None:
        """Return the one function that a call's ``func`` means at the top level of its file, or ``None``.

        Names that a function around the call binds itself are not looked at: ask :func:`shadowed`.
        """
        match called:
            case ast.Name(id=name):
                return self._global(file, name)
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
                return self._method(file, function, name)
            case ast.Attribute(value=ast.Name(id=owner), attr=name):
                return self._attribute(file, owner, name)
        return None

    def _global(self, file: ParsedFile, name: str, hops: int = 2) -> Target | None:
        names = self._names[id(file)]
        if name in names.functions:
            return names.functions[name]
        if name in names.bases:
            return names.functions.get(f"{name}.__init__")
        if name in names.imported and hops:
            module, original = names.imported[name]
            other = self._module(module) if original else None
            return self._global(other, original, hops - 1) if other is not None else None
        return None

    def _method(self, file: ParsedFile, function: Function | None, name: str) -> Target | None:
        while function is not None and not function.class_name:
            function = function.parent
        owner = function.class_name if function is not None else ""
        names, seen = self._names[id(file)], set[str]()
        while owner and owner not in seen:
            seen.add(owner)
            if f"{owner}.{name}" in names.functions:
                return names.functions[f"{owner}.{name}"]
            owner = next(iter(names.bases.get(owner, ())), "")
        return None

    def _attribute(self, file: ParsedFile, owner: str, name: str) -> Target | None:
        names = self._names[id(file)]
        if owner in names.bases:
            target = names.functions.get(f"{owner}.{name}")
            return target if target is not None and _is_static(target.function.node) else None
        if owner not in names.imported:
            return None
        module, original = names.imported[owner]
        other = self._module(f"{module}.{original}" if original else module)
        return self._global(other, name) if other is not None else None

    def _module(self, dotted: str) -> ParsedFile | None:
        """The one file whose path ends on a dotted name, or that the name ends on."""
        found = [
            file for file in self._modules.get(dotted.rpartition(".")[2], ()) if _suffixes(module_of(file.path), dotted)
        ]
        return found[0] if len(found) == 1 else None


def _suffixes(one: str, other: str) -> bool:
    return f".{one}".endswith(f".{other}") or f".{other}".endswith(f".{one}")


def _names(file: ParsedFile) -> Names:
    names = Names()
    for function in file.functions:
        if function.parent is None:
            _add(names, function)
    for node in _top_level(file.tree.body):
        if isinstance(node, ast.ClassDef):
            names.bases[node.name] = tuple(base.id for base in node.bases if isinstance(base, ast.Name))
        elif isinstance(node, ast.Import):
            names.imported.update((a.asname, (a.name, "")) for a in node.names if a.asname)
            names.imported.update((a.name, (a.name, "")) for a in node.names if not a.asname and "." not in a.name)
        elif isinstance(node, ast.ImportFrom):
            module = _absolute(file.path, node)
            names.imported.update((a.asname or a.name, (module, a.name)) for a in node.names)
    return names


def _top_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try):
            yield from _top_level([*node.body, *node.orelse])


def _absolute(path: str, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parts = path.split("/")[: -node.level]
    return ".".join([*parts, node.module] if node.module else parts)


def _add(names: Names, function: Function) -> None:
    node = function.node
    parameters = [argument.arg for argument in [*node.args.posonlyargs, *node.args.args]]
    if function.class_name and not _is_static(node):
        parameters = parameters[1:]
    known = names.functions.get(function.qualname)
    target: Target | None = Target(function, tuple(parameters))
    if function.qualname in names.functions and (known is None or known.parameters != tuple(parameters)):
        target = None
    names.functions[function.qualname] = target


def _is_static(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in node.decorator_list)


def shadowed(called: ast.expr, function: Function | None) -> bool:
    """Whether a function around the call binds the name that the call starts from."""
    while isinstance(called, ast.Attribute):
        called = called.value
    name = called.id if isinstance(called, ast.Name) else ""
    while function is not None and name not in ("self", "cls"):
        if name in local_names(function.node) or name in parameters_of(function.node):
            return True
        function = function.parent
    return False
