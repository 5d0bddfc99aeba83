"""Calls of words: they fit the word's signature, and literal arguments fit its types and choices."""

from __future__ import annotations

from inspect import Parameter, Signature

from . import _nodes as n
from ._check_split import thunks_split
from ._formats import with_values
from ._literals import grouped
from ._near import listed, nearest
from ._survey import Survey
from ._vocabulary import Word
from ._written import UNKNOWN, Written

__all__ = ["check_calls"]

_HABITS = {
    "agent_type": "give `model=` the name of a role",
    "subagent_type": "give `model=` the name of a role",
    "tools": "delete it: a word's worker has the tools that the word gives it",
    "thinking": "delete it, and choose a role with `model=`; the project's configuration says how hard it thinks",
    "top_p": "delete it: the project's configuration sets it for each role",
    "effort": "delete it, and choose a role with `model=`; the project's configuration says how hard it thinks",
    "reasoning": "delete it, and choose a role with `model=`; the project's configuration says how hard it thinks",
    "provider": "delete it, and choose a role with `model=`; the project's configuration says who serves it",
    "temperature": "delete it: the project's configuration sets it for each role",
    "max_tokens": "delete it: the project's configuration sets it for each role",
    "timeout": "delete it: the project's configuration sets it",
    "timeout_s": "delete it: the project's configuration sets it",
    "max_attempts": "delete it: failed calls are tried again by themselves",
    "retries": "delete it: failed calls are tried again by themselves",
    "max_retries": "delete it: failed calls are tried again by themselves",
    "isolation": "delete it: the project's configuration sets it",
    "max_workers": "delete it: the runtime runs as many at once as it may",
    "concurrency": "delete it: the runtime runs as many at once as it may",
}

_LITERALS: dict[str, tuple[str, ...]] = {
    "int": ("int",),
    "float": ("int", "float"),
    "str": ("str",),
    "bool": ("bool",),
    "list": ("list",),
    "dict": ("dict",),
}
_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


def check_calls(survey: Survey) -> None:
    """Judge every call that names a word."""
    written, judged = Written(survey), set[tuple[str, n.Node]]()
    for call in survey.all(n.Call):
        word = survey.word(call)
        if word is not None:
            _Fit(survey, call, word, written, judged).judge()
        elif isinstance(call.function, n.Name) and call.function.kind == n.WORD:
            name = call.function.id
            item = f"[{survey.text(call.args[0])}]" if len(call.args) == 1 and not call.keywords else ""
            survey.at("PL121", call, f"`{name}` is a value, not a word to call", f"write `{name}{item}`.")


