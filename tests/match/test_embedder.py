"""Embedders and vector stores of other packages in place of agentplane's own ones."""

from pathlib import Path

import numpy as np
import pytest

from agentplane import extensions
from agentplane.api import Plane
from agentplane.extensions import EMBEDDERS, VECTOR_STORES
from agentplane.match import embedder, vectors
from agentplane.match.corpus import Corpus, Text
from agentplane.match.embedder import Model
from agentplane.match.vector_cache import Vectors
from agentplane.plane.derived import cache, server_memory
from agentplane.review.conflicts import embeddings, result_cache
from agentplane.review.conflicts.conflicts import Text as Stated
from agentplane.review.conflicts.embeddings import VectorCache
from agentplane.review.conflicts.shortlist import Neighbours
from tests import cached
from tests.bench.near import signals
from tests.extension_packages import Installed


ANIMALS = """
from agentplane.match.embedder import Model

class extension:
    '''Knows which sounds belong to which animal, and nothing else.'''

    model = Model("animals", "1", 3)

    def embed(self, texts):
        return [self.row(text) for text in texts]

    def row(self, text):
        for place, words in enumerate((("Owls", "hooting"), ("Cats", "purring"))):
            if any(word in text for word in words):
                return [place == 0, place == 1, 0]
        return [0, 0, 0.1]
"""
FAILING = ANIMALS.replace("def embed(self, texts):", "def embed(self, texts):\n        {body}")
STORE = """
from agentplane.match.vector_store import Hit

class extension:
    '''Keeps its vectors in a dictionary, and notes what it is asked.'''

    kept = {}
    asked = []

    def __init__(self, place):
        self.model = place.model
        self.save_bytes = place.save
        self.asked.append(place.load())

    def get(self, keys):
        return {key: self.kept[key] for key in keys if key in self.kept}

    def put(self, vectors):
        self.kept.update(vectors)

    def remove(self, keys):
        for key in keys:
            self.kept.pop(key, None)

    def nearest(self, vector, limit):
        return [Hit(key, 1.0) for key in sorted(self.kept)][:limit]

    def save(self):
        self.save_bytes(b"saved %d" % len(self.kept))

    def __len__(self):
        return len(self.kept)
"""


def shelf() -> list[Stated]:
    said = [
        "Owls are protected.",
        "Cats are kept inside.",
        *(f"Rule {number} of the house." for number in range(98)),
    ]
    return [Stated(id=f"DEC-{n:03}", type="decision", statement=text) for n, text in enumerate(said)]


def asked(words: str) -> Stated:
    return Stated(id="CAND-1", type="decision", statement=words, status="proposed")


def kept(plane: Plane) -> VectorCache:
    return VectorCache(plane.layout, plane.store.snapshot().ledger.head)


def near(plane: Plane, words: str) -> list[str]:
    return [text.statement for text in Neighbours(shelf(), kept(plane), "shelf").of_each([asked(words)])[0]]


def saved(plane: Plane) -> list[str]:
    return sorted(path.name for path in plane.layout.cache.glob("vectors*"))


def test_the_chosen_embedder_decides_what_is_near(installed: Installed) -> None:
    corpus, query = [Text("Cats are kept inside"), Text("Owls are protected")], Text("No hooting at night")
    before = signals(Corpus(corpus), [query])["meaning"][0].tolist()
    installed.use(EMBEDDERS, "acme", ANIMALS)
    cats, owls = signals(Corpus(corpus), [query])["meaning"][0].tolist()
    assert next(Corpus(corpus).ranked_each([query], 2)).places == [1, 0]
    assert owls > cats + 0.2
    assert before != [cats, owls]


def test_an_embedder_changes_which_entries_a_candidate_is_compared_with(
    plane: Plane, installed: Installed
) -> None:
    """The question shares no word with what it is about, and there are more entries than are compared."""
    words = "Stop the hooting at night"
    assert near(plane, words)[0] != "Owls are protected."
    installed.use(EMBEDDERS, "acme", ANIMALS)
    assert near(plane, words)[0] == "Owls are protected."
    assert near(plane, "Stop the purring at night")[0] == "Cats are kept inside."


def test_vectors_of_two_embedders_are_never_mixed(plane: Plane, installed: Installed) -> None:
    words = "Stop the hooting at night"
    own = near(plane, words)
    assert saved(plane) == ["vectors"]
    index = (plane.layout.cache / "index-shelf").read_bytes()
    installed.use(EMBEDDERS, "acme", ANIMALS)
    theirs = near(plane, words)
    assert theirs != own
    assert len(saved(plane)) == 2
    assert (plane.layout.cache / "index-shelf").read_bytes() != index
    installed.choose(EMBEDDERS, "")
    assert near(plane, words) == own
    installed.use(EMBEDDERS, "acme2", ANIMALS.replace('"animals", "1"', '"animals", "2"'))
    assert near(plane, words) == theirs
    assert len(saved(plane)) == 3


def test_a_server_builds_its_index_again_for_another_embedder(plane: Plane, installed: Installed) -> None:
    words = "Stop the hooting at night"
    own = near(plane, words)
    server_memory.serve(1)
    try:
        assert near(plane, words) == own
        installed.use(EMBEDDERS, "acme", ANIMALS)
        theirs = near(plane, words)
        assert theirs[0] == "Owls are protected."
        installed.choose(EMBEDDERS, "")
        assert near(plane, words) == own
    finally:
        server_memory.serve(0)


