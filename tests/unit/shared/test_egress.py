from ipaddress import ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.shared.egress import (
    Address,
    AddressInvalid,
    Allowed,
    Blocked,
    Place,
    check,
    classify,
    judge,
    parse_address,
    resolve,
)

PLACES = {
    "1.1.1.1": Place.PUBLIC,
    "2606:4700:4700::1111": Place.PUBLIC,
    "64:ff9b::1.1.1.1": Place.PUBLIC,
    "::ffff:1.1.1.1": Place.PUBLIC,
    "10.0.0.1": Place.PRIVATE,
    "172.16.0.1": Place.PRIVATE,
    "192.168.1.1": Place.PRIVATE,
    "100.64.0.1": Place.PRIVATE,
    "0.0.0.0": Place.PRIVATE,  # noqa: S104 - an address to call
    "224.0.0.1": Place.PRIVATE,
    "255.255.255.255": Place.PRIVATE,
    "203.0.113.1": Place.PRIVATE,
    "::": Place.PRIVATE,
    "fd00::1": Place.PRIVATE,
    "fec0::1": Place.PRIVATE,
    "ff02::1": Place.PRIVATE,
    "2001:db8::1": Place.PRIVATE,
    "2002:101:101::1": Place.PRIVATE,
    "2002:a00:1::1": Place.PRIVATE,
    "2001:0:4136:e378:8000:63bf:3fff:fdd2": Place.PRIVATE,
    "::ffff:10.0.0.1": Place.PRIVATE,
    "64:ff9b::10.0.0.1": Place.PRIVATE,
    "64:ff9b:1::1.1.1.1": Place.PRIVATE,
    "127.0.0.1": Place.LOOPBACK,
    "127.255.0.9": Place.LOOPBACK,
    "::1": Place.LOOPBACK,
    "::127.0.0.1": Place.LOOPBACK,
    "::ffff:127.0.0.1": Place.LOOPBACK,
    "64:ff9b::127.0.0.1": Place.LOOPBACK,
    "169.254.1.1": Place.LINK_LOCAL,
    "fe80::1": Place.LINK_LOCAL,
    "169.254.169.254": Place.METADATA,
    "::ffff:169.254.169.254": Place.METADATA,
    "64:ff9b::169.254.169.254": Place.METADATA,
    "2002:a9fe:a9fe::1": Place.METADATA,
    "fd00:ec2::254": Place.METADATA,
    "100.100.100.200": Place.METADATA,
    "168.63.129.16": Place.METADATA,
}


@pytest.mark.parametrize("text", PLACES)
def test_an_address_leads_where_the_address_inside_it_leads(text: str) -> None:
    assert classify(ip_address(text)) is PLACES[text]


# The IANA special-purpose address registries (IPv4, IPv6) with multicast, and where each leads.
REGISTRY = {
    "0.0.0.0/8": Place.PRIVATE,
    "10.0.0.0/8": Place.PRIVATE,
    "100.64.0.0/10": Place.PRIVATE,
    "127.0.0.0/8": Place.LOOPBACK,
    "169.254.0.0/16": Place.LINK_LOCAL,
    "172.16.0.0/12": Place.PRIVATE,
    "192.0.0.0/24": Place.PRIVATE,
    "192.0.0.0/29": Place.PRIVATE,
    "192.0.0.8/32": Place.PRIVATE,
    "192.0.0.9/32": Place.PRIVATE,
    "192.0.0.10/32": Place.PRIVATE,
    "192.0.0.170/31": Place.PRIVATE,
    "192.0.2.0/24": Place.PRIVATE,
    "192.31.196.0/24": Place.PRIVATE,
    "192.52.193.0/24": Place.PRIVATE,
    "192.88.99.0/24": Place.PRIVATE,
    "192.168.0.0/16": Place.PRIVATE,
    "192.175.48.0/24": Place.PRIVATE,
    "198.18.0.0/15": Place.PRIVATE,
    "198.51.100.0/24": Place.PRIVATE,
    "203.0.113.0/24": Place.PRIVATE,
    "224.0.0.0/4": Place.PRIVATE,
    "240.0.0.0/4": Place.PRIVATE,
    "255.255.255.255/32": Place.PRIVATE,
    "::/128": Place.PRIVATE,
    "::1/128": Place.LOOPBACK,
    "::ffff:0:0/96": Place.PRIVATE,
    "64:ff9b::/96": Place.PRIVATE,
    "64:ff9b:1::/48": Place.PRIVATE,
    "100::/64": Place.PRIVATE,
    "100:0:0:1::/64": Place.PRIVATE,
    "2001::/23": Place.PRIVATE,
    "2001::/32": Place.PRIVATE,
    "2001:1::1/128": Place.PRIVATE,
    "2001:1::2/128": Place.PRIVATE,
    "2001:1::3/128": Place.PRIVATE,
    "2001:2::/48": Place.PRIVATE,
    "2001:3::/32": Place.PRIVATE,
    "2001:4:112::/48": Place.PRIVATE,
    "2001:10::/28": Place.PRIVATE,
    "2001:20::/28": Place.PRIVATE,
    "2001:30::/28": Place.PRIVATE,
    "2001:db8::/32": Place.PRIVATE,
    "2002::/16": Place.PRIVATE,
    "2620:4f:8000::/48": Place.PRIVATE,
    "3fff::/20": Place.PRIVATE,
    "5f00::/16": Place.PRIVATE,
    "fc00::/7": Place.PRIVATE,
    "fe80::/10": Place.LINK_LOCAL,
    "ff00::/8": Place.PRIVATE,
}


@pytest.mark.parametrize("text", REGISTRY)
def test_nothing_that_iana_lists_as_special_is_public(text: str) -> None:
    network = ip_network(text)
    assert {classify(network[0]), classify(network[-1])} == {REGISTRY[text]}