class _Fit:
    """One call held against its word."""

    def __init__(
        self, survey: Survey, call: n.Call, word: Word, written: Written, judged: set[tuple[str, n.Node]]
    ) -> None:
        self.survey, self.call, self.word, self.written, self.judged = survey, call, word, written, judged
        self.parameters = word.signature.parameters
        self.given: dict[str, n.Node] = {}
        self.spread = any(isinstance(a, n.Starred) for a in call.args) or any(not k.name for k in call.keywords)

    def judge(self) -> None:
        if thunks_split(self.survey, self.call, self.word) or options_in_a_dict(self.survey, self.call, self.word):
            return
        self._by_position()
        for keyword in self.call.keywords:
            if keyword.name:
                self._by_keyword(keyword, keyword.name)
        self._missing()
        for name, value in self.given.items():
            self._value(self.parameters[name], value)

    def _by_position(self) -> None:
        places = [p for p in self.parameters.values() if p.kind in _POSITIONAL]
        takes_rest = any(p.kind is Parameter.VAR_POSITIONAL for p in self.parameters.values())
        for at, argument in enumerate(self.call.args):
            if isinstance(argument, n.Starred):
                return
            if at < len(places):
                self.given[places[at].name] = argument
            elif not takes_rest:
                self._too_many(argument, len(places))
                return

    def _too_many(self, argument: n.Node, most: int) -> None:
        name, args = self.word.name, self.call.args
        rest = [p.name for p in self.parameters.values() if p.kind is Parameter.KEYWORD_ONLY]
        message = f"`{name}` takes at most {most} argument{'s' * (most != 1)} by position, not {len(args)}"
        number = grouped(self.survey.source[args[0].start : args[-1].end])
        if number:
            self.survey.complain("PL107", args[0].start, args[-1].end, message, f"write `{number}`, one number.")
        elif not self.parameters:
            self.survey.at("PL107", self.call, f"`{name}` takes no arguments", f"write `{name}()`.")
        elif (
            most == 1 and not rest and not self.word.spends and not self.word.runs_tasks and one_text(self.survey, args)
        ):
            hint = f"write `{one_text(self.survey, args)}`, one text of all."
            self.survey.complain("PL107", args[0].start, args[-1].end, message, hint)
        else:
            hint = f"give the others by keyword: {listed(f'{r}=' for r in rest)}." if rest else self._called()
            self.survey.at("PL107", argument, message, hint)

    def _called(self) -> str:
        return f"call it as `{_shown(self.word)}`."

    def _by_keyword(self, keyword: n.Keyword, name: str) -> None:
        start, end = keyword.start, keyword.start + len(name)
        by_keyword = [k.name for k in self.call.keywords if k.end <= start]
        known = self.word.aliases.get(name, name)
        said = any(fault.code == "PL209" for fault in self.survey.faults)
        if known != name and name not in self.parameters and not said:
            message = f"`{name}=` of `{self.word.name}` is called `{known}=`"
            self.survey.complain("PL209", start, end, message, f"write `{known}`.")
        parameter = self.parameters.get(known)
        if parameter is not None and parameter.kind in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY):
            if known in self.given and name not in by_keyword:
                message = f"`{known}` of `{self.word.name}` is given twice"
                self.survey.at("PL120", keyword, message, "delete it, or the other one.")
            self.given[known] = keyword.value
        elif not any(p.kind is Parameter.VAR_KEYWORD for p in self.parameters.values()):
            self._unknown(keyword, name)

    def _unknown(self, keyword: n.Keyword, name: str) -> None:
        habit = _HABITS.get(_snake(name))
        if habit is not None:
            self.survey.at("PL117", keyword, f"`{self.word.name}` has no keyword `{name}`", f"{habit}.")
            return
        known = [p.name for p in self.parameters.values() if p.kind in (*_POSITIONAL, Parameter.KEYWORD_ONLY)]
        near = nearest(name, [one for one in known if one not in self.given])
        message = f"`{self.word.name}` has no keyword `{name}`"
        if near:
            hint = f"write `{near}`; it takes: {listed(known)}."
            self.survey.complain("PL105", keyword.start, keyword.start + len(name), message, hint)
        else:
            self.survey.at("PL105", keyword, message, f"delete it; `{self.word.name}` takes: {listed(known)}.")

    def _missing(self) -> None:
        if self.spread:
            return
        fixed = [p for p in self.parameters.values() if p.kind not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)]
        missing = [p.name for p in fixed if p.default is Parameter.empty and p.name not in self.given]
        if missing:
            message = f"`{self.word.name}` needs {' and '.join(f'`{name}`' for name in missing)}"
            self.survey.at("PL106", self.call, message, self._called())

    def _value(self, parameter: Parameter, value: n.Node) -> None:
        found = _kind(value)
        wanted = _wanted(parameter)
        if found and wanted and found not in wanted:
            message = f"`{parameter.name}` of `{self.word.name}` takes {' or '.join(wanted)}, not {_article(found)}"
            self.survey.at("PL108", value, message, self._fitting(parameter, value, found, wanted))
        elif _is_type(self.survey, value) and not self.word.runs_tasks:
            message = f"`{parameter.name}` of `{self.word.name}` takes data, and `{self.survey.text(value)}` is a type"
            choices = sorted(self.word.choices.get(parameter.name, ()))
            hint = f"give it one of: {listed(choices)}." if choices else "give it a text, or data such as a dict."
            self.survey.at("PL108", value, message, hint)
        elif parameter.name in self.word.choices:
            for name in _named(self.survey, self.written, value):
                self._choice(parameter.name, name)
        elif parameter.name in self.word.judges:
            self._judged(parameter.name, value)

    def _fitting(self, parameter: Parameter, value: n.Node, found: str, wanted: tuple[str, ...]) -> str:
        """Return how to give the value in a type that fits."""
        shown = self.survey.text(value)
        given = value.value if isinstance(value, n.Constant) else None
        if "int" in wanted and isinstance(given, str) and given.isascii() and given.isdigit():
            return f"write `{int(given)}`."
        if "int" in wanted and isinstance(given, float) and given == given // 1:
            return f"write `{int(given)}`."
        if "str" in wanted and type(given) in (int, float):
            return f'write `"{shown}"`.'
        if given is None and found == "NoneType" and parameter.default is not Parameter.empty:
            return f"leave it out, or write `{parameter.default!r}`."
        if "dict" in wanted and isinstance(given, str) and "SCHEMAS" in self.survey.vocabulary:
            return f"write `SCHEMAS[{shown}]`."
        if parameter.name in self.word.choices and found in ("list", "tuple", "set"):
            return f"give it one; for several, call `{self.word.name}` once for each."
        return self._called()

    def _judged(self, parameter: str, value: n.Node) -> None:
        """Name what the word's own judge has against data that is written out; once, however often it is given."""
        asked = f"{self.word.name} {parameter}", self.written.stands_for(value)
        if asked in self.judged:
            return
        self.judged.add(asked)
        known = self.written.value_of(value)
        refused = self.word.judges[parameter](known) if known is not UNKNOWN else None
        if refused is not None:
            message, hint, path = refused
            self.survey.at("PL126", self.written.part_at(value, path), message, hint)

    def _choice(self, parameter: str, value: n.Constant) -> None:
        choices = sorted(self.word.choices[parameter])
        if value.value in choices:
            return
        noun = self.word.choice_nouns.get(parameter, parameter)
        near = nearest(str(value.value), choices)
        shown = str(value.value)
        shown = shown if len(shown) <= 40 else f"{shown[:40]}..."
        barred = self.word.barred.get(parameter, {}).get(str(value.value))
        if barred is not None:
            why, instead = barred
            self.survey.at("PL104", value, f"the {noun} `{shown}` cannot be named here: {why}", instead)
            return
        hint = f'write `"{near}"`; there are: {listed(choices)}.' if near else f"write one of: {listed(choices)}."
        if not choices:
            hint = f"there is no {noun} yet: leave `{parameter}` out."
        self.survey.at("PL104", value, f"no {noun} is named `{shown}`", hint)


