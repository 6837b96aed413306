"""The form of a sample project: its files, and the definitions that claims rest on."""

import msgspec


Swap = tuple[str, str]
"""A text that occurs once, and the text that replaces it."""


class Target(msgspec.Struct, frozen=True):
    """A definition, a claim that rests on it, and a change of each kind.

    In the files, the lines `<<< NAME` and `>>> NAME` enclose the definition with its documentation. They are removed
    before the files are written.
    """

    path: str
    symbol: str
    """The name in the evidence, such as `Class.method`."""
    claim: str
    formatting: Swap
    docs: Swap
    signature: Swap
    constant: Swap
    logic: Swap
    other: Swap
    """A change outside of the definition, in the same file."""
    renamed: str
    """Another name for the definition."""
    renamed_file: Swap
    """Another path for the file, and the text in the file that follows: `old|new`, or nothing."""
    moved_to: str
    """The file that gets the definition when it is moved."""
    moves: str = ""
    """What is moved, if it isn't the definition alone. A method moves with its class."""
    imported: str = ""
    """The line that imports it from there."""
    before: str = ""
    """The text in the other file before which the definition goes. At the end of the file if there is none."""

    helper: str = ""
    """The function that is inserted above, if the project's own doesn't fit there."""

    @property
    def region(self) -> str:
        return self.moves or self.name

    @property
    def name(self) -> str:
        return self.symbol.replace("::", ".").rpartition(".")[2]


class Project(msgspec.Struct, frozen=True):
    files: dict[str, str]
    targets: tuple[Target, ...]
    remark: str
    """How a comment begins."""
    helper: str
    """A function that is inserted above a definition."""
