"""Texts that are hard to read, each of which grows by repeating one piece: what they cost must grow no faster.

A row is a name, what stands before, the piece, and what stands after. ``@#`` in a piece is its number, ``@+`` the
number of the next one.
"""

from __future__ import annotations

__all__ = ["GROWING", "grown"]

_END = "\nresult = 1\n"
_LARGEST = 32_000


def grown(name: str, times: int = _LARGEST) -> str:
    """Return the text called ``name`` with its piece repeated, as often as is asked and a plan may be long."""
    before, piece, after = GROWING[name]
    room = _LARGEST - len(before) - len(after)
    pieces: list[str] = []
    for number in range(times):
        made = piece.replace("@#", str(number)).replace("@+", str(number + 1))
        room -= len(made)
        if room < 0:
            break
        pieces.append(made)
    return f"{before}{''.join(pieces)}{after}"


GROWING: dict[str, tuple[str, str, str]] = {
    # brackets and operators
    "brackets of three kinds": ("x = ", "[{(", _END),
    "brackets that close nothing": ("", ")]}", ""),
    "subscripts in subscripts": ("x = 1\nx", "[x", _END),
    "slices of slices": ("x = [1]\nx = x", "[:]", _END),
    "calls of calls": ("x = len", "()", _END),
    "methods of methods": ("x = ''", ".strip()", _END),
    "attributes of attributes": ("x = ''\ny = x", ".a", _END),
    "lambda of lambda": ("f = ", "lambda:", f"1{_END}"),
    "not not": ("x = ", "not ", f"1{_END}"),
    "minus minus": ("x = ", "-", f"1{_END}"),
    "a long sum": ("x = ", "1+", f"1{_END}"),
    "all operators": ("x = ", "1+1*1-1%1//1|1&1^", f"1{_END}"),
    "a long comparison": ("x = ", "1<", f"1{_END}"),
    "and, or": ("x = ", "1 and 1 or ", f"1{_END}"),
    "if else": ("x = ", "1 if 1 else ", f"1{_END}"),
    "powers": ("x = ", "2**", f"1{_END}"),
    "shifts": ("x = 1", "<<1", _END),
    "matrix products": ("x = 1", "@1", _END),
    "await await": ("x = ", "await ", f"1{_END}"),
    "stars": ("x = [", "*[],", f"]{_END}"),
    "double stars": ("x = {", "**{},", f"}}{_END}"),
    "a dict that is a set": ("x = {", "1,1:1,", f"}}{_END}"),
    "dots": ("x = [", "...,", f"]{_END}"),
    "commas": ("x = ", ",", ""),
    "colons": ("", ":", ""),
    "at signs": ("", "@", ""),
    "equals signs": ("x ", "= ", ""),
    "arrows": ("x = a ", "-> ", ""),
    "question marks": ("", "?", ""),
    "dollars": ("", "$a = 1\n", ""),
    # statements
    "elif": ("x = 1\nif x: x = 1\n", "elif x: x = 2\n", _END),
    "elif without if": ("", "elif 1:\n  x=1\n", ""),
    "else without if": ("", "else:\n    x = 1\n", ""),
    "statements in a line": ("", "a=1;", ""),
    "semicolons": ("", ";", ""),
    "empty lines": ("", "\n", ""),
    "comments": ("", "#\n", ""),
    "continued lines": ("x = 1", "+\\\n1", _END),
    "backslashes": ("", "\\\n", "result = 1\n"),
    "blocks that close halfway": ("", "if 1:\n        x=1\n    y=1\n", ""),
    "tabs, then blanks": ("", "if 1:\n\tx=1\n        y=1\n", ""),
    "assignments in a chain": ("x=", "x=", f"1{_END}"),
    "pairs in a chain": ("", "(a,b)=", f"(1,2){_END}"),
    "starred targets": ("", "*a,", f" = [1]{_END}"),
    "assignments to calls": ("", "f() = 1\n", ""),
    "returns": ("", "return 1\n", ""),
    "breaks": ("", "break\n", ""),
    "yields": ("def f():\n", " yield 1\n", _END),
    "globals": ("def f():\n", " global x\n", f" return 1{_END}"),
    "dels": ("x=1\n", "del x\n", _END),
    "raises": ("", "raise ValueError('x')\n", ""),
    "asserts": ("", "assert 1, 'x'\n", ""),
    "imports": ("", "import json\n", ""),
    "names of an import": ("from json import a", ",n@#", _END),
    "tries": ("", "try: pass\nexcept: pass\n", _END),
    "cases": ("match 1:\n", "    case 1: pass\n", _END),
    "decorators": ("", "@a\n", "def f(): return 1\n"),
    "prints": ("", "print(1,2)\n", _END),
    "prints without brackets": ("", "print x\n", ""),
    "walrus in conditions": ("x = [1 for a in [1] ", "if (b := a) ", f"]{_END}"),
    "walrus behind walrus": ("x = (a := 1)", " and (b@# := 1)", _END),
    "walrus in while": ("while (a := 1)", " and (b@# := 1)", f": pass{_END}"),
    "walrus in walrus": ("x = ", "(a := ", _END),
    "types in brackets": ("x = [", "list[int],", f"]{_END}"),
    "schemas of types": ("", "scan({'a': str})\n", _END),
    "quotients in slices": ("x = [1]\n", "x[1 / 2:]\n", _END),
    "loggers by name": ("import logging\n", "a@# = logging.getLogger(__name__)\n", _END),
    "walrus in a list": ("x = [", "(b := 1),", f"]{_END}"),
    # names and calls
    "unknown names": ("", "x@#=y@#\n", _END),
    "names that are near": ("abcdefghijklmnopqrstuvwxyz = 1\n", "abcdefghijklmnopqrstuvwxyz@#\n", _END),
    "unknown attributes": ("x=1\n", "x.a@#\n", _END),
    "a path of a module": ("x = os", ".path", _END),
    "names with an underscore": ("", "_a@#=1\n", ""),
    "a long name": ("", "a", " = 1\nresult = 1\n"),
    "a long unknown name": ("x = ", "b", _END),
    "calls that lack an argument": ("def f(a): return a\n", "f()\n", _END),
    "one keyword again": ("def f(**k): return 1\nx = f(", "a=1,", f"){_END}"),
    "many keywords": ("def f(**k): return 1\nx = f(", "k@#=1,", f"){_END}"),
    "many arguments": ("x = max(", "1,", f"){_END}"),
    "many parameters": ("def f(", "p@#,", f"): return 1{_END}"),
    "one parameter again": ("f = lambda ", "a,", f": 1{_END}"),
    "parameters without defaults": ("", "def f(a=1, b): pass\n", ""),
    "a name written and read": ("x=1;", "x=x;", _END),
    "functions that read one name": ("p=1\nx = [", "lambda:p,", f"]{_END}"),
    "reads in deep functions": (f"p=1\nf = {'lambda:' * 60}[", "p,", f"]{_END}"),
    "reads in deep functions in loops": (f"p=1\nf = [[{'lambda:' * 60}[", "p,a,", f"] for a in [1]]]{_END}"),
    "functions in loops": ("fs=[]\nfor a in [1]:\n for b in [1]:\n", "  fs.append(lambda:[a,b])\n", "x=parallel(fs)\n"),
    "a list of functions, read again": ("fs=[]\nfor a in [1]:\n fs.append(lambda:a)\ny=[", "fs,", f"]{_END}"),
    "tasks that change one list": ("xs=[]\nresult=parallel([", "lambda:xs.append(1),", "])\n"),
    "functions that call the next": ("", "a@#=lambda:a@+();", _END),
    "branches that bind": ("", "if 1: n@#=1\nelse: m@#=1\n", _END),
    "for in a comprehension": ("x = [1 ", "for a in [1] ", f"]{_END}"),
    "if in a comprehension": ("x = [1 for a in [1] ", "if a ", f"]{_END}"),
    # texts and numbers
    "a long number": ("x = ", "9", _END),
    "a number with underscores": ("x = 1", "_1", _END),
    "a long fraction": ("x = 0.", "1", _END),
    "a long exponent": ("x = 1e", "9", _END),
    "a long hexadecimal number": ("x = 0x", "f", _END),
    "numbers with commas": ("x = [", "1,000,000,", f"]{_END}"),
    "numbers that run on": ("x = ", "1..a ", _END),
    "escapes": ("x = '", "\\x41", f"'{_END}"),
    "escapes by name": ("x = '", "\\N{LATIN SMALL LETTER A}", f"'{_END}"),
    "escapes by no name": ("x = '", "\\N{NO SUCH}", f"'{_END}"),
    "texts side by side": ("x = ", "''", _END),
    "texts side by side in a list": ("x = [", "'a' 'b',", f"]{_END}"),
    "bytes side by side": ("x = ", "rb'' ", _END),
    "fields": ("a=1\nx = f'", "{a}", f"'{_END}"),
    "fields that show their text": ("x = f'", "{1=}", f"'{_END}"),
    "fields in fields": ("x = f'", "{1:{1:{1:", f"'{_END}"),
    "f-strings in f-strings": ("x = ", "f'{", ""),
    "f-strings of two quotes": ("x = ", "f'{f\"{", ""),
    "doubled braces": ("x = f'", "{{}}", f"'{_END}"),
    "wrong conversions": ("x = f'", "{1!z}", f"'{_END}"),
    "percent signs": ("x = '", "%s", f"' % 1{_END}"),
    "texts with a percent sign": ("x = [", "'%s' % 1,", f"]{_END}"),
    "format": ("x = '", "{}", f"'.format(1,2){_END}"),
    "texts that never end": ("", "x = '\n", ""),
    "f-strings that never end": ("", 'x = f"{\n', ""),
    "long texts that never end": ("", "x = '''", ""),
    "curly quotes": ("", "x = \u201ca\u201d\n", ""),
    "brackets that never close": ("", "x = [1,\n", ""),
    "a bracket that never closes": ("x = (1,\n", "y = 2\n", ""),
    "brackets that do not match": ("", "x = (]\n", ""),
    # around a plan
    "fences": ("", "```\n", ""),
    "prose": ("", "Here is the plan that you asked for, it works.\n", ""),
    "prose in one line": ("", "This is a plan that does many things ", ""),
    "words that run together": ("", "scan ", ""),
    "tags": ("", "<a>\n", ""),
    "a diff": ("", "+ x = 1\n- x = 2\n", ""),
    "JSON": ("", '{"a":', ""),
    "NUL": ("", "\0", ""),
    "halves of surrogate pairs": ("x = '", "\ud800", f"'{_END}"),
    "byte order marks": ("", "x\ufeff=1\n", _END),
    "pictures": ("", "\U0001f642 = 1\n", ""),
    "line separators": ("", "x = 1\u2028", _END),
    "form feeds": ("", "x = 1\x0c", _END),
    "letters that look like others": ("", "s\u0441an@# = 1\n", _END),
    "letters that fold to others": ("", "\ufb01le = 1\n", _END),
    "marks that change direction": ("", "x = 1 # \u202e\n", _END),
    "zero-width joiners": ("", "re\u200dsult = 2\n", _END),
    "digits of other scripts": ("", "x = \u0661\u0662\n", _END),
}
