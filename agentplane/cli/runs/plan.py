"""The rating of a plan, from options or from a person's answers."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

from agentplane.cli import output
from agentplane.errors import BadInput
from agentplane.runs import plan as plans
from agentplane.runs import rubric
from agentplane.runs.plan import Plan
from agentplane.runs.rubric import Rating


_Check = Callable[[object, str], object]


def given(plan: str | None, project: Path) -> Plan | None:
    return None if plan is None else plans.read(plan, Path(os.getcwd()), project)


def rating(plan: Plan | None, layer: str | None, scale: str | None, impact: str | None) -> Rating:
    """Return the rating of a run from the options, the plan and a person's answers, in this order."""
    options = Rating(
        rubric.layer(layer, "--layer") if layer is not None else None,
        rubric.scale(scale, "--scale") if scale is not None else None,
        rubric.impact(impact, "--impact") if impact is not None else None,
    )
    known = plans.rating(plan, options)
    if plan is None or not plan.is_file:
        return known
    values = {"--layer": known.layer, "--scale": known.systemic_scale, "--impact": known.impact}
    missing = [option for option, value in values.items() if value is None]
    if not missing:
        return known
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise BadInput(
            f"A plan requires {_listed(missing)}. agentplane can't ask for the values, because stdin isn't a terminal.",
            where=plan.path,
            todo=f"Pass {_listed(missing)}, or add the values to the plan. docs/guides/runs.md explains them.",
        )
    return Rating(
        known.layer or str(_ask("Layer", rubric.LAYERS, rubric.layer)),
        known.systemic_scale
        or int(
            str(_ask("Systemic scale (how far the change reaches), 1 to 10", rubric.SCALES, rubric.scale))
        ),
        known.impact or str(_ask("Impact (what gets better, and for whom)", {}, rubric.impact)),
    )


def _ask(question: str, choices: dict[str, str], check: _Check) -> object:
    """Ask until the answer is valid."""
    for name, meaning in choices.items():
        output.note(f"  {name:>2}  {meaning}")
    while True:
        try:
            return check(output.answered(question), question)
        except BadInput as error:
            output.note(f"{error.what} {error.todo}")


def _listed(options: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(options[:-1]), options[-1])))
