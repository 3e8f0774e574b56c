"""The image is built from pinned, hashed packages and from what is in the repository, and runs without privileges."""

import re

import pytest

from tests.unit.deploy.manifests import REPOSITORY

DOCKERFILE = (REPOSITORY / "deploy" / "docker" / "Dockerfile").read_text("utf-8")
LOCKS = ("image", "image-pdf")


def lock(name: str) -> str:
    return (REPOSITORY / "requirements" / f"{name}.txt").read_text("utf-8")


def packages(name: str) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+)", lock(name), re.MULTILINE))


def test_what_is_copied_is_there() -> None:
    for source in re.findall(r"^COPY (?!--from)(\S+) ", DOCKERFILE, re.MULTILINE):
        for name in LOCKS if "${LOCK}" in source else ("",):
            assert (REPOSITORY / source.replace("${LOCK}", name)).exists(), source


def test_what_is_copied_is_not_ignored() -> None:
    ignored = (REPOSITORY / "deploy" / "docker" / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
    for source in re.findall(r"^COPY (?!--from)(\S+) ", DOCKERFILE, re.MULTILINE):
        for name in LOCKS if "${LOCK}" in source else ("",):
            assert f"!{source.replace('${LOCK}', name)}" in ignored


def test_it_runs_as_nobody_of_note_with_a_numeric_id() -> None:
    assert re.search(r"^USER 10001:10001$", DOCKERFILE, re.MULTILINE)


def test_base_images_are_pinned_and_no_index_is_named() -> None:
    assert ":latest" not in DOCKERFILE
    assert "://" not in DOCKERFILE
    assert "--require-hashes" in DOCKERFILE


@pytest.mark.parametrize("name", LOCKS)
def test_every_package_is_pinned_with_hashes_and_no_index(name: str) -> None:
    text = lock(name)
    assert "://" not in text
    entries = re.split(r"\n(?=[a-z0-9])", text.strip())
    assert all("==" in entry and "--hash=sha256:" in entry for entry in entries)


def test_the_image_without_pymupdf_differs_in_that_alone() -> None:
    assert set(packages("image-pdf")) - set(packages("image")) == {"pymupdf"}
    assert packages("image").items() <= packages("image-pdf").items()


@pytest.mark.parametrize("name", LOCKS)
def test_the_image_runs_the_versions_that_are_tested(name: str) -> None:
    assert packages(name).items() <= packages("local").items()
