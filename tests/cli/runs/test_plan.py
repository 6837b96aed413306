"""run --plan: the plan by path and hash, and its layer, scale and impact; timeline by layer and scale."""

import hashlib
import json
from pathlib import Path

import pytest

from agentplane.api import Plane
from agentplane.errors import BadInput
from agentplane.runs import rubric
from tests.cli.conftest import Cli
from tests.cli.runs.test_run import context, runs
from tests.e2e.terminal import typed


RATED = ("--layer", "L5", "--scale", "4", "--impact", "Sessions know the schema.")


@pytest.fixture
def plan(project: Path) -> Path:
    path = project / "docs" / "memory.plan.md"
    path.parent.mkdir()
    path.write_text("# Memory layer\n\n1. Define the schema.\n")
    return path


def events(cli: Cli, *words: str) -> list[dict]:
    found = cli("timeline", "--json", *words).json("timeline")["events"]
    return [row for row in found if row["kind"] == "run"]


def test_a_plan_is_an_input_by_path_and_hash(plane: Plane, cli: Cli, plan: Path) -> None:
    assert cli("run", "--plan", "docs/memory.plan.md", *RATED, "--", "true").code == 0
    (event,) = runs(plane)
    data = plan.read_bytes()
    sha256 = hashlib.sha256(data).hexdigest()
    assert event["inputs"] == [{"plan": "docs/memory.plan.md", "sha256": sha256, "size": len(data)}]
    assert (event["layer"], event["systemic_scale"]) == ("L5", 4)
    assert event["impact"] == "Sessions know the schema."
    assert context(plane)["plan"] == data.decode()
    (row,) = events(cli)
    assert (row["layer"], row["systemic_scale"], row["impact"]) == ("L5", 4, "Sessions know the schema.")


@pytest.mark.parametrize("left_out", ["--layer", "--scale", "--impact"])
def test_without_a_terminal_what_is_missing_is_named(
    plane: Plane, cli: Cli, plan: Path, left_out: str
) -> None:
    place = RATED.index(left_out)
    words = (*RATED[:place], *RATED[place + 2 :])
    error = cli("run", "--plan", str(plan), *words, "--", "true").refused(2, f"requires {left_out}. ")
    assert "docs/memory.plan.md" in error
    assert runs(plane) == []


def test_all_that_is_missing_is_named_at_once(plane: Plane, cli: Cli, plan: Path) -> None:
    cli("run", "--plan", str(plan), "--", "true").refused(2, "--layer, --scale and --impact")


def test_a_terminal_asks_until_the_answer_fits(plane: Plane, project: Path, plan: Path) -> None:
    seen = typed(
        ["run", "--plan", "docs/memory.plan.md", "--", "echo", "went on"],
        project,
        ("Layer", "L9\n"),
        ("Invalid layer", "l5\n"),
        ("Systemic scale", "11\n"),
        ("Invalid systemic scale", "4\n"),
        ("Impact", "Sessions know the schema.\n"),
        columns=120,
    )
    assert seen.code == 0
    assert "went on" in seen.screen
    for layer, meaning in rubric.LAYERS.items():
        assert f"{layer}  {meaning}" in seen.screen
    (event,) = runs(plane)
    assert (event["layer"], event["systemic_scale"]) == ("L5", 4)
    assert event["impact"] == "Sessions know the schema."


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p.json", json.dumps({"layer": "l5", "systemic_scale": 4, "impact": "Good.", "steps": []})),
        ("p.md", "---\nlayer: L5\nscale: 4\nimpact: Good.\n---\n# Plan\n"),
        ("p.plan.json", json.dumps({"layer": 5, "systemic_scale": 4.0, "impact": " Good.\n"})),
    ],
)
def test_a_plan_can_say_it_itself(plane: Plane, cli: Cli, project: Path, name: str, text: str) -> None:
    (project / name).write_text(text)
    assert cli("run", "--plan", name, "--", "true").code == 0
    (event,) = runs(plane)
    assert (event["layer"], event["systemic_scale"], event["impact"]) == ("L5", 4, "Good.")


def test_an_option_counts_more_than_the_plan(plane: Plane, cli: Cli, project: Path) -> None:
    (project / "p.json").write_text(json.dumps({"layer": "L1", "systemic_scale": 9, "impact": "Much."}))
    assert cli("run", "--plan", "@p.json", "--layer", "L2", "--", "true").code == 0
    (event,) = runs(plane)
    assert (event["layer"], event["systemic_scale"], event["impact"]) == ("L2", 9, "Much.")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--layer", "L7"), "--layer: Invalid layer: 'L7'"),
        (("--scale", "11"), "--scale: Invalid systemic scale: '11'"),
        (("--scale", "2.5"), "Use a whole number from 1 to 10."),
        (("--impact", " "), "--impact: Invalid impact: the text is empty"),
        (("--impact", "x" * 201), "the text has 201 characters"),
        (("--plan", "no/such.md"), "no/such.md: Plan file not found"),
        (("--plan", "@nothing"), "nothing: "),
        (("--plan", "."), "The plan is not a file"),
    ],
)
def test_what_does_not_fit_is_refused(plane: Plane, cli: Cli, words: tuple[str, ...], said: str) -> None:
    cli("run", *words, "--", "true").refused(2, said)
    assert runs(plane) == []


