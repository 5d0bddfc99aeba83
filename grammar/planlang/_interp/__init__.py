"""Runs a checked plan: nodes become closures over one run's meter, globals and words.

Reading order: ``values`` and ``meter`` (what a plan computes with and what it pays), ``walk`` and ``text`` (our own
comparison, hashing and printing), ``operators``, ``methods_*`` and ``builtins`` (what a plan can do to values),
``border`` (copies in and out), ``tasks``, ``window`` and ``words`` (tasks and the host), and last ``build`` and
its neighbours, which turn nodes into closures.
"""
