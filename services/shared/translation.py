"""From whatever was raised to what a caller is told."""

import asyncpg
from grpc.aio import AioRpcError

from acervo.common.v1 import error_reason_pb2 as pb
from services.shared.db import CONTENDED
from services.shared.errors import AcervoError, StorageFull, TryAgain, Unavailable, is_full
from services.shared.rpc_status import from_rpc_error

_LOST_CONNECTION = (
    ConnectionError,
    TimeoutError,
    asyncpg.InternalClientError,
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.TooManyConnectionsError,
)


def translate(error: Exception) -> AcervoError:
    """What a caller is told of an exception. INTERNAL, without detail, for whatever nobody foresaw."""
    if isinstance(error, AcervoError):
        return error
    if isinstance(error, AioRpcError):
        return from_rpc_error(error)
    if is_full(error):
        return StorageFull()
    if isinstance(error, CONTENDED):
        return TryAgain()
    if isinstance(error, _LOST_CONNECTION) or _is_closed_connection(error):
        return Unavailable()
    return AcervoError(pb.ERROR_REASON_INTERNAL)


def _is_closed_connection(error: Exception) -> bool:
    # asyncpg reports use of a lost connection as a plain InterfaceError, and wrong arguments as its child. A server's
    # socket that is not there yet is a file that is not there, without a name.
    if isinstance(error, FileNotFoundError):
        return error.errno is not None and error.filename is None
    return isinstance(error, asyncpg.InterfaceError) and not isinstance(error, ValueError)