def test_a_bad_value_in_a_plan_is_named_with_the_file(plane: Plane, cli: Cli, project: Path) -> None:
    (project / "p.json").write_text(json.dumps({"layer": "L9"}))
    cli("run", "--plan", "p.json", "--", "true").refused(2, "p.json: Invalid layer: 'L9'")


def test_options_also_count_more_than_what_does_not_fit_in_the_plan(
    plane: Plane, cli: Cli, project: Path
) -> None:
    (project / "p.json").write_text(json.dumps({"layer": "backend", "scale": "big", "impact": {"users": 3}}))
    cli("run", "--plan", "p.json", *RATED[:4], "--", "true").refused(2, "p.json: Invalid impact")
    assert cli("run", "--plan", "p.json", *RATED, "--", "true").code == 0
    (event,) = runs(plane)
    assert (event["layer"], event["systemic_scale"], event["impact"]) == (
        "L5",
        4,
        "Sessions know the schema.",
    )


def test_a_plan_outside_of_the_project_is_named_without_its_folder(
    plane: Plane, cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / "mine.md").write_text("# Mine\n")
    assert cli("run", "--plan", str(tmp_path / "mine.md"), *RATED, "--", "true").code == 0
    assert runs(plane)[0]["inputs"][0]["plan"] == "…/mine.md"


def test_a_secret_in_the_impact_is_masked(plane: Plane, cli: Cli, plan: Path) -> None:
    from tests.runs.made import TOKEN

    words = ("--layer", "L5", "--scale", "4", "--impact", f"Uses {TOKEN}")
    assert cli("run", "--plan", str(plan), *words, "--", "true").code == 0
    assert TOKEN not in plane.layout.log.read_text()


# The timeline


@pytest.fixture
def rated(plane: Plane) -> dict[str, str]:
    """Runs by their summary, in the order of their events."""
    given = (("a", "L5", 4), ("b", "L4", 7), ("c", "L5", 3), ("d", None, None), ("e", "L0", 7))
    return {
        name: plane.write_log(
            {"summary": name, **({"layer": layer, "systemic_scale": scale} if layer else {})}
        )
        for name, layer, scale in given
    }


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (("--layer", "L5"), "ca"),
        (("--layer", "l4,L0"), "eb"),
        (("--layer", "5, ,4"), "cba"),
        (("--scale", "3..5"), "ca"),
        (("--scale", "5..3"), "ca"),
        (("--scale", ">=4"), "eba"),
        (("--scale", ">4"), "eb"),
        (("--scale", "<4"), "c"),
        (("--scale", "<=4"), "ca"),
        (("--scale", "7"), "eb"),
        (("--layer", "L5", "--scale", "4"), "a"),
        (("--sort", "scale"), "ebacd"),
        (("--sort", "layer"), "ebcad"),
        (("--sort", "time"), "edcba"),
        (("--sort", "scale", "--limit", "2"), "eb"),
        (("--layer", "L6"), ""),
    ],
)
def test_the_timeline_by_layer_and_scale(
    rated: dict[str, str], cli: Cli, words: tuple[str, ...], wanted: str
) -> None:
    assert "".join(row["summary"] for row in events(cli, *words)) == wanted


def test_both_are_in_the_text(rated: dict[str, str], cli: Cli) -> None:
    lines = {line.split()[-1]: line for line in cli("timeline", "--limit", "5").out.splitlines()}
    assert "L5 · 4" in lines["a"]
    assert "L" not in lines["d"].replace(rated["d"], "").replace("T", "").replace("Z", "")


@pytest.mark.parametrize("bad", ["x", "", "3..", "..5", ">=", "-1", "=>4"])
def test_a_scale_that_is_none_is_refused(plane: Plane, cli: Cli, bad: str) -> None:
    cli("timeline", "--scale", bad).refused(2, "Invalid scale", "3..5")


@pytest.mark.parametrize("bad", ["", " ", ","])
def test_a_filter_by_no_layer_is_refused(rated: dict[str, str], cli: Cli, bad: str) -> None:
    cli("timeline", "--layer", bad).refused(2, "--layer: A layer is required")


def test_a_filter_without_a_hit_names_its_options(plane: Plane, cli: Cli) -> None:
    assert (
        cli("timeline", "--layer", "L6", "--scale", "2").err
        == "No runs or changes match --layer and --scale.\n"
    )


def test_a_rating_is_checked_where_it_is_made() -> None:
    assert [rubric.layer(given, "x") for given in ("L0", "l6", "3", 4)] == ["L0", "L6", "L3", "L4"]
    for bad in ("L", "L10", "7", "", None):
        with pytest.raises(BadInput):
            rubric.layer(bad, "x")
