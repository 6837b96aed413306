"""Pairs of opposites, written in many ways: each says of one thing what the other says the opposite of."""

from collections.abc import Iterator
from itertools import product

import msgspec


class Act(msgspec.Struct, frozen=True):
    """Somebody does something to something."""

    who: str
    do: str
    does: str
    done: str
    what: str
    plural: bool = True

    @property
    def be(self) -> str:
        return "are" if self.plural else "is"


class Pair(msgspec.Struct, frozen=True):
    """Two ways to treat one thing: its words for `do`, `does` and `done`."""

    one: tuple[str, str, str]
    other: tuple[str, str, str]


ACTS = (
    Act("the request handler", "call", "calls", "called", "the rates service", plural=False),
    Act("the debug build", "log", "logs", "logged", "card numbers"),
    Act("the gateway", "cache", "caches", "cached", "search results"),
    Act("the worker", "retry", "retries", "retried", "failed payments"),
    Act("the nightly job", "import", "imports", "imported", "customer records"),
    Act("the build script", "read", "reads", "read", "environment variables"),
    Act("the mail gateway", "scan", "scans", "scanned", "attachments"),
    Act("the scheduler", "lock", "locks", "locked", "the job table", plural=False),
    Act("the admin panel", "show", "shows", "shown", "deleted accounts"),
    Act("the compiler", "inline", "inlines", "inlined", "small functions"),
)
DONE = (
    "{Do} {what} in {who}.",
    "{Who} {does} {what}.",
    "{What} {be} {done} in {who}.",
    "{Who} must {do} {what}.",
    "{What} must be {done} by {who}.",
    "Always {do} {what} in {who}.",
    "{What} {be} always {done} by {who}.",
)
"""Demanded, or said to be so."""
PERMITTED = (
    "{Who} may {do} {what}.",
    "{What} may be {done} in {who}.",
    "It is fine to {do} {what} in {who}.",
    "{Who} is allowed to {do} {what}.",
)
NOT_DONE = (
    "Never {do} {what} in {who}.",
    "Do not {do} {what} in {who}.",
    "{Who} never {does} {what}.",
    "{Who} must not {do} {what}.",
    "{What} {be} never {done} by {who}.",
    "{What} must not be {done} in {who}.",
    "{What} {be} not {done} in {who}.",
)
DONE_WITHOUT = (
    "{Who} works without {what}.",
    "{Who} does its work without {what}.",
    "Run {who} without {what}.",
)
WITH = (
    "{Do} {what} with {who}.",
    "{What} {be} {done} with {who}.",
    "{What} must be {done} with {who}.",
    "Use {who} to {do} {what}.",
    "Always {do} {what} with {who}.",
    "Do not {do} {what} without {who}.",
    "{What} must not be {done} without {who}.",
)
WITHOUT = (
    "{Do} {what} without {who}.",
    "{What} {be} {done} without {who}.",
    "{What} may be {done} without {who}.",
    "Always {do} {what} without {who}.",
)
AIDED = (
    Act("the rates service", "answer", "", "answered", "quote requests"),
    Act("a second factor", "confirm", "", "confirmed", "bank transfers"),
    Act("a connection pool", "open", "", "opened", "database sessions"),
    Act("a code review", "merge", "", "merged", "pull requests"),
    Act("a signed token", "accept", "", "accepted", "webhook calls"),
    Act("the cache", "serve", "", "served", "profile pages"),
)
LIMITED = (
    "{Do} {what} in {who} only if an operator asks for it.",
    "{Who} {does} {what} only if an operator asks for it.",
    "{What} {be} {done} in {who} only if an operator asks for it.",
)
ONE_OR_OTHER = (
    Pair(("enable", "enables", "enabled"), ("disable", "disables", "disabled")),
    Pair(("allow", "allows", "allowed"), ("deny", "denies", "denied")),
    Pair(("include", "includes", "included"), ("exclude", "excludes", "excluded")),
    Pair(("accept", "accepts", "accepted"), ("refuse", "refuses", "refused")),
    Pair(("keep", "keeps", "kept"), ("delete", "deletes", "deleted")),
    Pair(("turn on", "turns on", "turned on"), ("turn off", "turns off", "turned off")),
    Pair(("switch on", "switches on", "switched on"), ("switch off", "switches off", "switched off")),
)
THINGS = (
    Act("the search service", "", "", "", "response compression", plural=False),
    Act("the staging cluster", "", "", "", "anonymous uploads"),
    Act("the weekly export", "", "", "", "archived invoices"),
    Act("the payment page", "", "", "", "guest accounts"),
    Act("the firewall", "", "", "", "outbound connections"),
    Act("the test database", "", "", "", "foreign keys"),
)
TREATED = (
    "{Do} {what} in {who}.",
    "{Who} {does} {what}.",
    "{What} {be} {done} in {who}.",
    "{What} must be {done} by {who}.",
    "{Who} must {do} {what}.",
    "Always {do} {what} in {who}.",
)
STATES = (
    ("{What} {be} on in {who}.", "{What} {be} off in {who}."),
    ("{Who} has {what} on.", "{Who} has {what} off."),
    ("Keep {what} on in {who}.", "Keep {what} off in {who}."),
    ("{What} {be} on by default in {who}.", "{What} {be} off by default in {who}."),
)
ORDERS = (
    ("the migrations", "the deployment"),
    ("the linter", "the unit tests"),
    ("the license check", "the upload"),
)
BEFORE = (
    "Run {first} before {then}.",
    "Run {then} after {first}.",
    "{First} must run before {then}.",
    "{Then} runs after {first}.",
    "{First} comes before {then}.",
)
"""Said of one order; the other is the same with the two exchanged."""
SENT = (
    Act("the order service", "send", "sends", "sent", "confirmation emails"),
    Act("the billing API", "write", "writes", "written", "audit events"),
    Act("the catalog page", "load", "loads", "loaded", "product images"),
)
HOW = (
    "{Who} {does} {what} HOW.",
    "{Do} {what} HOW in {who}.",
    "{What} {be} {done} HOW by {who}.",
    "{Who} must {do} {what} HOW.",
)
SINGLE = (
    (
        "Send a receipt by email after each purchase.",
        "A purchase is completed without sending a receipt by email.",
    ),
    ("Ask for a second factor at sign-in.", "Users sign in without a second factor."),
    ("Open the file with a lock.", "The file is opened without a lock."),
    ("Show prices with tax.", "Prices are shown without tax."),
    ("Requests with a tenant id are accepted.", "Requests without a tenant id are accepted."),
    ("Merge to main requires approval.", "Merging to main is possible without approval."),
    ("Do not accept requests without a tenant id.", "Requests without a tenant id are accepted."),
    ("The API returns stack traces in errors.", "Errors of the API come without stack traces."),
    ("Tests may use the network.", "Tests run without the network."),
    ("Turn on strict mode in the parser.", "The parser leaves strict mode off."),
    ("Telemetry is on.", "Telemetry is off."),
    ("The proxy allows plain HTTP.", "The proxy denies plain HTTP."),
    ("Allow uploads larger than a page.", "Uploads larger than a page are denied."),
    ("Block third-party cookies.", "Third-party cookies are allowed."),
    ("Leave test fixtures out of the package.", "The package includes test fixtures."),
    ("Unknown fields are accepted by the API.", "The API rejects unknown fields."),
    ("Validate the token before parsing the body.", "Parse the body before validating the token."),
    ("Old snapshots are kept on the build server.", "The build server deletes old snapshots."),
    ("Always run the slow tests in CI.", "The slow tests run in CI only on request."),
    ("Every release artifact is signed.", "Release artifacts are signed only when they leave the company."),
    ("Users must confirm their email address.", "Users need not confirm their email address."),
    ("Dependencies are pinned.", "Dependencies are not pinned."),
    ("Anyone may merge to main.", "Nobody but maintainers may merge to main."),
    (
        "Requests are authenticated by the gateway.",
        "The gateway lets requests through without authenticating them.",
    ),
)
"""Written one by one."""


