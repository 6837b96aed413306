"""Recall from an index of the memory, with the same results as a scan.

It compares only the entries that can be among the first results.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from agentplane.match.words import listed
from agentplane.memory.entry import Entry, searchable_text
from agentplane.memory.word_index import Places, Words
from agentplane.retrieval.scan import LEAST_SCORE, Match, Wanted, match_of, score_of, shared_words, words_of


_AT_ONCE = 32
_NOWHERE: Places = np.empty(0, dtype=np.int32)


def look_up(index: Words, wanted: Wanted, query: str, limit: int) -> list[Match]:
    """Return the matches of `scan` for the entries of an index, comparing only possible first results."""
    words = words_of(query)
    if not words or limit < 1:
        return []
    held = _held(index, words)
    most = _most(index, words, held)
    found: list[tuple[float, Entry, list[str]]] = []
    possible = np.flatnonzero(most >= LEAST_SCORE)
    order = possible[np.argsort(-most[possible], kind="stable")]
    for begin in range(0, len(order), _AT_ONCE):
        places = order[begin : begin + _AT_ONCE]
        least = sorted((score for score, *_ in found), reverse=True)[limit - 1] if len(found) >= limit else 0
        if most[places[0]] < max(LEAST_SCORE, least):
            break
        reach = [place for place in places.tolist() if most[place] >= max(LEAST_SCORE, least)]
        near = [(one, place) for place in reach if (one := index.entries[place]) and wanted.takes(one)]
        found += _compared(words, near, held)
    last = sorted((score for score, *_ in found), reverse=True)[:limit][-1:]
    rows = [(score, shared, entry) for score, entry, shared in found if [score] >= last]
    rows.sort(key=lambda row: (-row[0], -len(shared_words(row[1], row[2].statement)), row[2].id))
    return [match_of(entry, score, shared) for score, shared, entry in rows[:limit]]


def _held(index: Words, words: Sequence[str]) -> list[Places]:
    """Return, for each word, the places that have it in any of its forms."""
    each = ([index.places(term) for term in dict.fromkeys(listed(word))] for word in words)
    return [_joined(places) for places in each]


def _joined(places: Sequence[Places]) -> Places:
    """Return the sorted union of places. numpy's own functions load masked arrays, which take a megabyte."""
    if len(places) < 2:
        return places[0] if places else _NOWHERE
    every = np.sort(np.concatenate(places))
    found: Places = every[np.append(True, every[1:] != every[:-1])]
    return found


def _is_in(wanted: Places, places: Places) -> npt.NDArray[np.bool_]:
    """Return a mask of the wanted places that are in `places`, which is sorted."""
    if not len(places):
        return np.zeros(len(wanted), dtype=np.bool_)
    at = np.minimum(np.searchsorted(places, wanted), len(places) - 1)
    found: npt.NDArray[np.bool_] = places[at] == wanted
    return found


def _most(index: Words, words: Sequence[str], held: Sequence[Places]) -> npt.NDArray[np.float64]:
    """Return the highest score that the entry at each place can have, or 0 if it has no word of the query.

    The fuzzy ratio is the maximum of three comparisons. It compares the shared words with all words of each
    text, and all words of one text with all words of the other. The lengths of these texts bound each
    comparison.
    """
    counts, shared = np.zeros(len(index.entries)), np.zeros(len(index.entries))
    for word, here in zip(words, held, strict=True):
        counts[here] += 1
        shared[here] += len(word)
    asked, lengths = sum(map(len, words)) + len(words) - 1, index.lengths.astype(np.float64)
    both = np.maximum(shared + counts - 1, 0)
    rest, other = np.maximum(asked - both - 1, 0), np.maximum(lengths - both - 1, 0)
    near = np.maximum(2 * both / (2 * both + 1 + rest), 2 * both / (2 * both + 1 + other))
    near = np.maximum(near, 1 - np.abs(asked - lengths) / np.maximum(asked + lengths, 1))
    near[(counts == len(words)) | (lengths <= asked)] = 1
    # The margin covers rounding, and characters that replace a blank.
    most: npt.NDArray[np.float64] = 0.7 * counts / len(words) + 0.3 * np.minimum(near + 0.02, 1)
    most[counts == 0] = 0
    return most


def _compared(
    words: list[str], near: Sequence[tuple[Entry, int]], held: Sequence[Places]
) -> Iterator[tuple[float, Entry, list[str]]]:
    """Yield the score of each entry and the query words that it has. `near` has each entry with its place."""
    from rapidfuzz import fuzz, utils

    if not near:
        return

    asked = " ".join(words)
    places = np.array([place for _, place in near], dtype=np.int32)
    has = np.array([_is_in(places, holding) for holding in held]).T
    for (entry, _), row in zip(near, has.tolist(), strict=True):
        text = searchable_text(entry)
        ratio = fuzz.token_set_ratio(asked, text, processor=utils.default_process)
        if ratio < 1:
            continue
        # The index also has the case-folded forms of words in other scripts.
        if text.isascii():
            shared = [word for word, is_there in zip(words, row, strict=True) if is_there]
        else:
            shared = shared_words(words, text)
        score = score_of(len(shared), len(words), ratio)
        if score >= LEAST_SCORE:
            yield score, entry, shared
