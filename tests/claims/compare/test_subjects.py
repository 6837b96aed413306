from hypothesis import given
from hypothesis import strategies as st

from agentplane.claims.compare.subjects import same_word, same_words


_BEGINS = ("sign", "signed", "sensit", "cache", "encrypt", "a", "")
_WORDS = st.lists(
    st.builds(
        str.__add__, st.sampled_from(_BEGINS), st.sampled_from(("", "s", "ed", "ive", "ature", "atures"))
    )
    | st.sampled_from(("insensitive", "unsigned", "colour", "color", "initialise", "initialize")),
    max_size=8,
)


def test_forms_and_spellings_of_a_word_are_the_same_word() -> None:
    ones, others = ["signature", "initialise", "cat"], ["signatures", "initialize", "cats", "sensitive"]
    assert same_words(ones, others) == {(0, 0), (1, 1)}


@given(_WORDS, _WORDS)
def test_many_pairs_at_once_are_the_same_as_one_by_one(ones: list[str], others: list[str]) -> None:
    one_by_one = {
        (row, column)
        for row, one in enumerate(ones)
        for column, other in enumerate(others)
        if same_word(one, other)
    }
    assert same_words(ones, others) == one_by_one
