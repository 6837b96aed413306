"""The resource addresses, and the prompt that asks for proposals."""

from agentplane.text.visible import one_line


PACK = "agentplane://pack"
RUNS = "agentplane://runs"
ENTRY = "agentplane://entry/"
RUN = "agentplane://run/"
MARKDOWN, JSON = "text/markdown", "application/json"

PROMPT = "propose-memories"
PROMPT_ABOUT = "Look back on this session and propose anything that is worth remembering."


def prompt(task: str | None) -> str:
    about = f" on the task “{one_line(task, 200)}”" if task else ""
    return (
        f"Look back on the work of this session{about}. What should another session know?\n\n"
        "1. Look for decisions and their reasons, rules that always apply, unproven assumptions, and facts that took "
        "effort to find out. Leave out progress, plans, secrets and anything that the code already shows.\n"
        "2. Search for each one with `recall` first. Skip anything that the memory already contains.\n"
        "3. Propose the remaining ones with `propose`. Give one sentence that will stay true, the reason as `rationale`, "
        "and `evidence` (path:line, commit or URL). If the result lists a conflict, propose the same statement again "
        "with `relation`.\n"
        "4. Save a summary of the session and the next steps with `record`.\n\n"
        "A person reviews what you propose. Three lasting entries are better than ten doubtful ones."
    )