def _snake(name: str) -> str:
    """Return ``maxTokens`` as ``max_tokens``."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name)


def _is_type(survey: Survey, value: n.Node) -> bool:
    return isinstance(value, n.Name) and value.kind == n.BUILTIN


def options_in_a_dict(survey: Survey, call: n.Call, word: Word) -> bool:
    """Name ``agent("x", {"model": "judge"})``: options that are given in a dict, not by keyword."""
    names = [p.name for p in word.signature.parameters.values() if p.kind in (*_POSITIONAL, Parameter.KEYWORD_ONLY)]
    last = call.args[-1] if call.args else None
    if len(names) < 2 or not isinstance(last, n.DictDisplay) or not last.keys:
        return False
    keys = [key.value for key in last.keys if isinstance(key, n.Constant)]
    if len(keys) < len(last.keys) or not all(_snake(str(key)) in (*names, *_HABITS) for key in keys):
        return False
    given = ", ".join(f"{key}={survey.text(value)}" for key, value in zip(keys, last.values, strict=True))
    message = f"the options of `{word.name}` are given by keyword, not in a dict"
    survey.at("PL108", last, message, f"write `{given}`.")
    return True


def one_text(survey: Survey, args: list[n.Node]) -> str:
    """Return an f-string of several arguments, as ``print`` would put them together; or nothing."""
    marked = with_values(survey, args[0], args[1:])
    if marked:
        return marked
    parts = [_inlined(survey, arg) for arg in args]
    made = f'f"{" ".join(parts)}"'
    return made if all(parts) and len(made) <= 100 and not any(c in made[2:-1] for c in '"`') else ""


def _inlined(survey: Survey, node: n.Node) -> str:
    """Return what stands for a value in an f-string: a text as it is, else a field; or nothing."""
    shown = survey.text(node)
    if shown == "..." or isinstance(node, n.Starred):
        return ""
    if isinstance(node, n.FString) and shown[:2] in ('f"', "f'") and shown.count(shown[1]) == 2:
        return shown[2:-1]
    if isinstance(node, n.Constant) and isinstance(node.value, str):
        plain = shown[0] in "'\"" and shown.count(shown[0]) == 2
        return shown[1:-1].replace("{", "{{").replace("}", "}}") if plain else ""
    return f"{{{' ' * shown.startswith('{')}{shown}}}"


def _named(survey: Survey, written: Written, value: n.Node) -> list[n.Constant]:
    """Return the literal texts that ``value`` is or, as a loop's variable, goes through."""
    value = written.stands_for(value)
    if isinstance(value, n.Constant):
        return [value] if isinstance(value.value, str) else []
    binding = survey.names.of.get(value) if isinstance(value, n.Name) else None
    if binding is None or len(binding.writes) != 1:
        return []
    around = survey.parent.get(binding.writes[0])
    if binding.is_parameter:
        default = around.default if isinstance(around, n.Parameter) else None
        return _named(survey, written, default) if isinstance(default, n.Name) else []
    items = written.stands_for(around.iterable) if isinstance(around, n.For | n.Clause) else None
    if not isinstance(items, n.ListDisplay | n.TupleDisplay):
        return []
    texts = [written.stands_for(item) for item in items.items]
    return [text for text in texts if isinstance(text, n.Constant) and isinstance(text.value, str)]


