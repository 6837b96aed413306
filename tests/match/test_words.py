from agentplane.match import words


def test_endings_case_and_words_without_meaning_do_not_count() -> None:
    assert words.listed("The Caches are used for caching") == words.listed("cache caching")


def test_names_of_code_count_whole_and_in_parts() -> None:
    assert set(words.listed("readFile")) >= {"readfil", "read", "fil"}
    assert set(words.listed("max_open_files")) == {"max", "open", "fil"}


def test_numbers_and_other_scripts_are_words() -> None:
    assert words.listed("30 s") == ["30", "s"]
    assert words.listed("Öl кэша") == ["öl", "кэша"]
    assert words.listed("GRÖSSE") == words.listed("Größe")


def test_counts() -> None:
    assert words.counted("cache the cache") == {"cach": 2}


def test_a_run_without_end_is_no_word() -> None:
    assert words.listed("x" * 10_000) == []