def _written(act: Act, forms: tuple[str, str, str], template: str) -> str:
    do, does, done = forms
    said = {"who": act.who, "what": act.what, "do": do, "does": does, "done": done, "be": act.be}
    said |= {name.capitalize(): f"{text[:1].upper()}{text[1:]}" for name, text in said.items()}
    return template.format_map(said)


def opposites() -> Iterator[tuple[str, str, str]]:
    """What they are opposites in, and the two."""
    groups = (
        ("must / must not", DONE, NOT_DONE),
        ("may / never", PERMITTED, NOT_DONE),
        ("with / without", DONE, DONE_WITHOUT),
        ("always / only if", (*DONE[-2:], *DONE[:2]), LIMITED),
    )
    for act in ACTS:
        forms = (act.do, act.does, act.done)
        for name, ones, others in groups:
            for one, other in product(ones, others):
                yield name, _written(act, forms, one), _written(act, forms, other)
    for act, one, other in product(AIDED, WITH, WITHOUT):
        forms = (act.do, act.does, act.done)
        yield "with / without", _written(act, forms, one), _written(act, forms, other)
    for thing, pair in product(THINGS, ONE_OR_OTHER):
        name = f"{pair.one[0]} / {pair.other[0]}"
        for one, other in product(TREATED, TREATED):
            yield name, _written(thing, pair.one, one), _written(thing, pair.other, other)
    for thing, (one, other) in product(THINGS, STATES):
        yield "on / off", _written(thing, ("", "", ""), one), _written(thing, ("", "", ""), other)
    for (first, then), one, other in product(ORDERS, BEFORE, BEFORE):
        yield "before / after", _ordered(one, first, then), _ordered(other, then, first)
    for act, one, other in product(SENT, HOW, HOW):
        forms = (act.do, act.does, act.done)
        new = _written(act, forms, one.replace("HOW", "synchronously"))
        yield "sync / async", new, _written(act, forms, other.replace("HOW", "asynchronously"))
    for one, other in SINGLE:
        yield "single", one, other


def _ordered(template: str, first: str, then: str) -> str:
    said = {"first": first, "then": then}
    return template.format_map(
        {**said, **{name.capitalize(): text.capitalize() for name, text in said.items()}}
    )