def _kind(value: n.Node) -> str:
    """Return the type that ``value`` has for certain, or nothing."""
    if isinstance(value, n.Constant):
        return type(value.value).__name__
    kinds: tuple[tuple[type[n.Node] | tuple[type[n.Node], ...], str], ...] = (
        (n.FString, "str"),
        ((n.ListDisplay, n.ListComp), "list"),
        ((n.DictDisplay, n.DictComp), "dict"),
        ((n.SetDisplay, n.SetComp), "set"),
        (n.TupleDisplay, "tuple"),
        (n.Lambda, "function"),
    )
    return next((name for types, name in kinds if isinstance(value, types)), "")


def _wanted(parameter: Parameter) -> tuple[str, ...]:
    """Return the literal types that fit, or nothing where the annotation does not say."""
    annotation = parameter.annotation
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    wanted: list[str] = []
    for part in str(text).split("|"):
        name = part.strip().partition("[")[0]
        if name in ("None", "NoneType"):
            wanted.append("NoneType")
        elif name in _LITERALS:
            wanted.extend(_LITERALS[name])
        else:
            return ()
    if parameter.default is None:
        wanted.append("NoneType")
    if "list" in wanted:
        wanted.append("tuple")
    return tuple(dict.fromkeys(wanted))


def _article(kind: str) -> str:
    if kind == "NoneType":
        return "`None`"
    return f"an {kind}" if kind == "int" else f"a {kind}"


def _shown(word: Word) -> str:
    return f"{word.name}{bare(word.signature)}"


def bare(signature: Signature) -> str:
    """Return a signature without its annotations, as a lead should read it."""
    plain = [p.replace(annotation=Parameter.empty) for p in signature.parameters.values()]
    return str(Signature(plain))
