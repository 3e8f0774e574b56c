"""Measures our paths against the plain floor of the same machine: `python -m bench`, told in docs/performance.md."""
