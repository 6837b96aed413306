from agentplane.match.fuzzy import alike, prepared


def test_order_case_and_marks_do_not_count() -> None:
    assert alike(prepared(["Cache pages, in Varnish!"]), prepared(["varnish: in pages cache"])) == 1


def test_a_slip_costs_little() -> None:
    [[slip, other]] = alike(prepared(["custom clements"]), prepared(["custom elements", "row locks"]))
    assert slip > 0.9
    assert other < 0.5


def test_nothing_to_compare() -> None:
    assert alike([], ["a"]).shape == (0, 1)
    assert alike(["a"], []).shape == (1, 0)
