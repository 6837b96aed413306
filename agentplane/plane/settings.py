"""The settings in config.toml. Every key has a default.

Unknown keys and wrong types are errors that name their line.
"""

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec


def says(what: str, page: str, more: str = "") -> msgspec.Meta:
    """Return the description of a setting, which is part of its type.

    `what` is one sentence, and `more` the rest. Both are Markdown. `page` is the page of docs/ that explains
    the setting, with an anchor. The settings screen and docs/reference/settings.md show them.
    """
    return msgspec.Meta(description=what, extra={"page": page, "more": more})


class Trust(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    hand_edits: Annotated[
        Literal["review", "accept"],
        says(
            "How agentplane handles manual edits.",
            "guides/manual-edits.md#accept-all-edits-automatically",
            '`"review"`: a manual edit takes effect when a person accepts it. `"accept"`: a manual edit takes effect'
            " immediately. Use this value only if you work alone. The next change to the memory records the edit as"
            " an `adopt` operation with the channel `policy`.",
        ),
    ] = "review"
    tools_may_approve: Annotated[
        bool,
        says(
            "Allow approvals and other decisions from a coding tool's shell, or without a terminal.",
            "concepts/safety.md#only-people-approve",
        ),
    ] = False
    require_signatures: Annotated[
        bool,
        says(
            "Require a signature for every decision.",
            "guides/pull-requests.md#signed-approvals",
            "Only people with a signing key can then make decisions. `check` and `doctor` report unsigned decisions. You"
            ' can\'t combine this setting with `hand_edits = "accept"` or `auto_approve_confidence`.',
        ),
    ] = False
    allowed_signers: Annotated[
        tuple[str, ...],
        says(
            "People who may sign decisions. Each item is a line in the format of OpenSSH's `allowed_signers` file.",
            "guides/pull-requests.md#turn-it-on",
            'For example, `"ada@example.org ssh-ed25519 AAAA…"`.',
        ),
    ] = ()
    signed_after: Annotated[
        Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{64}\Z")] | None,
        says(
            "Hash of a line in the log. Up to that line, `doctor` accepts unsigned changes.",
            "guides/pull-requests.md#turn-it-on",
            "`doctor` prints the hash to use.",
        ),
    ] = None


class Policy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    auto_approve_confidence: Annotated[
        Annotated[float, msgspec.Meta(ge=0, le=1)] | None,
        says(
            "Minimum confidence, from 0 to 1, for `promote_fact` to approve a fact automatically.",
            "reference/compatibility.md#a-fact",
            "The fact must also cite evidence and a logged run, and it must have no flags or conflicts. Without this"
            " setting, a person reviews every fact.",
        ),
    ] = None
    require_receipts: Annotated[
        bool | Literal["appended"],
        says(
            "Require every entry to cite its receipts: a run and evidence.",
            "reference/settings.md#receipts",
            'With `"appended"`, `check` also requires the branch itself to add the cited run to the log. You can\'t'
            ' combine this setting with `hand_edits = "accept"`.',
        ),
    ] = False


class Write(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    lock_timeout: Annotated[
        float,
        msgspec.Meta(gt=0, le=3600),
        says(
            "Maximum number of seconds to wait while another process is writing.",
            "concepts/safety.md#two-writers",
            "The value must be above 0 and at most 3600.",
        ),
    ] = 20.0


Value = bool | int | float | str | Sequence[str]
"""A value that a person can give to a single key."""

Action = Literal["refuse", "flag", "off"]
_GATE_PAGE = "reference/settings.md#gate"
_ORDERS_PAGE = "reference/settings.md#orders-to-the-reader"
_SECRETS_PAGE = "reference/settings.md#secrets"


class Gate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Action for each kind of finding in a proposal: refuse it, flag it for the reviewer, or ignore the finding.

    This is the only list of the gate's codes and their defaults. `review/gate/gate.py` uses it.
    """

    secret: Annotated[
        Action,
        says(
            "How to handle a proposal with a key, token or password in a known format.",
            _SECRETS_PAGE,
        ),
    ] = "refuse"  # noqa: S105 -- a word of ours, not one
    random: Annotated[
        Action, says("How to handle a proposal with a string that looks random.", _SECRETS_PAGE)
    ] = "flag"
    escape: Annotated[
        Action,
        says(
            "How to handle a proposal with control characters, which can manipulate a terminal.",
            _GATE_PAGE,
        ),
    ] = "refuse"
    bidi: Annotated[
        Action,
        says(
            "How to handle a proposal with characters that reverse the direction of text.",
            _GATE_PAGE,
        ),
    ] = "refuse"
    smuggled: Annotated[
        Action,
        says("How to handle a proposal with invisible characters that encode hidden text.", _GATE_PAGE),
    ] = "refuse"
    hidden: Annotated[
        Action,
        says(
            "How to handle a proposal with encoded text, with text that is invisible when rendered, or with other invisible characters.",
            _GATE_PAGE,
            "This also applies to unusual content in the header: a comment, an unknown key, text in place of a date, or a"
            " key that only a decision may set (`pinned`, `approved_by`).",
        ),
    ] = "flag"
    instruction: Annotated[
        Action,
        says(
            "How to handle a proposal with instructions aimed at the reader, in any of twelve languages.",
            _ORDERS_PAGE,
        ),
    ] = "flag"
    markup: Annotated[
        Action,
        says(
            "How to handle a proposal with markup that imitates a chat role or a tool call.",
            _ORDERS_PAGE,
        ),
    ] = "flag"
    command: Annotated[
        Action,
        says(
            "How to handle a proposal with commands that run unreviewed code or weaken security.",
            _GATE_PAGE,
        ),
    ] = "flag"
    size: Annotated[
        Action,
        says(
            "How to handle a proposal with a long statement.",
            _GATE_PAGE,
            "A proposal that exceeds the size limit for entries is always refused.",
        ),
    ] = "flag"
    unsupported: Annotated[
        Action, says("How to handle a proposed fact or assumption without evidence.", _GATE_PAGE)
    ] = "flag"
    gone: Annotated[
        Action, says("How to handle a proposal that cites evidence that doesn't exist.", _GATE_PAGE)
    ] = "flag"
    outside: Annotated[
        Action, says("How to handle a proposal that cites files outside the project.", _GATE_PAGE)
    ] = "flag"
    check: Annotated[
        Action,
        says(
            "How to handle a proposal whose `check` can't be read.",
            "reference/conditions.md",
        ),
    ] = "refuse"
    restated: Annotated[
        Action,
        says(
            "How to handle a proposal whose statement an instruction file already contains word for word.",
            _GATE_PAGE,
        ),
    ] = "flag"
    known: Annotated[
        Action,
        says(
            "How to handle a proposal whose statement an approved entry already contains word for word.",
            _GATE_PAGE,
        ),
    ] = "refuse"
    status: Annotated[
        Action,
        says(
            'How to handle a proposal that describes a temporary state, such as "tests are failing today".',
            _GATE_PAGE,
        ),
    ] = "flag"
    repeat: Annotated[
        Action,
        says(
            "How to handle a proposal whose statement was rejected earlier.",
            "concepts/conflicts.md#rejected-statements",
        ),
    ] = "refuse"

    @property
    def finds_secrets(self) -> bool:
        """True unless the project turned off the search for secrets."""
        return self.secret != "off"  # noqa: S105 -- an action


_KINDS_PAGE = "reference/settings.md#custom-kinds"


class KindRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    prefix: Annotated[
        str,
        msgspec.Meta(pattern=r"^[A-Z][A-Z0-9]{1,7}$"),
        says(
            "Prefix for the kind's IDs: 2 to 8 capital letters or digits, starting with a letter.",
            _KINDS_PAGE,
            "The prefix must differ from `CAND` and from the prefixes of other kinds.",
        ),
    ]
    file: Annotated[
        str,
        msgspec.Meta(pattern=r"^[a-z0-9][a-z0-9_-]{0,40}\.md$"),
        says(
            "The kind's file in `memory/`. The file name may contain lowercase letters, digits, `_` and `-`, and must end in `.md`.",
            _KINDS_PAGE,
            "The name must differ from `candidates.md` and from the files of other kinds.",
        ),
    ]
    # A label with a colon could hide the first words of the statement.
    label: Annotated[
        Annotated[str, msgspec.Meta(pattern=r"^[^\W\d_][\w -]{0,30}\Z")] | None,
        says(
            "The label at the start of an entry's text, for example `Decision` in `Decision: Use Textual.`",
            _KINDS_PAGE,
            "The label starts with a letter, followed by up to 30 letters, digits, spaces, `_` or `-`. If not set, the"
            " label is the capitalized name of the kind.",
        ),
    ] = None


class Runs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    share: Annotated[
        tuple[str, ...],
        says(
            "Files in each run record to track in Git, as `.gitignore` patterns.",
            "guides/runs.md#contents-of-a-run-record",
            "All other files stay on this machine. agentplane generates `runs/.gitignore` from this setting.",
        ),
    ] = ("summary.md", "meta.json")
    keep_output: Annotated[
        int,
        msgspec.Meta(ge=0, le=1 << 30),
        says(
            "Maximum number of bytes to keep from each output. agentplane keeps the start and the end of longer outputs.",
            "guides/runs.md#sharing-secrets-and-sizes",
            "The run record also contains the full size and the hash.",
        ),
    ] = 4_000_000
    keep_files: Annotated[
        int,
        msgspec.Meta(ge=0, le=1 << 30),
        says(
            "Maximum size in bytes of each input or produced file to copy.",
            "guides/runs.md#inputs-and-produced-files",
            "If a file is larger, the run record contains only the hash and the size.",
        ),
    ] = 4_000_000
    keep_free: Annotated[
        int,
        msgspec.Meta(ge=0),
        says(
            "Minimum number of bytes to leave free on the disk.",
            "guides/runs.md#sharing-secrets-and-sizes",
            "If less space is free, agentplane doesn't keep outputs, and the run record says so.",
        ),
    ] = 200_000_000
    environment: Annotated[
        tuple[str, ...],
        says(
            "Names of the environment variables to include in run records.",
            "guides/runs.md#sharing-secrets-and-sizes",
            "`*` matches any characters.",
        ),
    ] = (
        "AGENTPLANE_*",
        "CI",
        "LANG",
        "LC_*",
        "SHELL",
        "TERM",
        "TZ",
        "VIRTUAL_ENV",
    )


class Context(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Parts of the context besides the approved entries."""

    last_run: Annotated[
        bool,
        says(
            "Add the notes from the last run to the context, labeled as unreviewed.",
            "concepts/context.md#in-a-session",
            "agentplane always leaves out flagged notes.",
        ),
    ] = True


class Inbox(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The candidates that ask for attention."""

    daily_limit: Annotated[
        int,
        msgspec.Meta(ge=0, le=100_000),
        says(
            "Maximum number of candidates to review per day.",
            "guides/review.md#send-back-snooze-or-limit",
            "The inbox folds (hides) the other candidates until a later day. `0` means no limit.",
        ),
    ] = 0


class Expiry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Entries with a date."""

    warn_days: Annotated[
        int,
        msgspec.Meta(ge=0, le=3650),
        says(
            "When to start warning about an entry, in days before the entry expires.",
            "guides/review.md#take-an-entry-out-of-use",
            "`inbox`, `status` and the interface show the warning. `0` turns off the warning.",
        ),
    ] = 7


_AGE_PAGE = "guides/curator.md#not-checked-for-a-long-time"
_Days = Annotated[int, msgspec.Meta(ge=0, le=36500)]


class Curate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The curator, which looks for approved entries that may no longer be true."""

    assumption_days: Annotated[
        _Days,
        says(
            "Number of days after which a person should confirm an assumption again.",
            _AGE_PAGE,
            "`0`: never.",
        ),
    ] = 90
    fact_days: Annotated[
        _Days,
        says("Number of days after which a person should confirm a fact again.", _AGE_PAGE, "`0`: never."),
    ] = 180
    decision_days: Annotated[
        _Days,
        says(
            "Number of days after which a person should confirm a decision again.", _AGE_PAGE, "`0`: never."
        ),
    ] = 365
    invariant_days: Annotated[
        _Days,
        says(
            "Number of days after which a person should confirm an invariant again.", _AGE_PAGE, "`0`: never."
        ),
    ] = 365
    other_days: Annotated[
        _Days,
        says(
            "Number of days after which a person should confirm an entry of a custom kind again.",
            _AGE_PAGE,
            "`0`: never.",
        ),
    ] = 365
    unused_contexts: Annotated[
        int,
        msgspec.Meta(ge=0, le=100_000),
        says(
            "Number of contexts without an entry before the entry counts as unused.",
            "guides/curator.md#never-used-since-approval",
            "`0`: no entry counts as unused.",
        ),
    ] = 20
    check_seconds: Annotated[
        int,
        msgspec.Meta(ge=1, le=3600),
        says(
            "Maximum number of seconds that a command in a check may run.",
            "reference/conditions.md#commands",
        ),
    ] = 60
    withhold: Annotated[
        Literal["never", "error"],
        says(
            "Whether to withhold entries that may no longer be true from tools.",
            "guides/curator.md#marks-in-the-context",
            '`"never"`: tools get every entry, and contexts mark entries that may no longer be true. `"error"`: contexts,'
            " `search` and MCP leave out the text of a marked entry if its finding has the severity `error`.",
        ),
    ] = "never"


class Tools(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    deliver: Annotated[
        bool,
        says("Update the memory in the tools' files after each decision.", "concepts/context.md#in-files"),
    ] = True
    restart: Annotated[
        Literal["ask", "auto"],
        says(
            "When to restart sessions that use outdated memory.",
            "guides/restart.md#restart-a-session-when-it-is-idle",
            '`"auto"`: after a decision, sessions under `agentplane run` restart as soon as their hooks report that they'
            ' are idle. `"ask"`: sessions restart only when a person asks for it.',
        ),
    ] = "ask"


class Hooks(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings for the hooks of coding tools."""

    ask: Annotated[
        bool,
        says(
            "When a session stops after some work, ask it once what later sessions should know.",
            "concepts/hooks.md#the-question",
        ),
    ] = True
    name_runs: Annotated[
        bool,
        says(
            "Give each session's run a title in the log, which is shared through Git.",
            "concepts/hooks.md#the-run",
            "The title is the first sentence of the session's first prompt.",
        ),
    ] = True


class Tui(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of the interface. Each person can replace them in a file of their own."""

    theme: Annotated[
        str,
        says(
            "Name of a theme. `f2` in the interface lists all themes.",
            "reference/screens.md#colors",
            '`"auto"`: a light or a dark theme, depending on the terminal.',
        ),
    ] = "auto"
    ascii: Annotated[
        bool,
        says(
            "Use plain ASCII characters instead of symbols, for fonts without these symbols.",
            "reference/screens.md#colors",
        ),
    ] = False
    preview: Annotated[
        Literal["auto", "right", "bottom"],
        says(
            "Where to show the preview of the selected row.",
            "reference/screens.md#inbox",
            '`"right"`: next to the list. `"bottom"`: below the list. `"auto"`: next to the list if the terminal is wide'
            " enough, otherwise below it.",
        ),
    ] = "auto"
    keys: Annotated[
        dict[str, str],
        says(
            "Custom keys for actions.",
            "reference/keys.md",
            'For example, `undo = "z"` or `"list.half_down" = "ctrl+v"`. The interface reports an invalid binding when it'
            " starts. The action then keeps its default key.",
        ),
    ] = {}


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    trust: Trust = Trust()
    policy: Policy = Policy()
    write: Write = Write()
    gate: Gate = Gate()
    runs: Runs = Runs()
    context: Context = Context()
    inbox: Inbox = Inbox()
    expiry: Expiry = Expiry()
    curate: Curate = Curate()
    tools: Tools = Tools()
    hooks: Hooks = Hooks()
    tui: Tui = Tui()
    kinds: Annotated[
        dict[Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9_-]{0,30}$")], KindRow],
        says("Custom kinds, each in its own table.", _KINDS_PAGE),
    ] = {}


class Personal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The settings in a person's own file. They apply to all projects of this person."""

    tui: Tui = Tui()


DEFAULTS = Settings()
