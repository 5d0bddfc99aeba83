"""The codes of problems and the page about each. A code never changes its meaning.

PL001 to PL030: text and syntax. PL031 to PL064: Python that plans do not have. PL101 to PL126: names, words, tasks.
PL201 onwards: advice, which never blocks a plan.
"""

from __future__ import annotations

__all__ = ["PAGES", "Page", "codes", "explain", "is_advice"]


class Page:
    """What is known about one code; ``wrong`` shows it, ``right`` is the same with the problem mended."""

    __slots__ = ("right", "title", "why", "wrong")

    def __init__(self, title: str, why: str, wrong: str, right: str) -> None:
        self.title, self.why, self.wrong, self.right = title, why, wrong, right


_OUTSIDE = "A plan reaches nothing but the words it was given, so that it can be priced, replayed and trusted."
_ENDS = "A plan must end whatever happens, and its end must be visible before it runs."
_PLAIN = "The language is the part of Python that a plan needs; the fewer the ways, the fewer the surprises."
_PYTHON = "Every plan is valid Python, and this is not."
_DATA = "Values are plain data: there is no inside of them that an attribute could reach."
_WORDS = "A call that does not fit its word would fail in the middle of a run, after money was spent."
_TASKS = "Tasks run at the same time; what they share must not depend on which is first."

