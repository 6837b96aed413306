"""A renderer for untrusted Markdown that hides no text and creates no links.

Text that another renderer would hide (comments, link targets, titles, definitions) stays as it was written.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

import msgspec
from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.style import Style
from rich.table import Table
from rich.text import Text

from agentplane.text.visible import visible


if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

CAP = 8_000
"""The largest number of characters that are drawn of one text."""
# Each of these rules could hide a part of the text.
_PLAIN = ("html_inline", "html_block", "reference", "link", "image", "autolink", "entity", "escape")

_WORD = re.compile(r"\w+")
_DEEPEST = 5

Look = Callable[[str], Style]
"""Returns the style for one of the names text, strong, emphasis, code, heading and muted."""


Block = tuple[bool, RenderableType]
"""A flag that is true for a block in a list, and the drawn block."""


class _Item(msgspec.Struct):
    """A list that is being read."""

    number: int | None
    marker: str = ""


def heading(look: Look, text: str, hint: str = "") -> Text:
    """Return the heading of a section. The hint after it is muted."""
    line = Text().append(text, look("heading"))
    return line.append(f"   {hint}" if hint else "", look("muted"))


def prose(text: str, look: Look) -> RenderableType:
    cut = len(text) - CAP
    shown = visible(text[:CAP] if cut > 0 else text)
    reader = _Reader(look)
    blocks = list(reader.read(shown))
    if Counter(_WORD.findall(shown)) - Counter(_WORD.findall(" ".join(reader.drawn))):
        blocks = [(False, Text(shown, look("text")))]  # for example, nested too deeply
    if cut > 0:
        blocks.append(
            (False, Text(f"… {cut:,} more characters. Press `e` to read them in the editor.", look("muted")))
        )
    return Group(*_spaced(blocks))


def _spaced(blocks: Sequence[Block]) -> Iterator[RenderableType]:
    for place, (in_list, block) in enumerate(blocks):
        if place and not (in_list and blocks[place - 1][0]):
            yield Text("")
        yield block


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).disable(_PLAIN)


class _Reader:
    """Converts Markdown tokens into renderables of Rich."""

    def __init__(self, look: Look) -> None:
        self.look = look
        self.lists: list[_Item] = []
        self.quotes = 0
        self.heading = False
        self.drawn: list[str] = []
        """Every text that was drawn. It is compared with the source, so that no word gets lost."""

    def read(self, text: str) -> Iterator[Block]:
        for token in _parser().parse(text):
            match token.type:
                case "bullet_list_open":
                    self.lists.append(_Item(None))
                case "ordered_list_open":
                    self.lists.append(_Item(int(token.attrGet("start") or 1)))
                case "bullet_list_close" | "ordered_list_close":
                    self.lists.pop()
                case "list_item_open":
                    self._begin_item(token)
                case "blockquote_open":
                    self.quotes += 1
                case "blockquote_close":
                    self.quotes -= 1
                case "heading_open":
                    self.heading = True
                case "heading_close":
                    self.heading = False
                case "inline":
                    yield bool(self.lists), self._placed(self._inline(token))
                case "fence" | "code_block":
                    yield bool(self.lists), self._placed(self._code(token))
                case "hr":
                    yield bool(self.lists), self._placed(Text("───", self.look("muted")))
                case _:
                    pass

    def _begin_item(self, token: "Token") -> None:
        item = self.lists[-1]
        if item.number is None:
            item.marker = "•"
        else:
            item.number = int(token.info) if token.info.isdigit() else item.number
            item.marker = f"{item.number}."

    def _placed(self, content: Text) -> RenderableType:
        """Return the content after its quote bar and its bullet, with all lines aligned."""
        self.drawn.append(content.plain)
        bars = "▎ " * min(self.quotes, _DEEPEST)
        if not self.lists:
            return _after_marker(bars, content, self.look("muted")) if bars else content
        item = self.lists[-1]
        marker, item.marker = item.marker or " " * 2, ""
        self.drawn.append(marker)
        inner = _after_marker(f"{bars}{marker:<2} ", content, self.look("muted"))
        return _indented(inner, 3 * min(len(self.lists) - 1, _DEEPEST) + 1)

    def _inline(self, token: "Token") -> Text:
        text = Text(style=self.look("heading") if self.heading else self.look("text"))
        styles: list[Style] = []
        for child in token.children or ():
            match child.type:
                case "strong_open":
                    styles.append(self.look("strong"))
                case "em_open":
                    styles.append(self.look("emphasis"))
                case "strong_close" | "em_close":
                    styles.pop()
                case "softbreak" | "hardbreak":
                    text.append("\n")
                case "code_inline":
                    text.append(child.content, self.look("code"))
                case _:
                    text.append(child.content, Style.combine(styles) if styles else None)
        return text

    def _code(self, token: "Token") -> Text:
        language = token.info.strip()
        text = Text(f"{language}\n" if language else "", self.look("muted"))
        text.append(token.content.rstrip("\n"), self.look("code"))
        return _with_bar(text, self.look("muted"))


def _with_bar(text: Text, style: Style) -> Text:
    bar = Text("│ ", style)
    return Text("\n").join(bar + line for line in text.split("\n", allow_blank=True))


def _after_marker(marker: str, content: Text, style: Style) -> Table:
    grid = Table.grid(expand=True)
    grid.add_column(width=cell_len(marker), no_wrap=True)
    grid.add_column(ratio=1)
    grid.add_row(Text(marker, style), content)
    return grid


def _indented(block: Table, cells: int) -> Table:
    outer = Table.grid(expand=True)
    outer.add_column(ratio=1)
    outer.add_row(Padding(block, (0, 0, 0, cells)))
    return outer
