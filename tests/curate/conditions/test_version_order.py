"""Versions and ranges: compared with the reference of Python, and with the documented examples of npm, Cargo and Maven."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from agentplane.curate.conditions import version_order
from agentplane.curate.conditions.version_order import Span, Unreadable
from agentplane.memory import version_spec
from agentplane.memory.condition import Ecosystem
from agentplane.memory.version_spec import VersionSpec


def spans(ecosystem: Ecosystem, text: str) -> list[Span]:
    spec = version_spec.parse(text)
    assert isinstance(spec, VersionSpec), text
    found = version_order.spans(ecosystem, spec)
    assert not isinstance(found, Unreadable), text
    return list(found)


def is_in(ecosystem: Ecosystem, version: str, text: str) -> bool:
    key = version_order.key(ecosystem, version)
    assert key is not None, version
    return version_order.contains(spans(ecosystem, text), key)


_numbers = st.lists(st.integers(0, 3), min_size=1, max_size=4).map(lambda parts: ".".join(map(str, parts)))
_endings = st.sampled_from(["", "", "", "a1", "b2", "rc1", ".dev1", ".post1", "rc1.dev2"])
_versions = st.builds(lambda numbers, ending: numbers + ending, _numbers, _endings)
_clauses = st.one_of(
    st.builds(
        lambda op, version: op + version, st.sampled_from([">=", "<=", ">", "<", "==", "!="]), _versions
    ),
    st.builds(lambda op, version: f"{op}{version}.*", st.sampled_from(["==", "!="]), _numbers),
    _versions.filter(lambda text: "." in text.partition("dev")[0].partition("post")[0].strip(".")).map(
        "~={}".format
    ),
)


@given(_versions, st.lists(_clauses, min_size=1, max_size=3).map(",".join))
def test_python_agrees_with_packaging(version: str, text: str) -> None:
    try:
        wanted = SpecifierSet(text)
    except ValueError:  # `~=` needs two numbers
        return
    # `>1.0a1` excludes the versions after it that packaging leaves out for a release, which no check is about.
    assert is_in("python", version, text) == wanted.contains(version, prereleases=True), (version, text)


@pytest.mark.parametrize(
    ("ecosystem", "text", "inside", "outside"),
    [
        ("npm", "^1.2.3", "1.2.3 1.9.9 1.2.4-rc.1", "1.2.2 2.0.0 2.0.0-alpha 1.2.3-rc.1"),
        ("npm", "^0.2.3", "0.2.3 0.2.9", "0.3.0 0.2.2"),
        ("npm", "^0.0.3", "0.0.3", "0.0.4 0.0.2"),
        ("npm", "^0.0", "0.0.0 0.0.9", "0.1.0"),
        ("npm", "~1.2.3", "1.2.3 1.2.9", "1.3.0"),
        ("npm", "~1", "1.0.0 1.9.0", "2.0.0"),
        ("npm", "1.x", "1.0.0 1.9.9", "2.0.0 0.9.0"),
        ("npm", "1.2.*", "1.2.0", "1.3.0"),
        ("npm", "*", "0.0.1 99.0.0", ""),
        ("npm", "1.2", "1.2.0 1.2.9", "1.3.0"),
        ("npm", "1.2.3", "1.2.3", "1.2.4"),
        ("npm", ">1.2", "1.3.0", "1.2.9"),
        ("npm", "<=1.2", "1.2.9", "1.3.0"),
        ("npm", "1.2 - 2.3", "1.2.0 2.3.9", "2.4.0 1.1.9"),
        ("npm", ">=1.0.0 <2.0.0 || ^3.1.0", "1.5.0 3.2.0", "2.0.0 3.0.9"),
        ("cargo", "1.2", "1.2.0 1.9.0", "2.0.0 1.1.9"),
        ("cargo", "0.8", "0.8.5", "0.9.0"),
        ("cargo", "=1.2.3", "1.2.3", "1.2.4"),
        ("cargo", ">=1.2, <1.5", "1.4.9", "1.5.0"),
        ("go", ">=1.4", "v1.4.0 v1.9.1+incompatible", "v1.3.9 v0.0.0-20210101000000-abcdefabcdef"),
        ("go", ">=v0.17.0 <1", "v0.19.0", "v0.16.9 v1.0.0"),
        ("maven", ">=5.3,<6", "5.3 5.3.0 5.3.27 5.3.0.RELEASE", "6.0.0 5.2.9 6.0.0-M1 5.3-SNAPSHOT"),
        ("maven", "32.x", "32.1.2-jre", "33.0.0-jre"),
        ("maven", "==2.0", "2.0 2.0.0 2.0.Final", "2.1 2.0-rc1"),
        ("python", "^1.2", "1.2 1.9.post1", "2.0 2.0a1 1.1"),
        ("python", "1.x", "1.0 1.5", "2.0"),
        ("python", ">=2", "2.1.0+cu121", "2.0rc1"),
        ("python", "~1.2", "1.2.9", "1.3"),
    ],
)
def test_ranges(ecosystem: Ecosystem, text: str, inside: str, outside: str) -> None:
    for version in inside.split():
        assert is_in(ecosystem, version, text), version
    for version in outside.split():
        assert not is_in(ecosystem, version, text), version


@pytest.mark.parametrize(
    ("ecosystem", "part", "whole", "inside", "overlaps"),
    [
        ("python", ">=4.2,<5", ">=4,<6", True, True),
        ("python", ">=4.2", ">=4,<6", False, True),
        ("python", ">=6", ">=4,<6", False, False),
        ("python", "==4.2.*", ">=4,<5", True, True),
        # 1.5rc1 isn't 1.5, but `<1.5` excludes it, too.
        ("python", ">=1,!=1.5,<2", ">=1,<1.5 || >1.5,<2", False, True),
        ("python", ">=1,<2", ">=1,!=1.5,<2", False, True),
        ("python", ">=1,<3", ">=1,<2 || >=2.dev0,<3", True, True),
        ("npm", "^18.2.0", "^18", True, True),
        ("npm", "^18.2.0 || ^19", "18.x || 19.x", True, True),
        ("npm", "^17", "^18", False, False),
        ("npm", "*", "^18", False, True),
        ("cargo", "1.4", "^1", True, True),
    ],
)
def test_ranges_in_ranges(ecosystem: Ecosystem, part: str, whole: str, inside: bool, overlaps: bool) -> None:
    one, other = spans(ecosystem, part), spans(ecosystem, whole)
    assert version_order.is_inside(one, other) == inside
    assert version_order.overlap(one, other) == overlaps


@pytest.mark.parametrize("version", ["", "x", "latest", "1..2", "9" * 5000, "1." * 3000 + "1"])
def test_what_isnt_a_version(version: str) -> None:
    for ecosystem in ("python", "npm", "cargo", "go"):
        assert version_order.key(ecosystem, version) is None


def test_a_range_of_another_ecosystem_cant_be_read() -> None:
    spec = version_spec.parse(">=5.0.RELEASE")
    assert isinstance(spec, VersionSpec)
    assert isinstance(version_order.spans("npm", spec), Unreadable)
    assert version_order.spans("maven", spec)
