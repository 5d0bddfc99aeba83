"""A shelf of small, dependency-free functions: text, dates, numbers, money, tables, graphs and more.

Nothing is imported here, so that taking one function costs one small module: ``from shelf.money.allocation
import split_evenly``.
"""