PAGES: dict[str, Page] = {
    "PL001": Page("the plan is too long", "Lengths are bounded so that checking is quick.", "# " + "x" * 40, "x = 1"),
    "PL002": Page("too many lines of code", "A plan of at most 80 lines can be read before it is run.", "", "x = 1"),
    "PL003": Page("too much code", "Text in quotes is free; code is bounded to be readable.", "", "x = 1"),
    "PL004": Page(
        "nested too deep",
        "Depth is bounded so that nothing recurses without end.",
        "x = " + "[" * 120 + "]" * 120,
        "x = []",
    ),
    "PL005": Page(
        "a forbidden character", "It makes a plan read otherwise than it shows.", "x = 'a\x07b'", "x = 'a\\x07b'"
    ),
    "PL006": Page("a character that is not Python", _PYTHON, "x = 1 $ 2", "x = 1 + 2"),
    "PL007": Page("a curly quote", _PYTHON, "x = \u201ctext\u201d", 'x = "text"'),
    "PL008": Page("a code fence", "The plan is sent alone.", "```\nx = 1\n```", "x = 1"),
    "PL009": Page(
        "prose around the plan",
        "The plan is sent alone.",
        "Here is the plan for you.\nx = 1",
        "# Here is the plan.\nx = 1",
    ),
    "PL010": Page("a syntax error", _PYTHON, "x = 1 2", "x = [1, 2]"),
    "PL011": Page("a bracket is never closed", _PYTHON, "x = [1, (2]", "x = [1, (2)]"),
    "PL012": Page("a bracket closes nothing", _PYTHON, "x = 1)", "x = 1"),
    "PL013": Page("a text is never closed", _PYTHON, 'x = "abc', 'x = "abc"'),
    "PL014": Page("indentation opens or closes no block", _PYTHON, "x = 1\n    y = x", "x = 1\ny = x"),
    "PL015": Page(
        "tabs mixed with blanks", "The two look alike and count differently.", "if 1:\n \tx = 1", "if 1:\n    x = 1"
    ),
    "PL016": Page("a broken field in an f-string", _PYTHON, 'x = f"{}"', 'x = f"{1}"'),
    "PL017": Page("a broken escape", _PYTHON, 'x = "\\x4"', 'x = "\\x04"'),
    "PL018": Page("not a number", _PYTHON, "x = 0777", "x = 777"),
    "PL019": Page("a prefix that texts do not have", _PYTHON, 'x = ur"a"', 'x = r"a"'),
    "PL020": Page("something stands where it cannot", _PYTHON, "x = {1: 2, 3}", "x = {1: 2, 3: 4}"),
    "PL021": Page("this cannot be assigned to", _PYTHON, "len([1]) = 5", "n = 5"),
    "PL022": Page("a name is given twice", _PYTHON, "x = dict(a=1, a=2)", "x = dict(a=1, b=2)"),
    "PL023": Page(
        "arguments or parameters in the wrong order",
        _PYTHON,
        "def f(a=1, b):\n    return b",
        "def f(b, a=1):\n    return b",
    ),
    "PL024": Page("break or continue outside of a loop", _PYTHON, "break", "for i in range(3):\n    break"),
    "PL025": Page("return outside of a function", "A plan gives its value in `result`.", "return 5", "result = 5"),
    "PL026": Page(
        "an integer above the bound",
        "Large numbers in a plan are nearly always mistakes.",
        "x = 1000001",
        "x = 1000000",
    ),
    "PL027": Page(
        "a float that is infinite", "Results are stored as JSON, which has no infinity.", "x = 1e999", "x = 1e99"
    ),
    "PL028": Page("a width or precision above the bound", "A width is memory.", 'x = f"{1:9999}"', 'x = f"{1:99}"'),
    "PL029": Page(
        "a generator beside other arguments",
        _PYTHON,
        "x = sorted(i for i in [2, 1], reverse=True)",
        "x = sorted([i for i in [2, 1]], reverse=True)",
    ),
    "PL030": Page(
        "a name that is not ASCII",
        "Letters of other scripts can look like Latin ones.",
        "gr\u00f6\u00dfe = 1",
        "size = 1",
    ),
    "PL031": Page("while", _ENDS, "while True:\n    break", "for attempt in range(100):\n    break"),
    "PL032": Page("import", _OUTSIDE, "import os", "x = 1"),
    "PL033": Page(
        "try", "A failed worker already gives `None`.", "try:\n    x = 1\nexcept ValueError:\n    x = 2", "x = 1"
    ),
    "PL034": Page("raise", "A plan ends with what it has.", "raise ValueError('x')", "x = None"),
    "PL035": Page("assert", _PLAIN, "assert 1 == 1", "x = 1 == 1"),
    "PL036": Page("class", _PLAIN, "class A:\n    x = 1", 'a = {"x": 1}'),
    "PL037": Page("with", _OUTSIDE, "with open('x') as f:\n    y = 1", "y = 1"),
    "PL038": Page(
        "global and nonlocal",
        _TASKS,
        "n = 0\ndef f():\n    global n\n    return 1",
        "n = 0\ndef f(n):\n    return n + 1\nn = f(n)",
    ),
    "PL039": Page("del", _PLAIN, "d = {1: 2}\ndel d[1]", "d = {1: 2}\nd.pop(1)"),
    "PL040": Page("yield", _PLAIN, "def f():\n    yield 1", "def f():\n    return [1]"),
    "PL041": Page(
        "async and await",
        "Words that wait are simply called.",
        "async def f():\n    return 1",
        "def f():\n    return 1",
    ),
    "PL043": Page("match", _PLAIN, "match 1:\n    case 1:\n        x = 1", "if 1 == 1:\n    x = 1"),
    "PL044": Page("decorators", _PLAIN, "@cache\ndef f():\n    return 1", "def f():\n    return 1"),
    "PL045": Page("assignment inside an expression", _PLAIN, "if (n := 1):\n    x = n", "n = 1\nif n:\n    x = n"),
    "PL046": Page("power", "One `**` can make a number of any size.", "x = 3 ** 2", "x = 3 * 3"),
    "PL047": Page("@ as an operator", _PLAIN, "x = 1 @ 2", "x = 1 * 2"),
    "PL048": Page("~", _PLAIN, "x = ~1", "x = -1 - 1"),
    "PL049": Page("shifts", "One shift can make a number of any size.", "x = 1 << 3", "x = 1 * 8"),
    "PL050": Page("bytes", _PLAIN, 'x = b"abc"', 'x = "abc"'),
    "PL051": Page("complex numbers", _PLAIN, "x = 3j", "x = 3.0"),
    "PL052": Page("...", _PLAIN, "x = ...", "x = None"),
    "PL053": Page("/ among parameters", _PLAIN, "def f(a, /):\n    return a", "def f(a):\n    return a"),
    "PL055": Page("<>", _PYTHON, "x = 1 <> 2", "x = 1 != 2"),
    "PL056": Page("print as a statement", _PYTHON, 'print "x"', 'x = "x"'),
    "PL060": Page("attribute access", _DATA, 'd = {"a": 1}\nx = d.a', 'd = {"a": 1}\nx = d["a"]'),
    "PL061": Page("a method that values do not have", _DATA, 'x = "7".zfill(3)', 'x = f"{7:0>3}"'),
    "PL062": Page("a leading underscore", "Names with underscores lead inside of Python.", "_x = 1", "x = 1"),
    "PL063": Page(
        ".format", "A format text can reach attributes; an f-string is checked.", 'x = "{}".format(1)', 'x = f"{1}"'
    ),
    "PL064": Page("% on a text", "Use the one way of formatting that is checked.", 'x = "%s" % 1', 'x = f"{1}"'),
    "PL101": Page("an unknown name", _OUTSIDE, "x = lenn([1])", "x = len([1])"),
    "PL102": Page(
        "a name is read too early", "Nothing was assigned to it on any way here.", "x = y\ny = 1", "y = 1\nx = y"
    ),
    "PL103": Page("a word is assigned to", "It would hide what the plan costs.", "scan = 1", "my_scan = 1"),
    "PL104": Page(
        "no such lens, role, schema or plan", _WORDS, 'x = scan([], "boundarys")', 'x = scan([], "boundaries")'
    ),
    "PL105": Page("an unknown keyword", _WORDS, "x = scan([], lenz='logic')", "x = scan([], lens='logic')"),
    "PL106": Page("a missing argument", _WORDS, "x = scan()", "x = scan([])"),
    "PL107": Page("too many arguments", _WORDS, "x = budget(1)", "x = budget()"),
    "PL108": Page("an argument of the wrong type", _WORDS, "x = shards('all')", "x = shards(100000)"),
    "PL109": Page("no result", "A plan gives back what it assigns to `result`.", "x = 1", "result = 1"),
    "PL110": Page("recursion", _ENDS, "def f(n):\n    return f(n)", "def f(n):\n    return n"),
    "PL111": Page(
        "a task changes what belongs to the plan",
        _TASKS,
        "xs = []\nys = parallel([lambda: xs.append(1)])",
        "xs = parallel([lambda: 1])",
    ),
    "PL112": Page(
        "a function reads a loop's variable too late",
        "All tasks would ask about the last item.",
        "x = parallel([lambda: scan([i]) for i in [1, 2]])",
        "x = parallel([lambda i=i: scan([i]) for i in [1, 2]])",
    ),
    "PL113": Page(
        "calls where functions belong",
        "They would run one after another.",
        "x = parallel([scan([1]), scan([2])])",
        "x = parallel([lambda: scan([1]), lambda: scan([2])])",
    ),
    "PL114": Page(
        "parallel(items, function)",
        _WORDS,
        "x = parallel([1], lambda n: scan([n]))",
        "x = parallel([lambda n=n: scan([n]) for n in [1]])",
    ),
    "PL115": Page("a builtin that plans do not have", _OUTSIDE, "x = open('f')", "x = work()"),
    "PL116": Page("a module", _OUTSIDE, "x = json.dumps(1)", "x = to_json(1)"),
    "PL117": Page(
        "a keyword that the configuration sets",
        "Plans name a role; the project says how it is served.",
        "x = scan([], timeout=3)",
        "x = scan([])",
    ),
    "PL118": Page(
        "a task with the wrong parameters",
        _WORDS,
        "x = parallel([lambda a: scan([a])])",
        "x = parallel([lambda: scan([])])",
    ),
    "PL119": Page("an attribute of a word", _DATA, "x = budget.remaining()", "x = budget()"),
    "PL120": Page("an argument is given twice", _WORDS, "x = scan([], shard=[])", "x = scan(shard=[])"),
    "PL121": Page("a value is called", _WORDS, "x = LENSES()", "x = LENSES"),
    "PL122": Page(
        "a waiting generator where nothing can wait",
        "Its items are computed when someone asks for them, and only some places can wait for that.",
        "g = (scan([i]) for i in [1, 2])\nx = list(g)",
        "g = [scan([i]) for i in [1, 2]]\nx = list(g)",
    ),
    "PL123": Page(
        "a key or a mapped function that waits",
        "Sorting and mapping call the function in one go, without a place to wait.",
        "x = sorted([[1], [2]], key=lambda s: len(scan(s) or []))",
        "counts = [(len(scan(s) or []), s) for s in [[1], [2]]]\nx = sorted(counts)",
    ),
    "PL124": Page("a word where its value is meant", _WORDS, "x = budget > 5", "x = budget() > 5"),
    "PL125": Page(
        "the value of a change",
        "What changes a value in place gives `None`.",
        "xs = [2, 1]\nx = len(xs.sort())",
        "xs = [2, 1]\nx = len(sorted(xs))",
    ),
    "PL126": Page(
        "an argument that its word refuses",
        _WORDS,
        'x = agent("Is 7 prime?", schema={"type": "bool"})',
        'x = agent("Is 7 prime?", schema={"type": "boolean"})',
    ),
    "PL201": Page(
        "result is not assigned on every way",
        "The plan fails at its end when it was not.",
        "for i in work():\n    result = i",
        "result = None\nfor i in work():\n    result = i",
    ),
    "PL202": Page(
        "a local name hides a word",
        "It is allowed, but easily confused.",
        "def f(log):\n    return log\nx = f(1)",
        "def f(text):\n    return text\nx = f(1)",
    ),
    "PL203": Page(
        "a builtin's name was given away",
        "The call reaches the other value.",
        "for round in range(3):\n    x = round(1.5)",
        "for r in range(3):\n    x = round(1.5)",
    ),
    "PL204": Page(
        "rounds without a stopping rule",
        "Late rounds often find nothing and cost the same.",
        "for r in range(9):\n    x = scan([], sample=r)\n    log(x)",
        "for r in range(9):\n    x = scan([], sample=r)\n    if not x:\n        break",
    ),
    "PL205": Page(
        "the plan never reads budget()",
        "A plan that knows what is left can stop in time.",
        "x = scan([])",
        "x = scan([]) if budget() > 5 else None",
    ),
    "PL206": Page(
        "an answer may be None", "A worker that failed gives `None`.", "x = scan([])[0]", "x = (scan([]) or [None])[0]"
    ),
    "PL207": Page(
        "the same question again",
        "Without `sample=` one answer is counted many times.",
        "x = parallel([lambda: check([]) for i in range(3)])",
        "x = parallel([lambda i=i: check([], sample=i) for i in range(3)])",
    ),
    "PL208": Page("an unused name", "It may be a misspelt one.", "x = 1", "result = 1"),
    "PL209": Page(
        "another name of a keyword",
        "It works; one word per idea reads better.",
        "x = scan([], role='judge')",
        "x = scan([], model='judge')",
    ),
    "PL210": Page(
        "texts side by side",
        "Python joins them to one, and a list has one item less than it seems to.",
        'x = ["a" "b"]',
        'x = ["a", "b"]',
    ),
    "PL211": Page("a number with commas", "It is a tuple of several numbers.", "x = 100,000", "x = 100_000"),
    "PL212": Page(
        "a change is kept",
        "What changes a value in place gives `None`.",
        "xs = [2, 1]\nx = xs.sort()",
        "xs = [2, 1]\nx = sorted(xs)",
    ),
    "PL213": Page(
        "workers asked one after another",
        "They take as long as all of them together; at once, as long as the slowest.",
        "x = [scan([p]) for p in work()]",
        "x = parallel([lambda p=p: scan([p]) for p in work()])",
    ),
}


def codes() -> tuple[str, ...]:
    """Return every code there is, in order."""
    return tuple(sorted(PAGES))


def is_advice(code: str) -> bool:
    """Say whether a code never blocks a plan."""
    return code >= "PL200"


def explain(code: str) -> str:
    """Return the page about a code: its title, the reason, an example and its rewrite.

    :raises KeyError: there is no such code; :func:`codes` lists them.
    """
    if code not in PAGES:
        raise KeyError(f"no problem has the code {code!r}; the codes are {', '.join(codes())}")
    page = PAGES[code]
    kind = "advice, never blocks a plan" if is_advice(code) else "problem, blocks a plan"
    parts = [f"{code}: {page.title} ({kind})", page.why]
    for head, text in (("Instead of", page.wrong), ("write", page.right)):
        if page.wrong and text:
            shown = "".join(c if c.isprintable() or c == "\n" else f"\\x{ord(c):02x}" for c in text)
            parts.append(f"{head}\n\n" + "\n".join(f"    {line}" for line in shown.split("\n")))
    return "\n\n".join(parts) + "\n"
