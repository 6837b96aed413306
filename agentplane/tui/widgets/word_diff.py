"""The comparison of two texts word for word, as styled text."""

from collections.abc import Callable, Iterator, Sequence

from rich.style import Style
from rich.text import Text

from agentplane.text.visible import visible
from agentplane.text.word_changes import Segment, Side, changes, segments


def changed_lines(here: str, there: str, style: Callable[[Side], Style]) -> list[Text]:
    """Return the lines with changes from the text that combines both. A change can span several lines."""
    lines, differs = [Text()], [False]
    for piece, is_changed in _pieces(here, there, style):
        for place, part in enumerate(piece.split("\n", allow_blank=True)):
            if place:
                lines.append(Text())
                differs.append(False)
            lines[-1].append_text(part)
            differs[-1] |= is_changed and bool(part.plain.strip())
    return [line for line, is_changed in zip(lines, differs, strict=True) if is_changed]


def _pieces(here: str, there: str, style: Callable[[Side], Style]) -> Iterator[tuple[Text, bool]]:
    """Yield each piece of the combined text, with True if it is a change.

    A difference in case is a change too, because both texts are versions of one entry.
    """
    for change in changes(here, there, exact=True):
        if change.same:
            yield Text(visible(change.there), style("same")), False
            continue
        old, new = segments(change.here, "here"), segments(change.there, "there")
        text = marked([part for part in old if part.side == "here" or not change.there.strip()], style)
        text.append(" " if change.here.strip() and change.there.strip() else "")
        text.append_text(marked(new, style) if change.there.strip() or not change.here.strip() else Text())
        yield text, True


def marked(segments: Sequence[Segment], style: Callable[[Side], Style]) -> Text:
    """Return the text with each change in brackets and in its own style. Color alone is not enough."""
    text = Text()
    for segment in segments:
        shown = visible(segment.text)
        if segment.side == "same":
            text.append(shown, style("same"))
            continue
        begin, end = ("[-", "-]") if segment.side == "here" else ("{+", "+}")
        text.append(f"{begin}{shown}{end}", style(segment.side))
    return text
