import importlib.util
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from agentplane.match import vectors
from agentplane.match.subwords import Pieces
from agentplane.match.vectors import Static


needs_wordllama = pytest.mark.skipif(vectors.available() is not None, reason="wordllama is not installed")


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@needs_wordllama
def test_near_meanings_are_near() -> None:
    puppy, dog, tax = unit(Static().embed(["a puppy barks", "the dog howls", "quarterly tax report"]))
    assert puppy @ dog > puppy @ tax + 0.2


@needs_wordllama
def test_a_text_has_one_vector_whatever_stands_beside_it() -> None:
    alone = Static().embed(["use a queue"])
    among = Static().embed(["something that is much longer than the text in question", "use a queue", ""])
    assert np.array_equal(alone[0], among[1])
    assert not among[2].any()


@needs_wordllama
def test_odd_texts_have_vectors() -> None:
    rows = Static().embed(["\ud800 half a pair", "\0", "x" * 100_000, "日本語"])
    assert rows.shape == (4, vectors.WIDTH)
    assert np.isfinite(rows).all()


def test_importing_loads_nothing_heavy() -> None:
    code = "import agentplane.match.corpus, sys; sys.exit('wordllama' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_a_package_that_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors._model.cache_clear()

    def broken(_file: Path) -> None:
        raise OSError("weights")

    monkeypatch.setattr("agentplane.match.vectors.Pieces", broken)
    said = vectors.available()
    monkeypatch.undo()
    assert said is not None
    assert "wordllama" in said
    assert "\n" not in said


ODD = (
    *(
        "",
        " ",
        "a  b",
        "      six",
        "\u2581a \u2581\u2581b",
        "<s>x</s> y",
        "<unk>",
        "a\tb\n\n    c",
        "x" * 500,
        "\0",
    ),
    *(
        "na\u00efve caf\u00e9",
        "\u65e5\u672c\u8a9e \u306e",
        "\U0001f642\U0001f642 ok",
        "aaaabaaab",
        "0001234567",
        "===---== --",
    ),
)


def made_up(count: int) -> list[str]:
    dice = random.Random(1)
    letters = "aabbcdeinorst  \n<>0x=-.\u00e9\u65e5\u2581"
    return ["".join(dice.choices(letters, k=dice.randint(1, 60))) for _ in range(count)]


@needs_wordllama
def test_read_out_of_the_wheel_it_is_what_the_package_loads() -> None:
    vectors._model.cache_clear()
    tokenizer, rows = vectors._model()
    spec = importlib.util.find_spec("wordllama")
    assert spec is not None
    assert spec.origin is not None
    theirs, their_rows = vectors._loaded_by_package(Path(spec.origin).parent)
    assert isinstance(tokenizer, Pieces)
    for text in (*ODD, *made_up(2_000)):
        assert tokenizer.ids(text) == theirs.ids(text), ascii(text)
    ids = range(len(their_rows))
    assert len(rows) == len(their_rows)
    assert np.array_equal(rows.of(ids), their_rows.of([*ids]))


@needs_wordllama
def test_the_package_is_not_imported_and_logging_stays_as_it_was() -> None:
    code = (
        "import logging, sys; from agentplane.match.vectors import own; own().embed(['a']);"
        "sys.exit('wordllama' in sys.modules or bool(logging.getLogger().handlers))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
