"""agentplane's own vector store, and what happens to the saved vectors of texts."""

from collections.abc import Mapping

import numpy as np
import pytest

from agentplane.match import vectors
from agentplane.match.embedder import Model
from agentplane.match.vector_cache import Vectors, key_of
from agentplane.match.vector_store import KEY_BYTES, ArrayStore, Hit, Place, Vector, VectorStore


needs_wordllama = pytest.mark.skipif(vectors.available() is not None, reason="wordllama is not installed")
MODEL = Model("made up", "1", 2)
RIGHT, UP, BOTH = b"r" * KEY_BYTES, b"u" * KEY_BYTES, b"b" * KEY_BYTES


def vector(*values: float) -> Vector:
    return np.array(values, dtype=np.float16)


class Disk:
    """One saved store. It counts how often it was read."""

    def __init__(self, saved: bytes | None = None) -> None:
        self.saved = saved
        self.loaded = 0

    def load(self) -> bytes | None:
        self.loaded += 1
        return self.saved

    def save(self, data: bytes) -> None:
        self.saved = data

    def open(self, model: Model) -> VectorStore:
        return ArrayStore(Place(model, self.load, self.save))


def plain(found: Mapping[bytes, Vector]) -> dict[bytes, list[float]]:
    return {key: row.tolist() for key, row in found.items()}


def test_vectors_are_added_replaced_removed_and_saved() -> None:
    disk = Disk()
    store = disk.open(MODEL)
    assert plain(store.get([RIGHT])) == {}
    store.put({RIGHT: vector(1, 0), UP: vector(0, 1)})
    store.put({RIGHT: vector(2, 0), BOTH: vector(1, 1)})
    store.remove([UP, b"unknown"])
    assert disk.saved is None
    store.save()
    for one in (store, disk.open(MODEL)):
        assert len(one) == 2
        assert plain(one.get([RIGHT, UP, BOTH])) == {RIGHT: [2, 0], BOTH: [1, 1]}


def test_the_nearest_come_first_whatever_their_length() -> None:
    store = Disk().open(MODEL)
    assert store.nearest(vector(1, 0), 5) == []
    store.put({UP: vector(0, 9), BOTH: vector(3, 3), RIGHT: vector(0.5, 0), b"0" * KEY_BYTES: vector(7, 0)})
    found = store.nearest(vector(4, 0), 3)
    assert found[:2] == [Hit(b"0" * KEY_BYTES, 1.0), Hit(RIGHT, 1.0)]
    assert found[2].key == BOTH
    assert found[2].nearness == pytest.approx(0.5**0.5)
    assert store.nearest(vector(4, 0), 0) == []


def test_saved_vectors_that_are_not_whole_count_as_none() -> None:
    disk = Disk()
    store = disk.open(MODEL)
    store.put({RIGHT: vector(1, 0), UP: vector(0, 1)})
    store.save()
    data = disk.saved
    assert data is not None
    assert len(Disk(data).open(MODEL)) == 2
    flipped = data[:-9] + bytes([data[-9] ^ 1]) + data[-8:]
    for damaged in (None, b"", b"nonsense", data[:-1], data + b"x", data[:30], flipped):
        assert len(Disk(damaged).open(MODEL)) == 0


@pytest.mark.parametrize(
    "other", [Model("made up", "2", 2), Model("other", "1", 2), Model("made up", "1", 4)]
)
def test_vectors_of_another_model_count_as_none(other: Model) -> None:
    disk = Disk()
    store = disk.open(MODEL)
    store.put({RIGHT: vector(1, 0), UP: vector(0, 1)})
    store.save()
    assert len(disk.open(other)) == 0
    assert len(disk.open(MODEL)) == 2


def test_no_more_is_kept_than_allowed() -> None:
    store = ArrayStore(Place(MODEL), limit=1)
    store.put({RIGHT: vector(1, 0), UP: vector(0, 1)})
    assert list(store.get([RIGHT, UP])) == [UP]


class Counting:
    """An embedder that notes what it embeds. Its vectors are the number of letters and of blanks."""

    def __init__(self, *, is_quick: bool = False) -> None:
        self.model = Model("counting", "1", 2, is_quick)
        self.calls: list[list[str]] = []

    def embed(self, texts: list[str]) -> list[list[float]]:
        self.calls.append(list(texts))
        return [[len(text), text.count(" ")] for text in texts]


def test_each_text_is_embedded_once() -> None:
    disk, first = Disk(), Counting()
    kept = Vectors(first, disk.open)
    rows = kept.of(["one text", "another", "one text"])
    assert rows.tolist() == [[8, 1], [7, 0], [8, 1]]
    assert first.calls == [["one text", "another"]]
    assert kept.changed
    kept.save()
    assert not kept.changed

    again = Counting()
    kept = Vectors(again, disk.open)
    assert kept.of(["another", "one text", "new"]).tolist() == [[7, 0], [8, 1], [3, 0]]
    assert again.calls == [["new"]]
    assert len(kept) == 3


def test_no_texts_have_no_rows() -> None:
    assert Vectors(Counting()).of([]).shape == (0, 2)
    assert Vectors(Counting()).changed is False


def test_many_texts_are_embedded_in_parts() -> None:
    embedder = Counting()
    assert Vectors(embedder).of([f"text {number}" for number in range(150)]).shape == (150, 2)
    assert [len(call) for call in embedder.calls] == [64, 64, 22]


@pytest.mark.parametrize("is_quick", [True, False])
def test_a_quick_embedder_reads_no_store_for_a_few_texts(*, is_quick: bool) -> None:
    disk = Disk()
    embedder = Counting(is_quick=is_quick)
    kept = Vectors(embedder, disk.open)
    kept.of(["one text"])
    assert disk.loaded == (0 if is_quick else 1)
    kept.of([f"text {number}" for number in range(100)])
    assert disk.loaded == 1
    kept.save()
    assert len(disk.open(embedder.model)) == 101


@pytest.mark.parametrize("is_quick", [True, False])
def test_what_took_long_is_not_lost_when_memory_is_freed(*, is_quick: bool) -> None:
    disk = Disk()
    embedder = Counting(is_quick=is_quick)
    kept = Vectors(embedder, disk.open)
    kept.of(["one text"])
    kept.release()
    kept.of(["one text"])
    assert len(embedder.calls) == (2 if is_quick else 1)
    alone = Vectors(embedder)
    alone.of(["one text"])
    alone.release()
    assert len(alone) == 1


@needs_wordllama
def test_another_text_gets_another_vector() -> None:
    assert key_of("one text") != key_of("one texts")
    kept = Vectors(vectors.own())
    assert not np.array_equal(kept.of(["one text"]), kept.of(["one texts"]))


@needs_wordllama
def test_read_or_computed_the_vector_is_the_same() -> None:
    disk = Disk()
    kept = Vectors(vectors.own(), disk.open)
    texts = [f"Sign in with passkey {number}" for number in range(80)]
    computed = kept.of(texts)
    kept.save()
    assert np.array_equal(Vectors(vectors.own(), disk.open).of(texts), computed)
