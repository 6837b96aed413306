"""Recall by an index of the shelf: the same results as a scan, of which only the first few are worked out."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from agentplane.match.words import listed
from agentplane.memory.entry import Entry, said
from agentplane.memory.lookup import Words
from agentplane.retrieval.scan import LEAST_SCORE, Result, Wanted, as_result, scored, shared_words, words_of


_AT_ONCE = 32


def look_up(index: Words, wanted: Wanted, query: str, limit: int) -> list[Result]:
    """The same as `scan`, of the entries of an index: only those are compared that can be among the first."""
    words = words_of(query)
    if not words or limit < 1:
        return []
    most = _most(index, words)
    found: list[tuple[float, Entry]] = []
    order = np.argsort(-most, kind="stable")
    for begin in range(0, len(order), _AT_ONCE):
        places = order[begin : begin + _AT_ONCE]
        least = sorted((score for score, _ in found), reverse=True)[limit - 1] if len(found) >= limit else 0
        if most[places[0]] < max(LEAST_SCORE, least):
            break
        entries = (
            index.entries[place] for place in places.tolist() if most[place] >= max(LEAST_SCORE, least)
        )
        found += _compared(words, [one for one in entries if one is not None and wanted.takes(one)])
    last = sorted((score for score, _ in found), reverse=True)[:limit][-1:]
    rows = [(score, shared_words(words, said(entry)), entry) for score, entry in found if [score] >= last]
    rows.sort(key=lambda row: (-row[0], -len(shared_words(row[1], row[2].statement)), row[2].id))
    return [as_result(entry, score, shared) for score, shared, entry in rows[:limit]]


def _most(index: Words, words: Sequence[str]) -> npt.NDArray[np.float64]:
    """For each place the score that what stands there can have at most; 0 where no word of the query is.

    The fuzzy ratio compares the words that both have with all words of each, and all words with one another: how long these are
    bounds each of the three.
    """
    counts, shared = np.zeros(len(index.entries)), np.zeros(len(index.entries))
    for word in words:
        places = [index.places(term) for term in dict.fromkeys(listed(word))]
        if places:
            here = np.unique(np.concatenate(places))
            counts[here] += 1
            shared[here] += len(word)
    asked, lengths = sum(map(len, words)) + len(words) - 1, index.lengths.astype(np.float64)
    both = np.maximum(shared + counts - 1, 0)
    rest, other = np.maximum(asked - both - 1, 0), np.maximum(lengths - both - 1, 0)
    near = np.maximum(2 * both / (2 * both + 1 + rest), 2 * both / (2 * both + 1 + other))
    near = np.maximum(near, 1 - np.abs(asked - lengths) / np.maximum(asked + lengths, 1))
    near[(counts == len(words)) | (lengths <= asked)] = 1
    # What is rounded, and what takes the place of a blank.
    most: npt.NDArray[np.float64] = 0.7 * counts / len(words) + 0.3 * np.minimum(near + 0.02, 1)
    most[counts == 0] = 0
    return most


def _compared(words: list[str], entries: Sequence[Entry]) -> Iterator[tuple[float, Entry]]:
    from rapidfuzz import fuzz, utils

    asked = " ".join(words)
    for entry in entries:
        text = said(entry)
        near = fuzz.token_set_ratio(asked, text, processor=utils.default_process)
        score, _ = scored(words, text, near)
        if near >= 1 and score >= LEAST_SCORE:
            yield score, entry
