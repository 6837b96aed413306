"""Several screenshots as one picture that moves: each is shown for a while, what several have in common stands there once."""

import re
from collections.abc import Sequence

import msgspec


_RULE = re.compile(r"^\s*\.(\S+?)-(r\d+) \{ (.*) \}$", re.MULTILINE)
_ELEMENT = re.compile(r"<rect [^>]*/>|<text [^>]*>[^<]*</text>")
_VIEW = re.compile(r'viewBox="0 0 (\S+) (\S+)"')
_PLACE = re.compile(r'<g transform="translate\((\S+), (\S+)\)" clip-path[^>]*>')
_BELOW = 64
"""Of the picture's height, for the words."""


class Frame(msgspec.Struct, frozen=True):
    svg: str
    """As Textual exports it; all frames of one size."""
    words: str
    seconds: float


class _Drawn(msgspec.Struct, frozen=True):
    """A frame taken apart. Its texts name their look by its rule, and so are equal where they look equal."""

    back: tuple[str, ...]
    texts: tuple[str, ...]
    rules: tuple[str, ...]


def composed(frames: Sequence[Frame]) -> str:
    """One SVG. Where nothing moves (or the reader wants that), it is the first frame."""
    name = _name(frames[0].svg)
    drawn = [_taken_apart(frame.svg) for frame in frames]
    rules = dict.fromkeys(rule for one in drawn for rule in one.rules)
    looks = {rule: f"l{number}" for number, rule in enumerate(rules)}
    layers = [
        *_layers([one.back for one in drawn], looks),
        *_layers([one.texts for one in drawn], looks),
        *_layers([(_caption(frame, frames[0].svg),) for frame in frames], looks),
    ]
    groups = {where: f"g{number}" for number, where in enumerate(dict.fromkeys(where for where, _ in layers))}
    style = "\n".join(
        [
            "text { font-family: Fira Code, monospace; font-size: 20px; white-space: pre }",
            ".words { font-family: sans-serif; font-size: 26px; fill: #d9dee7 }",
            *(f".{look} {{ {rule} }}" for rule, look in looks.items()),
            *_moves(groups, [frame.seconds for frame in frames]),
        ]
    )
    body = "\n".join(f'<g class="{groups[where]}">{"".join(parts)}</g>' for where, parts in layers)
    return _whole(frames[0].svg, name, style, body)


def _name(svg: str) -> str:
    """What Textual calls this screenshot in its ids; made from what is on it."""
    found = _RULE.search(svg)
    assert found, "a screenshot without colours"
    return found[1]


def _taken_apart(svg: str) -> _Drawn:
    rules = {look: rule for _, look, rule in _RULE.findall(svg)}
    name = _name(svg)
    body = svg[_place_at(svg) :]
    parts = [
        re.sub(r'clip-path="url\(#\S+-(line-\d+)\)"', r'clip-path="url(#\1)"', one)
        for one in _ELEMENT.findall(body)
    ]
    parts = [
        re.sub(rf'class="{name}-(r\d+)"', lambda found: f'class="{{{rules[found[1]]}}}"', one)
        for one in parts
    ]
    return _Drawn(
        back=tuple(one for one in parts if one.startswith("<rect")),
        texts=tuple(one for one in parts if one.startswith("<text")),
        rules=tuple(rules.values()),
    )


def _layers(each: Sequence[Sequence[str]], looks: dict[str, str]) -> list[tuple[tuple[int, ...], list[str]]]:
    """What is drawn, with the frames that it is in; in the order of the first frame that has it."""
    where: dict[str, list[int]] = {}
    for number, parts in enumerate(each):
        for part in dict.fromkeys(parts):
            where.setdefault(part, []).append(number)
    found: dict[tuple[int, ...], list[str]] = {}
    for part, numbers in where.items():
        looked = re.sub(r'class="\{(.*?)\}"', lambda match: f'class="{looks[match[1]]}"', part)
        found.setdefault(tuple(numbers), []).append(looked)
    return list(found.items())


def _moves(groups: dict[tuple[int, ...], str], seconds: Sequence[float]) -> list[str]:
    """For each group of frames, when what belongs to it is there."""
    total = sum(seconds)
    starts = [100 * sum(seconds[:number]) / total for number in range(len(seconds))]
    made = []
    for where, group in groups.items():
        if len(where) == len(seconds):
            continue
        steps = "".join(
            f"{start:.3f}% {{ visibility: {'visible' if number in where else 'hidden'} }} "
            for number, start in enumerate(starts)
            if number == 0 or (number in where) != (number - 1 in where)
        )
        still = "visible" if 0 in where else "hidden"
        made += [
            f"@keyframes {group} {{ {steps}}}",
            f".{group} {{ visibility: {still}; animation: {group} {total:g}s step-end infinite }}",
        ]
    return [*made, "@media (prefers-reduced-motion: reduce) { g { animation: none !important } }"]


def _caption(frame: Frame, svg: str) -> str:
    wide, high = _size(svg)
    left, top = _place(svg)
    told = frame.words.replace("&", "&amp;").replace("<", "&lt;")
    return f'<text class="words" x="{wide / 2 - left:g}" y="{high + _BELOW - 24 - top:g}" text-anchor="middle">{told}</text>'


def _size(svg: str) -> tuple[float, float]:
    found = _VIEW.search(svg)
    assert found, "a screenshot without a size"
    return float(found[1]), float(found[2])


def _place(svg: str) -> tuple[float, float]:
    """Where in the window the screen begins."""
    found = _PLACE.search(svg)
    assert found, "a screenshot without a window"
    return float(found[1]), float(found[2])


def _place_at(svg: str) -> int:
    found = _PLACE.search(svg)
    return found.start() if found else len(svg)


def _whole(svg: str, name: str, style: str, body: str) -> str:
    """The window around it is that of the first screenshot."""
    wide, high = _size(svg)
    clips = "".join(re.findall(r"<clipPath .*?</clipPath>", svg, re.DOTALL)).replace(f"{name}-", "")
    window = svg[svg.rindex("</defs>") + len("</defs>") : _place_at(svg)]
    left, top = _place(svg)
    return (
        f'<svg viewBox="0 0 {wide:g} {high + _BELOW:g}" xmlns="http://www.w3.org/2000/svg">\n'
        f"<style>\n{style}\n</style>\n<defs>{' '.join(clips.split())}</defs>\n"
        f'<rect width="100%" height="100%" rx="8" fill="#12161d"/>\n{window.strip()}\n'
        f'<g transform="translate({left:g}, {top:g})">\n{body}\n</g>\n</svg>\n'
    )
