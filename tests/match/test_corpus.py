import random
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from rapidfuzz import fuzz, process

from agentplane.match import corpus as room
from agentplane.match.corpus import Corpus, Ranked, Text
from tests.bench import near
from tests.bench.planes import statement
from tests.bench.timing import best


TEXTS = [
    Text("Use Textual for the terminal interface"),
    Text("Keep sessions in Redis for 30 minutes"),
    Text("Deploy each Friday by hand"),
    Text("Cache pages in Varnish"),
    Text("Write prose in British English"),
    Text("Store invoices as PDF for ten years"),
]
QUERY = Text("Build the terminal interface with urwid")


def nearest(query: Text, corpus: Corpus, limit: int = 10) -> list[int]:
    return ranked(query, corpus, limit).places


def ranked(query: Text, corpus: Corpus, limit: int = 10) -> Ranked:
    return next(corpus.ranked_each([query], limit))


def scores(query: Text, corpus: Corpus) -> list[float]:
    found: list[float] = near.scores(corpus, [query])[0].tolist()
    return found


def signals(query: Text, corpus: Corpus) -> dict[str, list[float]]:
    return {name: rows[0].tolist() for name, rows in near.signals(corpus, [query]).items()}


@pytest.fixture(params=["with embeddings", "without"])
def corpus(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Corpus:
    if request.param == "without":
        monkeypatch.setattr("agentplane.match.vectors.available", lambda: "embeddings are off")
    return Corpus(TEXTS)


def test_the_nearest_comes_first(corpus: Corpus) -> None:
    first, *others = (scores(QUERY, corpus)[place] for place in nearest(QUERY, corpus))
    assert nearest(QUERY, corpus)[0] == 0
    assert first > 2 * max(others)
    assert others == sorted(others, reverse=True)


def test_scores_are_between_0_and_1_and_made_of_signals(corpus: Corpus) -> None:
    assert all(0 <= score <= 1 for score in scores(QUERY, corpus))
    names = signals(QUERY, corpus).keys()
    assert {"title", "words", "bm25", "spelling", "words_apart"} <= names
    assert ("meaning" in names) == (corpus.missing is None)


def test_the_same_text_is_nearest_of_all(corpus: Corpus) -> None:
    for row, text in enumerate(TEXTS):
        assert nearest(text, corpus, 1) == [row]
        assert scores(text, corpus)[row] > 0.8


def many(count: int, seed: int = 5) -> list[Text]:
    dice = random.Random(seed)
    return [Text(statement(dice)) for _ in range(count)]


def test_texts_that_come_later_move_no_others(corpus: Corpus) -> None:
    texts = list(dict.fromkeys(many(150)))
    begun = Corpus(texts[:120])
    begun.missing = corpus.missing
    grown = begun.extended(texts[120:130]).extended(texts[130:])
    assert [text.title for text in grown.texts] == [text.title for text in texts]
    assert grown.built_of == begun.built_of
    among = np.arange(120)
    assert list(begun.ranked_each(texts, 24)) == list(grown.ranked_each(texts, 24, among))
    again = Corpus.from_bytes(texts, grown.to_bytes(), first=grown.first)
    assert again.is_restored
    assert list(again.ranked_each(texts, 24)) == list(grown.ranked_each(texts, 24))


def test_it_is_told_whose_nearest_a_new_text_would_be_among(corpus: Corpus) -> None:
    texts = list(dict.fromkeys(many(150)))
    grown = Corpus(texts[:140])
    grown.missing = corpus.missing
    grown = grown.extended(texts[140:])
    without = list(grown.ranked_each(texts, 12, np.arange(140)))
    new = list(range(140, len(texts)))
    told = set(grown.would_be_among(texts, without, new).tolist())
    ranked = enumerate(grown.ranked_each(texts, 12))
    among = {row for row, one in ranked if not set(new).isdisjoint(one.places)}
    assert among <= told
    assert len(told) < len(among) + 0.1 * len(texts)
    assert len(among) < len(texts)


def test_the_same_text_is_near_in_a_corpus_of_one() -> None:
    alone = Corpus([TEXTS[0]])
    assert scores(TEXTS[0], alone)[0] > 0.8
    assert scores(TEXTS[5], alone)[0] < 0.3


def test_equals_keep_the_order_of_the_corpus() -> None:
    twice = Corpus([TEXTS[2], TEXTS[0], TEXTS[3], TEXTS[0], TEXTS[1], TEXTS[0]])
    assert nearest(QUERY, twice, 3) == [1, 3, 5]


def test_limits(corpus: Corpus) -> None:
    assert len(nearest(QUERY, corpus, 2)) == 2
    assert len(nearest(QUERY, corpus, 100)) == len(TEXTS)
    assert nearest(QUERY, corpus, 0) == []


def test_what_was_built_is_built_once(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    data, expected = corpus.to_bytes(), ranked(QUERY, corpus)
    monkeypatch.setattr(room.Index, "__init__", lambda *_: pytest.fail("built again"))
    assert ranked(QUERY, Corpus.from_bytes(TEXTS, data)) == expected


def test_what_was_built_of_other_texts_or_is_not_whole_is_built_anew(corpus: Corpus) -> None:
    data = corpus.to_bytes()
    other = [*TEXTS[:-1], Text("Something else")]
    assert ranked(QUERY, Corpus.from_bytes(other, data)) == ranked(QUERY, Corpus(other))
    expected = ranked(QUERY, corpus)
    flipped = data[:300] + bytes([data[300] ^ 1]) + data[301:]
    for damaged in (None, b"", b"nonsense", data[:-1], data + b"x", flipped):
        assert ranked(QUERY, Corpus.from_bytes(TEXTS, damaged)) == expected


def test_what_was_built_with_embeddings_is_not_used_without(monkeypatch: pytest.MonkeyPatch) -> None:
    data = Corpus(TEXTS).to_bytes()
    monkeypatch.setattr("agentplane.match.vectors.available", lambda: "embeddings are off")
    assert ranked(QUERY, Corpus.from_bytes(TEXTS, data)) == ranked(QUERY, Corpus(TEXTS))


def test_nothing_to_compare() -> None:
    assert nearest(QUERY, Corpus([])) == []
    assert [*Corpus(TEXTS).ranked_each([], 10)] == []
    assert near.scores(Corpus([]), [QUERY]).shape == (1, 0)
    assert near.scores(Corpus.from_bytes([], Corpus([]).to_bytes()), [QUERY]).shape == (1, 0)
    assert np.isfinite(scores(Text(""), Corpus([Text(""), TEXTS[0]]))).all()


def test_many_at_once_give_what_each_gives_alone(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    queries = [QUERY, *TEXTS]
    alone = [ranked(query, corpus, 4) for query in queries]
    assert [*corpus.ranked_each(queries, 4)] == alone
    monkeypatch.setattr(room, "_CELLS", 2 * len(TEXTS))
    assert [*Corpus(TEXTS).ranked_each(queries, 4)] == alone


def test_hostile_texts_are_compared_like_others(corpus: Corpus) -> None:
    odd = [
        Text("\ud800 half"),
        Text("\0"),
        Text("\u202e" * 99 + "x" * 99_999),
        Text("a" * 9 + "\n" * 999),
    ]
    built = Corpus([*odd, *TEXTS])
    assert nearest(QUERY, Corpus.from_bytes(built.texts, built.to_bytes()))[0] == len(odd)
    for text in odd:
        assert all(0 <= score <= 1 for score in scores(text, built))


def test_one_query_costs_less_than_three_times_spelling_alone() -> None:
    """When it was measured it cost a quarter of it."""
    said = " ".join(text.title for text in TEXTS)
    many = [Text(f"{text.title} {row} {row * 7919} {said}") for row in range(500) for text in TEXTS]
    built, whole = Corpus(many), [text.whole for text in many]
    query = Text(f"{QUERY.title} {' '.join(reversed(said.split()))}")
    nearest(query, built)
    fresh = iter(range(100))
    alone = best(lambda: process.cdist([query.whole], whole, scorer=fuzz.token_set_ratio))
    assert best(lambda: nearest(Text(f"{query.title} {next(fresh)}"), built)) < 3 * alone


def test_asking_much_takes_no_more_memory_than_asking_a_part_of_it() -> None:
    """The whole matrix of a signal would have 4 million cells here, 17 MB for each of some twenty arrays."""
    dice = random.Random(4)
    words = ["".join(dice.choices("abcdefghij", k=5)) for _ in range(2000)]
    texts = [Text(" ".join(dice.choices(words, k=8))) for _ in range(3000)]
    corpus = Corpus(texts)
    nearest(texts[0], corpus, 24)
    tracemalloc.start()
    try:
        found = [*corpus.ranked_each(texts[:1400], 24)]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [one.places[0] for one in found] == list(range(1400))
    assert peak < 200e6


def test_a_second_process_finds_the_same() -> None:
    code = (
        "from tests.match.test_corpus import *\n"
        "print(ranked(QUERY, Corpus(TEXTS)), signals(QUERY, Corpus(TEXTS)))"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2")
    }
    here = f"{ranked(QUERY, Corpus(TEXTS))} {signals(QUERY, Corpus(TEXTS))}"
    assert told == {here + "\n"}


def test_without_the_package_everything_works_and_one_line_says_so() -> None:
    code = (
        "import sys; sys.modules['wordllama'] = None\n"
        "from tests.match.test_corpus import *\n"
        "corpus = Corpus(TEXTS); print(corpus.missing); print(nearest(QUERY, corpus, 1)[0])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    said, found = done.stdout.splitlines()
    assert "wordllama is not installed" in said
    assert found == "0"


@pytest.mark.parametrize("limit", [1, 5, 40])
def test_leaving_out_what_cannot_be_among_the_nearest_changes_nothing(limit: int) -> None:
    """Spelling is looked at for a part of the texts; the answer is that of looking at all."""
    dice = random.Random(7)
    words = [f"word{number}" for number in range(60)]
    texts = [Text(" ".join(dice.choices(words, k=dice.randint(1, 9)))) for _ in range(900)]
    corpus = Corpus(texts)
    queries = [Text(" ".join(dice.choices(words, k=4))) for _ in range(25)] + texts[:5]
    every = near.scores(corpus, queries)
    for row, found in enumerate(corpus.ranked_each(queries, limit)):
        assert found.places == np.argsort(-every[row], kind="stable")[:limit].tolist()