PATHS: dict[str, str | None] = {
    "": "",
    "/": "",
    "/v1/": "/v1",
    "/v1/a~b_c-d.e/...": "/v1/a~b_c-d.e/...",
    "/a%20b/(c)": "/a%20b/(c)",
    "/openai/deployments/x:1@2": "/openai/deployments/x:1@2",
    **dict.fromkeys(
        ["/%2e%2e", "/%2E./a", "/.%2e", "/a/..", "/./a", "/..;/", "/..;a/b", "/a;b", "//evil", "/a//b", "//"]
    ),
    **dict.fromkeys(
        [
            "/a%2fb",
            "/a%5cb",
            "/a%252fb",
            "/%",
            "/%4",
            "/%zz",
            "/%00",
            "/%0d%0a",
            "/%7f",
            '/"',
            "/<",
            "/^",
            "/|",
        ]
    ),
}


@pytest.mark.parametrize("path", PATHS)
def test_a_path_has_steps_that_every_reader_sees_alike(path: str) -> None:
    kept = PATHS[path]
    if kept is None:
        with pytest.raises(AddressInvalid):
            parse_address(f"http://a{path}")
    else:
        assert parse_address(f"http://a{path}").url == f"http://a{kept}"


HOSTS = {
    "http://127.0.0.1": "127.0.0.1",
    "http://2130706433/": "127.0.0.1",
    "http://0x7f000001": "127.0.0.1",
    "http://0x7f.1": "127.0.0.1",
    "http://0177.0.0.01": "127.0.0.1",
    "http://127.1": "127.0.0.1",
    "http://127.0.0.1.": "127.0.0.1",
    "http://１２７.0.0.1": "127.0.0.1",
    "http://127。0。0。1": "127.0.0.1",
    "http://0": "0.0.0.0",  # noqa: S104
    "http://[::1]:80": "::1",
    "http://[0:0:0:0:0:ffff:7f00:1]": "::ffff:7f00:1",
    "http://LocalHost.": "localhost",
    "http://bücher.example/": "xn--bcher-kva.example",
    "http://tei_1:8080/v1/": "tei_1",
}


@pytest.mark.parametrize("text", HOSTS)
def test_whatever_a_reader_takes_for_an_ip_address_is_one(text: str) -> None:
    host = parse_address(text).host
    assert host in {HOSTS[text], str(ip_address(HOSTS[text])) if ":" in HOSTS[text] else host}
    assert parse_address(parse_address(text).url) == parse_address(text)


def test_an_address_is_kept_in_one_form() -> None:
    assert parse_address("HTTPS://Models.Internal.:443/v1/").url == "https://models.internal/v1"
    assert parse_address("http://[::1]:8080").url == "http://[::1]:8080"
    assert parse_address("http://a:8080").port == 8080


@pytest.mark.parametrize(
    "text",
    [
        *("", "models.internal", "ftp://a", "file:///etc/passwd", "http://", "http:///v1", "//a/b"),
        *("http://u@a", "http://u:p@a", "http://a?b", "http://a#b", "http://a?", "http://a#"),
        *("http://a b", "http://a\\@b", "http://a\n", "http://a:0", "http://a:99999", "http://a:x"),
        *("http://1.2.3.4.5", "http://256.1.1.1", "http://1.2.3.08", "http://0x100000000", "http://-a"),
        *(
            "http://a..b",
            "http://[::1",
            "http://[fe80::1%25eth0]",
            "http://a%2eb",
            "http://a/../b",
            "http://a/é",
        ),
        f"http://a/{'x' * 2000}",
    ],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(AddressInvalid):
        parse_address(text)


@given(st.text())
def test_reading_an_address_ends_in_an_address_or_a_refusal(text: str) -> None:
    try:
        address = parse_address("http://" + text)
    except AddressInvalid:
        return
    assert parse_address(address.url) == address


PUBLIC, PRIVATE = ip_address("1.1.1.1"), ip_address("10.0.0.1")


@pytest.mark.parametrize(
    ("allowed", "opened"),
    [
        ([], False),
        (["10.0.0.0/8"], True),
        (["10.0.0.1"], True),
        (["Host."], True),
        (["other"], False),
        (["11.0.0.0/8"], False),
    ],
)
def test_a_private_address_is_called_only_where_the_admin_opened_it(allowed: list[str], opened: bool) -> None:
    if opened:
        assert judge("host", [PRIVATE], Allowed.of(allowed)) == PRIVATE
    else:
        with pytest.raises(Blocked):
            judge("host", [PRIVATE], Allowed.of(allowed))


def test_one_private_address_of_several_rules_out_all_and_none_is_blocked_too() -> None:
    for addresses in ([PUBLIC, PRIVATE], [PRIVATE, PUBLIC], []):
        with pytest.raises(Blocked):
            judge("host", addresses, Allowed())


@pytest.mark.parametrize("entry", ["10.0.0.0/99", "a/b", "a..b"])
def test_a_list_that_cannot_be_read_is_refused(entry: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        Allowed.of([entry])


async def test_a_host_is_resolved_once_and_the_checked_address_is_answered() -> None:
    asked = []

    async def resolver(host: str, port: int) -> list[Address]:
        asked.append((host, port))
        return [PUBLIC if len(asked) == 1 else PRIVATE]

    assert await check("host", 443, Allowed(), resolver) == PUBLIC
    assert asked == [("host", 443)]


async def test_an_ip_address_needs_nobody_to_resolve_it_and_an_unknown_name_has_none() -> None:
    assert await resolve("10.0.0.1", 80) == [PRIVATE]
    assert await resolve("nowhere.invalid", 80) == []
