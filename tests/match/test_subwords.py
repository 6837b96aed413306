"""The tokenizer of the static embeddings."""

import pytest

from agentplane.match import vectors
from agentplane.match.subwords import _BLANK, _WORD, Pieces


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
