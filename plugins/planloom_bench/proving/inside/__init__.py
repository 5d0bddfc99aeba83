"""What runs inside the process that proves: code of other people, so nothing of planloom and no other package.

This folder is started as a package of its own by an interpreter that has imported the standard library alone. A library
under proof may therefore be anything that the host uses itself. Every module here imports only the standard library and
its neighbours.
"""
