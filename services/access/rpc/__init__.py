"""The servicers of access, a module for each service of the contract.

Handlers learn who calls, read the request, call, and encode the answer. Whether the caller may is decided where the
rows are, by the statements that read or lock them; a refusal there reads as absence does. Mutations are done once for
each request id. Each module's `CALLERS` says who may call its methods at all.
"""

from collections.abc import Mapping
from typing import Final

from services.access.rpc import (
    access,
    accounts,
    agents,
    audit,
    budgets,
    collections,
    endpoints,
    grants,
    knowledge_bases,
    organizations,
    secrets,
    teams,
)
from services.shared import server

CALLERS: Final[Mapping[str, server.Callers]] = {
    method: callers
    for module in (
        access,
        accounts,
        agents,
        audit,
        budgets,
        collections,
        endpoints,
        grants,
        knowledge_bases,
        organizations,
        secrets,
        teams,
    )
    for method, callers in module.CALLERS.items()
}
