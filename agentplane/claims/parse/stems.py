"""Words without their endings, reduced to one word for each meaning."""

from functools import lru_cache

from agentplane.claims.parse import vocabulary as words


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """Return the word without its endings, or the word that represents all its synonyms."""
    found = words.SYNONYMS.get(word)
    if found is not None:
        return found
    irregular = words.IRREGULAR.get(word)
    if irregular is not None:
        return words.SYNONYMS.get(irregular, irregular)
    cut = _cut(word.removesuffix("'s").removesuffix("'"))
    if cut.endswith(("er", "or")) and len(cut) >= 6:
        doer = _cut(f"{cut[:-2]}ing")
        if doer in _DONE:
            cut = doer
    return _STEMMED_SYNONYMS.get(cut, cut)


def _cut(word: str) -> str:
    if len(word) <= 3:
        return word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith(("sses", "shes", "ches", "xes", "zes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending, least in (
        ("ally", 5),
        ("ly", 4),
        ("ation", 4),
        ("ing", 3),
        ("ed", 3),
        ("ion", 4),
        ("ment", 4),
    ):
        if word.endswith(ending) and len(word) - len(ending) >= least:
            word = word[: -len(ending)]
            if ending == "ation":
                word += "at"
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsze":
                word = word[:-1]
            break
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


_STEMMED_SYNONYMS = {
    _cut(written): stands for written, stands in words.SYNONYMS.items() if " " not in written
}

# Stems of actions. The agent noun has the same stem as its action: a logger logs.
_DONE = frozenset(_cut(word) for word in words.ACTIONS) | {
    _cut(word) for word in words.SYNONYMS if word.endswith(("ing", "ed"))
}

LIGHT = frozenset(stem(word) for word in words.LIGHT) | {_cut(word) for word in words.LIGHT} | words.LIGHT


@lru_cache(maxsize=50_000)
def bare(word: str) -> str:
    return words.IRREGULAR.get(word) or _cut(word)


def inflected(word: str) -> bool:
    return word in words.IRREGULAR or word.endswith(("s", "ed", "ing"))


POLES = {bare(word): pole for word, pole in words.POLES.items() if " " not in word and len(word) > 3}
ACTIONS = frozenset(stem(word) for word in words.ACTIONS)

CONTEXTS = {stem(word): line for word, line in words.CONTEXTS.items()}
