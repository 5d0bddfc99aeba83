"""Functions of modules, which plans do not have, written as something they do have."""

from __future__ import annotations

from . import _nodes as n
from ._names import ELSEWHERE
from ._refusals import MODULES
from ._rewrites import filled
from ._survey import Survey

__all__ = ["hint_of_function", "hint_of_module", "outermost_of_module", "without_line", "without_stop"]

_FUNCTIONS: dict[str, tuple[str, ...]] = {
    "asyncio.run": ("{0}",),
    "chain.from_iterable": ("[x for xs in {0} for x in xs]",),
    "collections.OrderedDict": ("{{}}", "dict({0})"),
    "console.error": ("log({0})",),
    "console.log": ("log({0})",),
    "copy.copy": ("{0}.copy()",),
    "heapq.nlargest": ("sorted({1}, reverse=True)[:{0}]",),
    "heapq.nsmallest": ("sorted({1})[:{0}]",),
    "itertools.chain": ("[*{0}, *{1}]",),
    "itertools.chain.from_iterable": ("[x for xs in {0} for x in xs]",),
    "itertools.islice": ("list({0})[:{1}]",),
    "itertools.product": ("[(a, b) for a in {0} for b in {1}]",),
    "json.dumps": ("to_json({0})",),
    "json.loads": ("{0}",),
    "JSON.parse": ("{0}",),
    "JSON.stringify": ("to_json({0})",),
    "logger.debug": ("log({0})",),
    "logger.error": ("log({0})",),
    "logger.info": ("log({0})",),
    "logger.warning": ("log({0})",),
    "logging.debug": ("log({0})",),
    "logging.error": ("log({0})",),
    "logging.info": ("log({0})",),
    "logging.warning": ("log({0})",),
    "math.ceil": ("-int(-({0}) // 1)",),
    "math.floor": ("int({0} // 1)",),
    "math.inf": ('float("inf")',),
    "math.nan": ('float("nan")',),
    "math.pi": ("3.141592653589793",),
    "Math.abs": ("abs({0})",),
    "Math.ceil": ("-int(-({0}) // 1)",),
    "Math.floor": ("int({0} // 1)",),
    "Math.max": ("max({0}, {1})", "max({0}, {1}, {2})"),
    "Math.min": ("min({0}, {1})", "min({0}, {1}, {2})"),
    "Math.round": ("round({0})",),
    "np.mean": ("sum({0}) / len({0})",),
    "Object.entries": ("list({0}.items())",),
    "Object.keys": ("list({0}.keys())",),
    "Object.values": ("list({0}.values())",),
    "operator.attrgetter": ("lambda x: x[{0}]", "lambda x: (x[{0}], x[{1}])"),
    "operator.itemgetter": ("lambda x: x[{0}]", "lambda x: (x[{0}], x[{1}])"),
    "os.path.basename": ('{0}.split("/")[-1]',),
    "os.path.dirname": ('{0}.rpartition("/")[0]',),
    "os.path.join": ('{0} + "/" + {1}', '{0} + "/" + {1} + "/" + {2}'),
    "random.choice": ("{0}[0]",),
    "random.sample": ("{0}[:{1}]",),
    "statistics.mean": ("sum({0}) / len({0})",),
    "statistics.median": ("(sorted({0})[len({0}) // 2] + sorted({0})[(len({0}) - 1) // 2]) / 2",),
    "textwrap.dedent": ("{0}",),
    "warnings.warn": ("log({0})",),
}
_BARE = {
    name.rpartition(".")[2]: patterns
    for name, patterns in _FUNCTIONS.items()
    if not (name[0].isupper() or name == "os.path.join")
}
"""The same by the last name, as ``from module import name`` leaves it."""
_STATEMENTS = frozenset(("asyncio.sleep", "time.sleep", "random.shuffle", "random.seed", "logging.basicConfig"))
_GATHER = ("asyncio.gather", "Promise.all")
_OF_MANNER = frozenset(("asyncio", "console", "json", "logger", "logging", "warnings"))
"""Modules whose keywords say how something is shown or run, and not what: nothing is lost without them."""


def outermost_of_module(survey: Survey, node: n.Node) -> n.Node:
    """Return the whole of a chain such as ``os.path.basename(p)`` from its first attribute."""
    while True:
        user = survey.parent.get(node)
        if isinstance(user, n.Attribute) and user.value is node:
            node = user
        elif isinstance(user, n.MethodCall) and user.receiver is node and isinstance(node, n.Attribute):
            return user
        else:
            return node


