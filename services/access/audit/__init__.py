"""The audit log: what was changed in access and in what it guards, by whom.

A mutation calls `log.record` in its own transaction. `seals` chains what is committed, later and by itself.
"""
