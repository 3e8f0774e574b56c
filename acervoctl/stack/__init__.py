"""A whole Acervo on one machine, as a library: `async with Stack(home, options): ...` of `acervoctl.stack.stack`."""