def hint_of_module(survey: Survey, module: str, node: n.Node) -> str:
    """Return what to do about ``node``, which asks something of a module that plans do not have."""
    path = _path(node)
    statement = survey.parent.get(node)
    if path == "sys.exit" and isinstance(statement, n.ExprStatement):
        return without_stop(survey, statement)
    if path == "logging.getLogger" and isinstance(statement, n.Assign):
        return without_line(survey, statement)  # what is asked of its name is told where it stands
    if path in _STATEMENTS and isinstance(statement, n.ExprStatement):
        return without_line(survey, statement)
    made = _of_function(survey, path, node)
    if made:
        return f"write `{made}`."
    last = path.rpartition(".")[2]
    return f"{ELSEWHERE[last] if last in ELSEWHERE else MODULES[module]}."


def hint_of_function(survey: Survey, name: n.Name) -> str:
    """Return what to write for a call of a function by the name that an import would give it, or nothing."""
    call = survey.parent.get(name)
    if not isinstance(call, n.Call) or call.function is not name or call.keywords:
        return ""
    made = filled(survey, call, _BARE.get(name.id, ()))
    return f"write `{made}`." if made else ""


def without_stop(survey: Survey, statement: n.Node) -> str:
    """Say what becomes of a line that would end the plan."""
    around = list(survey.above(statement))
    if any(isinstance(outer, n.Def) for outer in around):
        return "write `return None`."
    last = survey.module.body[-1]
    loops = [outer for outer in around if isinstance(outer, n.For)]
    if len(loops) > 1 or (loops and (loops[0].orelse or survey.all(n.Break))):  # `break` leaves one, to go on below
        return "put the loop and all that follows it into a `def`, and `return None` here."
    if loops:
        rest = "" if loops[0] is last else ", and put what follows the loop into its `else:`"
        return f"write `break`{rest}."
    if around[0] in (survey.module, last):
        return without_line(survey, statement)
    return "put what follows its block into an `else`, and delete this line."


def without_line(survey: Survey, statement: n.Node) -> str:
    """Say that a line goes, or what keeps its block from being empty."""
    around = survey.parent[statement]
    blocks = [around.body] if isinstance(around, n.For | n.Def) else []
    blocks += around.bodies if isinstance(around, n.If) else []
    blocks += [around.orelse] if isinstance(around, n.For | n.If) else []
    return "write `pass`." if [statement] in blocks else "delete this line."


def _path(node: n.Node) -> str:
    names: list[str] = []
    while isinstance(node, n.Attribute | n.MethodCall):
        names.append(node.name)
        node = node.value if isinstance(node, n.Attribute) else node.receiver
    return ".".join([node.id if isinstance(node, n.Name) else "", *names[::-1]])


def _of_function(survey: Survey, path: str, node: n.Node) -> str:
    if isinstance(node, n.MethodCall):
        if path in _GATHER and "parallel" in survey.vocabulary.words:
            return _gathered(survey, node)
        if node.keywords and path.partition(".")[0] not in _OF_MANNER:
            return ""
        if path == "re.sub" and len(node.args) == 3 and _collapses_blanks(node.args):
            return f'" ".join({survey.text(node.args[2])}.split())'
        if path == "fnmatch.fnmatch" and len(node.args) == 2:
            return _matches(survey, *node.args)
    return filled(survey, node, _FUNCTIONS.get(path, ()))


def _matches(survey: Survey, text: n.Node, pattern: n.Node) -> str:
    """Return how a text begins or ends, for a pattern of nothing but one star at its other end."""
    wanted = pattern.value if isinstance(pattern, n.Constant) else None
    if not isinstance(wanted, str) or not isinstance(text, n.Name) or set(wanted.strip("*")) & set('*?["\\`'):
        return ""
    if wanted.count("*") != 1:
        return ""
    return f'{text.id}.endswith("{wanted[1:]}")' if wanted[0] == "*" else f'{text.id}.startswith("{wanted[:-1]}")'


def _collapses_blanks(args: list[n.Node]) -> bool:
    values = [arg.value for arg in args[:2] if isinstance(arg, n.Constant)]
    return values == ["\\s+", " "] and not isinstance(args[2], n.Starred)


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
