"""Where Acervo may connect to when a tenant typed the address: never into the deployment's own network, unless its
admin said so.

`parse_address` reads an address, `classify` says what an IP address is, `judge` decides on those that a host has, and
`check` asks a resolver once and returns the one to connect to. Whoever connects uses the address that was checked, and
checks each redirect as it comes.
"""

import asyncio
import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self, TypeAlias
from urllib.parse import SplitResult, urlsplit

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network
Resolver: TypeAlias = Callable[[str, int], Awaitable[Sequence[Address]]]

MAX_URL: Final = 2000
_PORTS: Final = {"http": 80, "https": 443}
_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)\Z")
# What `inet_aton` reads as IPv4: up to four numbers, in decimal, octal or hexadecimal.
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]*\Z|[0-9]+\Z")
# A path that every reader splits into the same steps: none empty, `.` or `..` under any spelling, and no parameters.
_PATH = re.compile(
    r"(?:/(?!\.{1,2}(?:/|\Z))"
    r"(?:[A-Za-z0-9._~!$&'()*+,=:@-]|%(?!2[eEfF5]|5[cC]|[01][0-9a-fA-F]|7[fF])[0-9a-fA-F]{2})+)*/?\Z"
)
_RESOLVE_SECONDS: Final = 3

_METADATA: Final = frozenset(
    ipaddress.ip_address(text)
    for text in (
        *("169.254.169.254", "169.254.170.2", "169.254.170.23", "100.100.100.200", "192.0.0.192"),
        *("168.63.129.16", "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254"),
    )
)
_NAT64: Final = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("64:ff9b:1::/48"))
_COMPATIBLE: Final = ipaddress.IPv6Network("::/96")
_SIX_TO_FOUR: Final = ipaddress.IPv6Network("2002::/16")
# What the IANA special-purpose registries list and some Python's `is_global` takes for global: relays and anycast
# services, which lead to whoever announces them, and documentation.
_SPECIAL: Final = tuple(
    map(
        ipaddress.ip_network,
        (
            "192.0.0.0/24",  # protocol assignments, RFC 6890; PCP and TURN anycast, RFC 7723 and 8155
            "192.31.196.0/24",  # AS112, RFC 7535
            "192.52.193.0/24",  # AMT relays, RFC 7450
            "192.88.99.0/24",  # 6to4 relays, RFC 7526
            "192.175.48.0/24",  # AS112, RFC 7534
            "2001::/23",  # protocol assignments, RFC 2928
            "2620:4f:8000::/48",  # AS112, RFC 7534
            "3fff::/20",  # documentation, RFC 9637
        ),
    )
)
_GLOBAL_UNICAST: Final = ipaddress.IPv6Network("2000::/3")


class Place(StrEnum):
    """Where an IP address leads."""

    PUBLIC = "public"
    PRIVATE = "private"
    """Into a network of its own: private, shared, reserved, multicast, or not global for another reason."""
    LOOPBACK = "loopback"
    LINK_LOCAL = "link_local"
    METADATA = "metadata"
    """To a cloud's service that hands out credentials."""


class AddressInvalid(Exception):
    """The text is no address that Acervo would call. Its text says what it must be."""


class Blocked(Exception):
    """The host is none that may be called, or has no address: both read the same."""


@dataclass(frozen=True, slots=True)
class HttpAddress:
    """Where an HTTP server is, in the one form in which it is kept."""

    url: str
    """Without a slash at its end."""
    host: str
    """Lower-case and ASCII, without a dot at its end; IPv6 without brackets."""
    port: int


@dataclass(frozen=True, slots=True)
class Allowed:
    """What the deployment's admin opened: names of hosts, and networks."""

    hosts: frozenset[str] = frozenset()
    networks: frozenset[Network] = frozenset()

    @classmethod
    def of(cls, entries: Iterable[str]) -> Self:
        """Read a list of hosts, addresses and CIDR networks. Raises ValueError."""
        hosts, networks = set(), set()
        for entry in entries:
            try:
                networks.add(ipaddress.ip_network(entry, strict=False))
            except ValueError:
                if "/" in entry:
                    raise
                hosts.add(_name(entry))
        return cls(frozenset(hosts), frozenset(networks))

    def opens(self, host: str, address: Address) -> bool:
        """Whether the address of the host was opened."""
        forms = (address, *_inside(address))
        return host in self.hosts or any(form in network for form in forms for network in self.networks)


def parse_address(text: str) -> HttpAddress:
    """Read the address of an HTTP server. Raises AddressInvalid."""
    if len(text) > MAX_URL or not text.isprintable() or any(mark.isspace() or mark == "\\" for mark in text):
        raise AddressInvalid(f"This must be at most {MAX_URL} characters, without spaces or backslashes.")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise AddressInvalid("This must be an address such as http://models.internal:8080/v1.") from None
    if parts.scheme not in _PORTS or not parts.hostname:
        raise AddressInvalid("This must start with http:// or https://, and name a host.")
    if "@" in parts.netloc or "?" in text or "#" in text:
        raise AddressInvalid("This must hold no user, password, query or fragment.")
    if port == 0:
        raise AddressInvalid("The port must be 1 to 65535.")
    return _normal(parts, _host(parts.hostname), port or _PORTS[parts.scheme])


