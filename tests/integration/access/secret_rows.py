"""The rows of the vault in the matrix of methods and callers."""

from typing import Final

from acervo.access.v1 import secrets_pb2
from tests.integration.access.matrix_world import EDIT_ALL, MANAGERS, World
from tests.matrix import MEMBERS, Kind, Row

SECRETS = "/acervo.access.v1.SecretService/"
VALUE = secrets_pb2.SecretValue(git_token=secrets_pb2.GitToken(token="ghp_2"))
ROWS: Final[dict[str, list[Row[World]]]] = {
    f"{SECRETS}CreateSecret": [
        Row(
            lambda w: secrets_pb2.CreateSecretRequest(
                organization_id=w.organization, display_name="Key", value=VALUE
            ),
            EDIT_ALL | {Kind.MEMBER},
        )
    ],
    f"{SECRETS}GetSecret": [
        Row(lambda w: secrets_pb2.GetSecretRequest(secret_id=w.secret), EDIT_ALL, lasting=True)
    ],
    f"{SECRETS}ListSecrets": [
        Row(lambda w: secrets_pb2.ListSecretsRequest(organization_id=w.organization), MEMBERS, lasting=True)
    ],
    f"{SECRETS}UpdateSecret": [
        Row(lambda w: secrets_pb2.UpdateSecretRequest(secret_id=w.secret, display_name="Other"), MANAGERS),
        Row(lambda w: secrets_pb2.UpdateSecretRequest(secret_id=w.secret, value=VALUE), MANAGERS),
    ],
    f"{SECRETS}DeleteSecret": [Row(lambda w: secrets_pb2.DeleteSecretRequest(secret_id=w.secret), MANAGERS)],
    f"{SECRETS}RewrapSecrets": [
        Row(lambda w: secrets_pb2.RewrapSecretsRequest(), frozenset({Kind.OPERATOR}), of_oneself=True)
    ],
    f"{SECRETS}BindSecret": [
        Row(
            lambda w: secrets_pb2.BindSecretRequest(
                actor_user_id=w.id(Kind.OWNER),
                secret_id=w.secret,
                knowledge_base_id=w.free,
                source_id=w.source,
            ),
            frozenset({Kind.SERVICE}),
        )
    ],
    f"{SECRETS}UnbindSecret": [
        Row(
            lambda w: secrets_pb2.UnbindSecretRequest(knowledge_base_id=w.held, source_id=w.source),
            frozenset({Kind.SERVICE}),
            of_oneself=True,
        )
    ],
    f"{SECRETS}OpenSecret": [
        Row(
            lambda w: secrets_pb2.OpenSecretRequest(
                secret_id=w.secret,
                knowledge_base_id=w.held,
                source_id=w.source,
                purpose=secrets_pb2.SECRET_PURPOSE_SOURCE,
            ),
            frozenset({Kind.SERVICE}),
            lasting=True,
        )
    ],
}
