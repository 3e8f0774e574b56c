"""The parser pool: files are read and cut in child processes that may die without harm to anybody else.

`parser_pool` is what the service uses; `child` is the program that a child runs. This module imports neither, so
that a child loads no more than it needs.
"""
