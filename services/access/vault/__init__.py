"""The vault: credentials of organizations, sealed with keys that the database does not hold.

`kinds` says what a secret may hold, `reach` who sees and changes one, `lending` which service opens what for which
purpose, and `envelope` how it is sealed: all of them pure. `secrets` and `bindings` are the rows; `changing`, `opening`
and `rotation` what is done with them; `master_keys` the file of keys, and `messages` what goes over the wire.
"""
