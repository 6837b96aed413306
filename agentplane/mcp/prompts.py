"""The resource addresses, and the prompt that asks for proposals."""

from agentplane.text.visible import one_line


PACK = "agentplane://pack"
RUNS = "agentplane://runs"
ENTRY = "agentplane://entry/"
RUN = "agentplane://run/"
MARKDOWN, JSON = "text/markdown", "application/json"

PROMPT = "propose-memories"
PROMPT_ABOUT = "Look back on this session and propose what is worth keeping."


def prompt(task: str | None) -> str:
    about = f" on the task “{one_line(task, 200)}”" if task else ""
    return (
        f"Look back on the work of this session{about}. What should another session know?\n\n"
        "1. Think of decisions and why they were made, rules that always apply, assumptions that were not proven, facts "
        "that cost effort to find out. Leave out progress, plans, what the code says itself, and secrets.\n"
        "2. `recall` each one first. Skip anything that is already there.\n"
        "3. `propose` each of the rest: one sentence that stays true, the reason as `rationale`, and `evidence` "
        "(path:line, commit, URL). If the answer names a conflict, propose the same statement again with `relation`.\n"
        "4. `record` a summary of the session and the next steps.\n\n"
        "A person reviews what you propose. Three lasting entries are better than ten doubtful ones."
    )
