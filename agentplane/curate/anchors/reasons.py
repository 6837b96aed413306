"""The reasons why evidence can't be compared, each as the end of a sentence."""

from collections.abc import Mapping


REASONS: Mapping[str, str] = {
    "outside": "it is outside the project",
    "submodule": "it is in a submodule, which has its own history",
    "special": "it isn't a regular file",
    "folder": "it is a folder",
    "unreadable": "the file can't be read",
    "too-large": "the file is too large to compare",
    "binary": "the file isn't text",
    "syntax": "the file has a syntax error",
    "ambiguous": "several definitions have this name",
    "no-git": "no state was recorded, and the project isn't in a Git repository",
    "no-commit": "no state was recorded, and this clone doesn't have the commit of the approval",
    "no-text": "Git doesn't have the text that was approved",
    "shallow": "this clone has only part of the history",
    "untracked": "Git never had the file, so it may still exist on another machine",
    "not-checked-out": "Git doesn't check it out in this work tree",
    "missing": "it was already missing when the entry was approved",
}
