"""The tokenizer of the static embeddings."""

import pytest

from agentplane.match import vectors
from agentplane.match.subwords import _BLANK, _PARTS, _WORD, Pieces


pytest.importorskip("wordllama")


@pytest.fixture(scope="module")
def pieces() -> Pieces:
    tokenizer, _ = vectors._model()
    assert isinstance(tokenizer, Pieces)
    return tokenizer


def test_a_word_in_the_vocabulary_is_merged_to_itself(pieces: Pieces) -> None:
    """`_encoded` returns the token of such a word without merging its characters."""
    words = [piece for piece in pieces._vocab if piece.startswith(_BLANK) and _WORD.fullmatch(piece)]
    assert len(words) > 10_000
    assert [word for word in words if pieces._merged(word) != [pieces._vocab[word]]] == []


def test_another_word_is_merged_from_its_characters(pieces: Pieces) -> None:
    assert f"{_BLANK}agentplane" not in pieces._vocab
    tokens = pieces.ids("agentplane")
    names = {number: piece for piece, number in pieces._vocab.items()}
    assert len(tokens) > 1
    assert "".join(names[token] for token in tokens) == f"{_BLANK}agentplane"


def test_letters_and_signs_are_never_in_one_piece(pieces: Pieces) -> None:
    """So `_encoded` encodes the parts of a word separately."""
    special = {"<unk>", "<s>", "</s>"}
    texts = [piece for piece in pieces._vocab if not piece.startswith("<0x") and piece not in special]
    assert [text for text in texts if len(_PARTS.split(text)) > 1] == []


@pytest.mark.parametrize(
    "word", ["word,", "(don't)", "`a_b-c/d.py`:", "x=1;y>=2", "caf\u00e9,no", "1st/2nd", "\u00e9-\u65e5a,"]
)
def test_the_parts_of_a_word_are_merged_like_the_whole(pieces: Pieces, word: str) -> None:
    assert pieces._encoded(_BLANK + word) == pieces._merged(_BLANK + word)