def test_results_name_the_embedder(installed: Installed) -> None:
    def version() -> str:
        result_cache.file.cache_clear()
        return result_cache.file().version

    own = version()
    module = installed.use(EMBEDDERS, "acme", ANIMALS)
    assert version() == f"{own} acme {module} 1.2"
    assert module not in extensions._loaded
    installed.choose(EMBEDDERS, "")
    assert version() == own


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import no_such_module_of_acme", "failed: ModuleNotFoundError"),
        (FAILING.format(body="raise OSError('no weights')"), "failed: OSError: no weights."),
        (FAILING.format(body="return 'nonsense'"), "something other than 2 rows of 3 finite numbers."),
        (FAILING.format(body="return [[1, 2, 3]]"), "something other than 2 rows of 3 finite numbers."),
        (FAILING.format(body="return [[1, 2]] * 2"), "something other than 2 rows of 3 finite numbers."),
        (FAILING.format(body="return [[1, 2, float('nan')]] * 2"), "something other than 2 rows"),
        (FAILING.format(body="return [[1, 2, 1e9]] * 2"), "something other than 2 rows"),
        (ANIMALS.replace('"1", 3)', '"1", "3")'), "has no usable model."),
        (ANIMALS.replace('Model("animals", "1", 3)', "None"), "has no usable model."),
        (ANIMALS.replace("model =", "other ="), "failed: AttributeError"),
    ],
)
def test_one_that_fails_is_told_once_and_agentplanes_own_one_is_used(
    plane: Plane, installed: Installed, code: str, said: str
) -> None:
    own = near(plane, "Stop the hooting at night")
    installed.use(EMBEDDERS, "acme", code)
    assert near(plane, "Stop the hooting at night") == own
    assert embedder.in_use() is vectors.own()
    (error,) = extensions.reported()
    assert said in error.what
    assert error.where == "AGENTPLANE_EMBEDDER=acme"
    assert "Fix the extension, or unset AGENTPLANE_EMBEDDER" in str(error.todo)


@pytest.mark.parametrize("word", ["hooting", "Rule 7 "])
def test_one_that_fails_later_is_not_mixed_in(plane: Plane, installed: Installed, word: str) -> None:
    """It embeds some texts, and fails for the question or for a text of the index."""
    own = near(plane, "Stop the hooting at night")
    cache.clear(plane.layout)
    body = f"assert not any({word!r} in text for text in texts), 'too hard'"
    installed.use(EMBEDDERS, "acme", FAILING.format(body=body))
    assert near(plane, "Stop the hooting at night") == own
    (error,) = extensions.reported()
    assert error.what.endswith("failed: AssertionError: too hard.")
    installed.choose(EMBEDDERS, "")
    assert near(plane, "Stop the hooting at night") == own


def test_the_chosen_store_has_the_vectors(plane: Plane, installed: Installed) -> None:
    own = near(plane, "Stop the hooting at night")
    module = installed.use(VECTOR_STORES, "acme", STORE)
    (plane.layout.cache / "index-shelf").unlink()
    assert near(plane, "Stop the hooting at night") == own
    store = __import__(module).extension
    assert len(store.kept) == 101
    assert store.asked == [None]
    (name,) = set(saved(plane)) - {"vectors"}
    assert cached.load(plane.layout, name) == b"saved 100"  # the question comes later

    made = Vectors(open_store=kept(plane)._open)
    assert np.array_equal(made.of([shelf()[0].statement]), Vectors().of([shelf()[0].statement]))
    assert extensions.reported() == []


def test_each_model_has_its_own_place_in_a_store(plane: Plane, installed: Installed) -> None:
    module = installed.use(VECTOR_STORES, "acme", STORE)
    names = {embeddings._file_of(Model("a", "1", 2)), embeddings._file_of(Model("a", "2", 2))}
    installed.choose(VECTOR_STORES, "")
    names |= {embeddings._file_of(Model("a", "1", 2))}
    assert len(names) == 3
    assert module


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "def __init__(self, place):",
            "def __init__(self, place):\n        raise OSError('no')",
            "OSError: no.",
        ),
        ("return {key: self.kept[key]", "return 3\n        return {key: self.kept[key]", "TypeError"),
        ("self.kept.update(vectors)", "raise OSError('full')", "OSError: full."),
        (
            "return {key: self.kept[key] for key in keys if key in self.kept}",
            "return {key: [1.0] for key in keys}",
            "returned something other than its vectors.",
        ),
        (
            "return {key: self.kept[key] for key in keys if key in self.kept}",
            "import numpy as np; return {key: np.full(256, np.nan, dtype=np.float16) for key in keys}",
            "returned something other than its vectors.",
        ),
    ],
)
def test_a_store_that_fails_is_told_and_the_vectors_are_computed(
    plane: Plane, installed: Installed, old: str, new: str, said: str
) -> None:
    own = near(plane, "Stop the hooting at night")
    cache.clear(plane.layout)
    assert old in STORE
    installed.use(VECTOR_STORES, "acme", STORE.replace(old, new))
    assert near(plane, "Stop the hooting at night") == own
    (error,) = extensions.reported()
    assert said in error.what


def test_agentplanes_own_ones_have_the_same_interface() -> None:
    own: embedder.Embedder = vectors.own()
    assert own.model.is_quick
    assert Path(own.model.version).name
    if vectors.available() is None:
        assert np.asarray(own.embed(["a", ""])).shape == (2, own.model.width)
