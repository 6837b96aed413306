"""Runs the terminal sessions that the documentation shows, and holds what they print against what is shown.

A block marked `console` holds commands behind `$ ` and what they print. The blocks of a page are one
session in one folder. What differs from run to run (ids, revisions, times, commits) may differ, but
an id that is shown twice must be the same thing twice. A line `...` stands for any lines.
"""

import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from tests.e2e.terminal import typed


HOME = "/home/ada"
"""How the pages name the folder in which a session runs."""

_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_STEP = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
_NAME = re.compile(r"CAND-[A-Z0-9]{6}|\d{8}T\d{6}Z-[a-z0-9]{6}")
_LOOSE = (
    # The revision includes the day of each entry.
    (re.compile(r"(?<=memory )[0-9a-f]{8}\b"), r"[0-9a-f]{8}"),
    (re.compile(r"(?<=revision )[0-9a-f]{8}\b"), r"[0-9a-f]{8}"),
    (re.compile(r"\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z"), r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"),
    (re.compile(r"\b\d{4}-\d{2}-\d{2}\b"), r"\d{4}-\d\d-\d\d"),
    (re.compile(r"(?<=anchor:        )[0-9a-f]{12}"), r"[0-9a-f]{12}"),
    (re.compile(r"(?<=git checkout )[0-9a-f]{12}\b"), r"[0-9a-f]{12}"),
    # Ages grow with the days, and what follows on the line is cut off where it ends.
    (re.compile(r"\b\d+ days? old.*"), r"\d+ days? old.*"),
    (re.compile(r"(?<=terminal, )\w+(?=\))"), r"[\w.-]+"),
    # How long a run took, as wide as it is; how long ago it was; the part of its id that names it.
    (re.compile(r"\b\d+(?:\.\d+)? s(?: *)(?= )"), r"\d+(?:\.\d+)? (?:s|min) *"),
    (re.compile(r"^now +"), r"(?:now|\d+ min) +"),
    (re.compile(r"(?<= s → )\d[\d.]*(?= s$)"), r"[\d.]+"),
)


class Step(msgspec.Struct, frozen=True):
    command: str
    shown: str


class Stale(AssertionError):
    """The program prints something other than a page shows."""

    def __init__(self, step: Step, printed: str) -> None:
        super().__init__(f"$ {step.command}\nthe page shows:\n{step.shown}\nthe program prints:\n{printed}")
        self.printed = printed


def steps(page: str) -> Iterator[Step]:
    for block in _BLOCK.findall(page):
        for command, shown in _STEP.findall(block):
            yield Step(command, shown.removesuffix("\n"))


def rewritten(page: str, home: Path) -> str:
    """The page with what the program prints now where it shows something else."""
    session = Session(home)

    def step(found: re.Match[str]) -> str:
        shown = found[2].removesuffix("\n")
        try:
            session.run(Step(found[1], shown))
        except Stale as stale:
            shown = session.as_shown(stale.printed, shown)
        return f"$ {found[1]}\n{shown}\n" if shown else f"$ {found[1]}\n"

    return _BLOCK.sub(lambda block: block[0].replace(block[1], _STEP.sub(step, block[1])), page)


class Session:
    """A shell at a terminal, in a folder, that remembers what the ids of the page stand for."""

    def __init__(self, home: Path) -> None:
        self.home = self.folder = home
        self.names: dict[str, str] = {}
        self.bin = home.parent / f"{home.name}-bin"
        self.bin.mkdir()
        program = self.bin / "agentplane"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m agentplane "$@"\n')
        program.chmod(0o755)

    def run(self, step: Step) -> None:
        command = _NAME.sub(lambda found: self.names.get(found[0], found[0]), step.command)
        command = _ends(command, self.names)
        if command.startswith("cd "):
            self.folder = self.folder / command[3:]
            return
        environment = {
            "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}",
            "LOGNAME": "ada",
            "NO_COLOR": "1",
        }
        screen = typed(["-c", command], self.folder, env=environment, columns=100, program=("sh",)).screen
        printed = "\n".join(line.rstrip() for line in screen.splitlines())
        found = re.fullmatch(self._pattern(_ends(step.shown, self.names)), printed)
        if found is None:
            raise Stale(Step(command, step.shown), printed)
        self.names |= {_shown_name(key): value for key, value in found.groupdict().items()}

    def as_shown(self, printed: str, old: str) -> str:
        """What was printed, with the page's names for ids; new ones are taken over in their order."""
        fresh = [name for name in dict.fromkeys(_NAME.findall(printed)) if name not in self.names.values()]
        unused = [name for name in dict.fromkeys(_NAME.findall(old)) if name not in self.names]
        self.names |= {name: name for name in unused if name in fresh}
        others = [name for name in fresh if name not in unused]
        unused = [name for name in unused if name not in fresh]
        self.names |= dict(zip(unused, others, strict=False))
        self.names |= {name: name for name in others[len(unused) :]}
        back = {value: name for name, value in self.names.items()}
        printed = _ends(_NAME.sub(lambda found: back[found[0]], printed), back)
        return printed.replace(str(self.home), HOME)

    def _pattern(self, shown: str) -> str:
        seen: set[str] = set()
        pattern = ""
        for number, line in enumerate(shown.split("\n")):
            if line == "...":
                pattern += r"\n?(?s:.*?)"
            else:
                pattern += ("\n" if number else "") + self._line(line, seen)
        return pattern

    def _line(self, line: str, seen: set[str]) -> str:
        line = line.rstrip().replace(HOME, str(self.home))
        parts, at = [], 0
        for found in _NAME.finditer(line):
            parts += [_loose(line[at : found.start()]), self._name(found[0], seen)]
            at = found.end()
        return "".join([*parts, _loose(line[at:])])

    def _name(self, name: str, seen: set[str]) -> str:
        if name in self.names:
            return re.escape(self.names[name])
        if name in seen:
            return f"(?P={_group(name)})"
        seen.add(name)
        return f"(?P<{_group(name)}>{_NAME.pattern})"


def _ends(text: str, names: Mapping[str, str]) -> str:
    """With the ends of runs' ids, by which runs are named as well, replaced as the ids are."""
    for old, new in names.items():
        if old[0].isdigit():
            text = re.sub(rf"(?<![\w-]){old[-6:]}(?![\w-])", new[-6:], text)
    return text


def _loose(text: str) -> str:
    """The text as a pattern, with what differs from run to run left open."""
    spots = sorted((hit.span(), kind) for pattern, kind in _LOOSE for hit in pattern.finditer(text))
    parts, at = [], 0
    for (start, end), kind in spots:
        if start >= at:
            parts += [re.escape(text[at:start]), kind]
            at = end
    return "".join([*parts, re.escape(text[at:])])


def _group(name: str) -> str:
    return "n_" + name.replace("-", "__")


def _shown_name(group: str) -> str:
    return group.removeprefix("n_").replace("__", "-")
