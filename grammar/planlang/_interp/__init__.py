"""Runs a checked plan: nodes become closures over one run's meter, globals and words.

Reading order: ``values``, ``meter`` and ``charges`` (what a plan computes with and what it pays), ``walk`` and ``text``
(our own comparison, hashing and printing), ``operators``, ``methods_*`` and ``builtins`` (what a plan can do to
values), ``border`` and ``rows`` (copies in and out), ``tasks``, ``window``, ``place`` and ``words`` (tasks and the
host), and last ``context``, ``blocks``, ``calls`` and their neighbours, which turn nodes into closures; ``sources`` is
what their loops read from.
"""
