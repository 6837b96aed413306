from agentplane.match.mentions import Names


NAMES = Names(
    ["Use one queue for mail", "Log format", "Use one queue for mail"], [["DEC-004"], ["DEC-014", ""], []]
)


def found(text: str) -> list[int]:
    return NAMES.found([text])[0].astype(int).tolist()


def test_an_id_is_found_in_any_spelling() -> None:
    assert found("This replaces dec 4.") == [1, 0, 0]
    assert found("see DEC-014, please") == [0, 1, 0]
    assert found("DEC-0140 and XDEC-014 are others") == [0, 0, 0]


def test_a_whole_title_is_found_in_every_text_that_has_it() -> None:
    assert found("As said in *Use one queue for mail*, …") == [1, 0, 1]


def test_a_short_title_is_no_name() -> None:
    assert found("The log format is JSON.") == [0, 0, 0]


def test_one_row_for_each_text() -> None:
    assert NAMES.found(["DEC-014", "", "DEC-004"]).tolist() == [[0, 1, 0], [0, 0, 0], [1, 0, 0]]
    assert Names([], []).found(["a"]).shape == (1, 0)
