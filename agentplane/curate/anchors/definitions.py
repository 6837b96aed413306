"""Definitions of a source text in any language. Parsers are loaded when a text needs them."""

import os

from agentplane.curate.anchors import text_blocks
from agentplane.curate.anchors.source import Source


LARGEST_PARSED = 1 << 20
"""Maximum bytes of a text that is parsed. A larger text is compared by its bytes and lines."""

_HEADED = (".md", ".markdown", ".rst")


def parse(path: str, plain: str, data: bytes) -> Source:
    """Return the definitions of a text. The form of its path decides the language."""
    ending = os.path.splitext(path.lower())[1]
    if ending in _HEADED:
        return text_blocks.HeadedSource(plain)
    if len(data) > LARGEST_PARSED:
        return text_blocks.BlockSource(plain, path)
    from agentplane.curate.anchors import grammars

    if ending in grammars.PYTHON_ENDINGS:
        return _python(plain, data)
    grammar = grammars.ENDINGS.get(ending)
    if grammar is None:
        return text_blocks.BlockSource(plain, path)
    try:
        from agentplane.curate.anchors import parsed_code

        return parsed_code.ParsedSource(plain.encode(errors="replace"), grammar)
    except ImportError:  # no wheel for this system
        return text_blocks.BlockSource(plain, path)


def _python(plain: str, data: bytes) -> Source:
    from agentplane.curate.anchors import grammars, python_code

    found = python_code.parse(data)
    if isinstance(found, python_code.PythonSource):
        return found
    from agentplane.curate.anchors import parsed_code

    # The code may be for another version of Python.
    return parsed_code.ParsedSource(plain.encode(errors="replace"), grammars.PYTHON)
