"""Keys over https, from a server that answers as issuers do."""

import json
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.x509.oid import NameOID

from services.shared.jwks import MAX_BYTES, KeyUnknown, open_key_set
from tests.signing import Signer, rsa_key


@dataclass
class Issuer:
    """What the server answers, and what it was sent."""

    address: str = ""
    ca_file: str = ""
    body: bytes = b""
    asked_with: list[str | None] = field(default_factory=list)

    def publish(self, *signers: Signer) -> None:
        self.body = json.dumps({"keys": [signer.jwk() for signer in signers]}).encode()


def _certify(path: Path) -> None:
    """Write a key and a certificate for the loopback address that vouches for itself."""
    key, now = rsa_key(), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "issuer")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))


@pytest.fixture
def issuer(tmp_path: Path) -> Iterator[Issuer]:
    issuer = Issuer(ca_file=str(tmp_path / "certificate.pem"))
    _certify(Path(issuer.ca_file))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            issuer.asked_with.append(self.headers["authorization"])
            self.send_response(200)
            self.send_header("content-length", str(len(issuer.body)))
            self.end_headers()
            self.wfile.write(issuer.body)

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(issuer.ca_file)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    issuer.address = f"https://127.0.0.1:{server.server_port}/keys"
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    serving.start()
    yield issuer
    server.shutdown()
    server.server_close()
    serving.join()


async def test_keys_come_from_a_url_with_the_given_authority_and_token(
    issuer: Issuer, tmp_path: Path
) -> None:
    issuer.publish(Signer("i"), Signer("i", kid="key-2"))
    token = tmp_path / "token"
    token.write_text("secret\n")
    keys = open_key_set(issuer.address, issuer.ca_file, str(token))
    await keys.find("key-1", "EdDSA")
    await keys.find("key-2", "EdDSA")
    assert issuer.asked_with == ["Bearer secret"]


async def test_a_server_that_no_known_authority_vouches_for_gives_no_keys(issuer: Issuer) -> None:
    issuer.publish(Signer("i"))
    with pytest.raises(OSError, match="fetched"):
        await open_key_set(issuer.address).find("key-1", "EdDSA")
    assert issuer.asked_with == []


@pytest.mark.parametrize("body", [b"nonsense", b" " * (MAX_BYTES + 1)])
async def test_an_answer_that_is_no_key_set_or_too_large_is_an_outage(issuer: Issuer, body: bytes) -> None:
    issuer.body = body
    with pytest.raises(OSError, match="fetched"):
        await open_key_set(issuer.address, issuer.ca_file).find("key-1", "EdDSA")


async def test_an_unknown_key_is_unknown_while_the_url_answers(issuer: Issuer) -> None:
    issuer.publish(Signer("i"))
    with pytest.raises(KeyUnknown):
        await open_key_set(issuer.address, issuer.ca_file).find("key-2", "EdDSA")
    assert len(issuer.asked_with) == 1