def _normal(parts: SplitResult, host: str, port: int) -> HttpAddress:
    shown = f"[{host}]" if ":" in host else host
    if port != _PORTS[parts.scheme]:
        shown = f"{shown}:{port}"
    if not _PATH.match(parts.path):
        raise AddressInvalid(
            "The path must be of plain ASCII characters, without empty steps, . and .. among them."
        )
    return HttpAddress(f"{parts.scheme}://{shown}{parts.path.removesuffix('/')}", host, port)


def _host(text: str) -> str:
    """A host's one form; whatever any reader takes for an IP address is written as one. Raises AddressInvalid."""
    refusal = AddressInvalid("This must name a host, or hold an IP address.")
    try:
        if ":" not in text:
            return _name(text)
        if "%" not in text:
            return str(ipaddress.IPv6Address(text))
    except ValueError:
        pass
    raise refusal


def _name(text: str) -> str:
    ascii_name = text if text.isascii() else text.encode("idna").decode("ascii")
    name = ascii_name.lower().removesuffix(".")
    labels = name.split(".")
    if _NUMBER.match(labels[-1]):
        return str(_ipv4(labels))
    if len(name) > 253 or not all(map(_LABEL.match, labels)):
        raise ValueError("not the name of a host")
    return name


def _ipv4(parts: Sequence[str]) -> ipaddress.IPv4Address:
    """What `inet_aton` makes of a text: the last number fills what the ones before leave. Raises ValueError."""
    if len(parts) > 4 or not all(map(_NUMBER.match, parts)):
        raise ValueError("not an IPv4 address")
    *head, last = map(_number, parts)
    if any(number > 255 for number in head) or last >= 256 ** (4 - len(head)):
        raise ValueError("not an IPv4 address")
    return ipaddress.IPv4Address(sum(number << 8 * (3 - place) for place, number in enumerate(head)) + last)


def _number(text: str) -> int:
    if text[:2].lower() == "0x":
        return int(text[2:] or "0", 16)
    return int(text, 8 if len(text) > 1 and text[0] == "0" else 10)


def classify(address: Address) -> Place:
    """Say where an address leads; where it stands for an IPv4 one, that decides too."""
    inside = _inside(address)
    forms = (address, *inside)
    if any(form in _METADATA for form in forms):
        return Place.METADATA
    if any(form.is_link_local for form in forms):
        return Place.LINK_LOCAL
    if any(form.is_loopback for form in forms):
        return Place.LOOPBACK
    told = inside if _translated(address) else forms
    return Place.PUBLIC if all(map(_is_public, told)) else Place.PRIVATE


def _is_public(address: Address) -> bool:
    if any(address in network for network in _SPECIAL):
        return False
    if isinstance(address, ipaddress.IPv6Address):
        return address in _GLOBAL_UNICAST and address not in _SIX_TO_FOUR and address.is_global
    return address.is_global and not address.is_multicast


def _translated(address: Address) -> bool:
    """Whether a packet to the address goes to the IPv4 one inside, wherever that is."""
    return isinstance(address, ipaddress.IPv6Address) and (
        address.ipv4_mapped is not None or address in _NAT64[0]
    )


def _inside(address: Address) -> tuple[ipaddress.IPv4Address, ...]:
    """The IPv4 addresses that an IPv6 one stands for: mapped, compatible, NAT64, 6to4 and Teredo."""
    if not isinstance(address, ipaddress.IPv6Address):
        return ()
    if address.teredo is not None:
        return address.teredo
    known = address.ipv4_mapped or address.sixtofour
    if known is None and any(address in network for network in (*_NAT64, _COMPATIBLE)) and int(address) > 1:
        known = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return () if known is None else (known,)


def judge(host: str, addresses: Sequence[Address], allowed: Allowed) -> Address:
    """Choose the address to connect to. One that is out of bounds rules out all: a name may answer both.

    Raises Blocked.
    """
    if not addresses:
        raise Blocked
    for address in addresses:
        if classify(address) is not Place.PUBLIC and not allowed.opens(host, address):
            raise Blocked
    return addresses[0]


async def resolve(host: str, port: int) -> Sequence[Address]:
    """Ask the system for the addresses of a host; none where it does not answer in time."""
    try:
        return [ipaddress.ip_address(host)]
    except ValueError:
        pass
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(_RESOLVE_SECONDS):
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, TimeoutError, UnicodeError):
        return []
    return [ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]


async def check(host: str, port: int, allowed: Allowed, resolver: Resolver = resolve) -> Address:
    """Resolve a host, once, and return the address to connect to. Raises Blocked."""
    return judge(host, await resolver(host, port), allowed)
