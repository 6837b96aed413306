"""Pairs of opposites, written in many ways: each says of one thing what the other says the opposite of."""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import msgspec


class Verb(NamedTuple):
    """The infinitive, the form after "it", and the participle."""

    do: str = ""
    does: str = ""
    done: str = ""


class Act(msgspec.Struct, frozen=True):
    """Somebody does something to something."""

    who: str
    what: str
    verb: Verb = Verb()
    be: str = "are"


def _cells(table: str) -> Iterator[list[str]]:
    return ([cell.strip() for cell in line.split("|")] for line in table.strip().splitlines())


def _verb(cell: str) -> Verb:
    return Verb(*cell.split(", "))


def _acts(table: str) -> tuple[Act, ...]:
    """Who, the verb if there is one, what, and `one` where that is in the singular."""
    acts = []
    for row in _cells(table):
        be = "is" if row[-1] == "one" else "are"
        who, *verb, what = [cell for cell in row if cell != "one"]
        acts.append(Act(who, what, _verb(verb[0]) if verb else Verb(), be))
    return tuple(acts)


def _pairs(table: str) -> tuple[tuple[Verb, Verb], ...]:
    """Two ways to treat one thing."""
    return tuple((_verb(one), _verb(other)) for one, other in _cells(table))


ACTS = _acts(
    """
    the request handler | call, calls, called | the rates service | one
    the debug build | log, logs, logged | card numbers
    the gateway | cache, caches, cached | search results
    the worker | retry, retries, retried | failed payments
    the nightly job | import, imports, imported | customer records
    the build script | read, reads, read | environment variables
    the mail gateway | scan, scans, scanned | attachments
    the scheduler | lock, locks, locked | the job table | one
    the admin panel | show, shows, shown | deleted accounts
    the compiler | inline, inlines, inlined | small functions
    """
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
AIDED = _acts(
    """
    the rates service | answer, answer, answered | quote requests
    a second factor | confirm, confirm, confirmed | bank transfers
    a connection pool | open, open, opened | database sessions
    a code review | merge, merge, merged | pull requests
    a signed token | accept, accept, accepted | webhook calls
    the cache | serve, serve, served | profile pages
    """
)
LIMITED = (
    "{Do} {what} in {who} only if an operator asks for it.",
    "{Who} {does} {what} only if an operator asks for it.",
    "{What} {be} {done} in {who} only if an operator asks for it.",
)
ONE_OR_OTHER = _pairs(
    """
    enable, enables, enabled | disable, disables, disabled
    allow, allows, allowed | deny, denies, denied
    include, includes, included | exclude, excludes, excluded
    accept, accepts, accepted | refuse, refuses, refused
    keep, keeps, kept | delete, deletes, deleted
    turn on, turns on, turned on | turn off, turns off, turned off
    switch on, switches on, switched on | switch off, switches off, switched off
    """
)
THINGS = _acts(
    """
    the search service | response compression | one
    the staging cluster | anonymous uploads
    the weekly export | archived invoices
    the payment page | guest accounts
    the firewall | outbound connections
    the test database | foreign keys
    """
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
SENT = _acts(
    """
    the order service | send, sends, sent | confirmation emails
    the billing API | write, writes, written | audit events
    the catalog page | load, loads, loaded | product images
    """
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


def _written(act: Act, verb: Verb, template: str) -> str:
    said = {"who": act.who, "what": act.what, "be": act.be} | verb._asdict()
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
        for name, ones, others in groups:
            for one, other in product(ones, others):
                yield name, _written(act, act.verb, one), _written(act, act.verb, other)
    for act, one, other in product(AIDED, WITH, WITHOUT):
        yield "with / without", _written(act, act.verb, one), _written(act, act.verb, other)
    for thing, (verb, opposite) in product(THINGS, ONE_OR_OTHER):
        for one, other in product(TREATED, TREATED):
            name = f"{verb.do} / {opposite.do}"
            yield name, _written(thing, verb, one), _written(thing, opposite, other)
    for thing, (one, other) in product(THINGS, STATES):
        yield "on / off", _written(thing, thing.verb, one), _written(thing, thing.verb, other)
    for (first, then), one, other in product(ORDERS, BEFORE, BEFORE):
        yield "before / after", _ordered(one, first, then), _ordered(other, then, first)
    for act, one, other in product(SENT, HOW, HOW):
        new = _written(act, act.verb, one.replace("HOW", "synchronously"))
        yield "sync / async", new, _written(act, act.verb, other.replace("HOW", "asynchronously"))
    for one, other in SINGLE:
        yield "single", one, other


def _ordered(template: str, first: str, then: str) -> str:
    said = {"first": first, "then": then}
    return template.format_map(
        {**said, **{name.capitalize(): text.capitalize() for name, text in said.items()}}
    )
