"""Changes that are easy to overlook. Each breaks what the evidence showed, so "changed" and "gone" alone are right."""

from collections.abc import Mapping
from typing import NamedTuple


class Trap(NamedTuple):
    title: str
    evidence: str
    before: str
    """The text of the file that the evidence names."""
    after: str | None
    """Its text after the change. None if the file was deleted."""
    beside: Mapping[str, str] = {}
    """Other files, before and after."""
    made: Mapping[str, str] = {}
    """Files that the change makes."""

    @property
    def path(self) -> str:
        return self.evidence.partition("#")[0].partition(":")[0]


def _swap(title: str, evidence: str, text: str, old: str, new: str, beside: Mapping[str, str] = {}) -> Trap:
    assert text.count(old) == 1, (title, old)
    return Trap(title, evidence, text, text.replace(old, new), beside)


_PY_STRINGS = '''\
BANNER = "agent  plane"


def banner(name: str, width: int = 60) -> str:
    """Return the first line of the report."""
    title = f"{name}  -  {width} columns"
    url = "https://example.com/a#first"
    return (title + " " + url).ljust(width, "#")


def footer() -> str:
    return """
    one
    two
    """
'''

_PY_FLOW = '''\
def settled(batches, limit):
    """Return the batches that are settled."""
    found = []
    for batch in batches:
        if batch.total > limit:
            found.append(batch)
            continue
        batch.flag()
    return found


def first(items):
    for item in items:
        if item:
            check(item)
        return item
'''

_PY_TWINS = '''\
import functools

from .base import Base, Other


def retry(times):
    return functools.partial(functools.wraps, times)


class Store(Base):
    """A store."""

    @property
    def limit(self):
        return self._limit

    @limit.setter
    def limit(self, value):
        if value > 500:
            raise ValueError("too large")
        self._limit = value

    @retry(3)
    def load(self, key):
        if key is None:
            raise KeyError("the key is missing")
        return self.rows[key]

    def save(self, key, value):
        if key is None:
            raise KeyError("the key is missing")
        self.rows[key] = value


class Cache(Base):
    def load(self, key):
        return self.rows.get(key)
'''

_PY_COPIES = """\
def read_user(row):
    if row is None:
        raise LookupError("no such row in the table")
    return User(row.id, row.name)


def read_order(row):
    if row is None:
        raise LookupError("no such row in the table")
    return Order(row.id, row.total)
"""

_PY_CLONE = '''\
def cents(amount):
    """Return an amount in cents."""
    return int((amount * 100).to_integral_value(rounding=ROUND_HALF_EVEN))


def total(lines):
    return sum(cents(line.amount) for line in lines)
'''

_PY_DOC = '''\
def upload(path):
    """Upload a file.

    Files of more than 25 MB are refused by the server, and never sent twice.
    """
    return send(path)


# Keep the pool at 12: the database allows 15 connections, and migrations need three of them.
POOL = connect()
'''

_TS_TEXTS = """\
const endpoint = "https://api.example.com/v2"; // the public one

/** Returns the query. */
export function query(table: string): string {
  return `
    SELECT *
      FROM ${table}
     WHERE deleted = false
  `;
}

export const comment = /\\/\\/.*$/;

export function label(name: string): string {
  return "name:  " + name;
}

export function parsed(text: string): number | undefined {
  const value = Number(text);
  return value;
}
"""

_TS_OVERLOADS = """\
export function pick(key: string): string;
export function pick(key: string, fallback: number): number;
export function pick(key: string, fallback?: number): string | number | undefined {
  return store.get(key) ?? fallback;
}

export abstract class Queue<T> {
  private readonly limit = 100;
  protected abstract take(): T | undefined;

  @logged("queue")
  async push(item: T): Promise<void> {
    await this.room(this.limit);
    this.items.push(item);
  }
}

export interface Options {
  readonly retries?: number;
  timeout: number;
}

export type Level = "debug" | "info" | "warn";
"""

_GO_TWINS = """\
//go:build linux

package disk

import _ "embed"

//go:embed schema_v1.sql
var schema string

type Reader struct{ file *File }

type Writer struct{ file *File }

// Close closes the reader.
func (r *Reader) Close() error {
	return r.file.Close()
}

// Close flushes and closes the writer.
func (w *Writer) Close() error {
	if err := w.file.Flush(); err != nil {
		return err
	}
	return w.file.Close()
}

type Row struct {
	Name string `json:"name"`
	Size int64  `json:"size,omitempty"`
}

const (
	blockSize = 4096
	maxBlocks = 1 << 20
)
"""

_RUST_IMPLS = """\
pub struct Meters(pub f64);
pub struct Feet(pub f64);

impl From<Meters> for Feet {
    fn from(length: Meters) -> Self {
        Feet(length.0 * 3.281)
    }
}

impl From<Feet> for Meters {
    fn from(length: Feet) -> Self {
        Meters(length.0 * 0.3048)
    }
}

#[derive(Debug, Clone)]
#[serde(deny_unknown_fields)]
pub struct Config {
    pub(crate) path: String,
    #[serde(default = "ten")]
    pub workers: usize,
}

#[cfg(unix)]
pub fn temp() -> &'static str {
    "/tmp  dir"
}

pub fn pattern() -> &'static str {
    r"^//[a-z]+ $"
}
"""

_JAVA_OVERLOADS = """\
package com.acme;

public class Mailer {
    @Retry(times = 3)
    public void send(String to, String text) {
        send(to, text, Priority.NORMAL);
    }

    public void send(String to, String text, Priority priority) {
        queue.add(new Mail(to, text, priority), 250);
    }

    @Transactional(readOnly = true)
    public String greeting(String name) {
        return "Dear  " + name + ", // hello";
    }
}
"""

_YAML = """\
service:
  name: billing
  limits:
    memory: 512Mi
  timeout: 30
jobs:
  - name: settle
    schedule: "0 17 * * *"
    retries: 3
"""

_MARKDOWN = """\
# Operations

## Backups

Backups run every night at 02:00. They are kept for 30 days.

    pg_dump  --format=custom billing

## Restore

A restore takes about two hours.
"""

_MAKEFILE = """\
deploy: build
	./deploy.sh --region eu-central-1 --wait 600

build:
	docker build -t billing .
"""

_PY_SAME_BODY = '''\
def active_users(rows):
    """Return the rows that count."""
    wanted = [row for row in rows if row.active and not row.deleted]
    return sorted(wanted, key=lambda row: (row.name, row.created))


def active_clients(rows):
    """Return the rows that count."""
    wanted = [row for row in rows if row.active and not row.deleted]
    return sorted(wanted, key=lambda row: (row.name, row.created))
'''

_PY_FINE = """\
LIMITS = (4096)
PREFIX = "\\n"
NAMES = [
    "north",
    "south",
]


def rest(total, paid, fee):
    left = total - (paid - fee)
    return left


def key(name):
    return f"{name}.lock"


def steps(batch):
    check(batch)
    lock(batch)
    send(batch)
    return batch.done
"""

_PY_OLD = """\
def report(rows, limit):
    print "rows: %d" % len(rows)
    if len(rows) > 500:
        raise ValueError, "too many rows"
    return rows[:limit]


def other(rows):
    print rows
"""

_TS_FINE = """\
export function price(net: number, fee: number, count: number): number {
  const sum = (net + fee) * count;
  return sum;
}

export const greeting = (name: string): string => "Dear ${name}";

export const gaps = [1, , 2];

export class Left {
  close(): void {
    this.pool.drain(250);
    this.pool.end();
  }
}

export class Right {
  close(): void {
    this.pool.drain(250);
    this.pool.end();
  }
}
"""

_TSX = """\
export function Confirm({ name }: { name: string }) {
  return (
    <Dialog title="Delete">
      <p>Delete {name} for good?</p>
      <Button timeout={5}>Yes</Button>
    </Dialog>
  );
}
"""

_RUST_FINE = """\
pub fn next(seed: u64) -> u64 {
    let step = (seed + 7) * 3;
    step ^ 0xff
}

pub fn log(seed: u64) {
    next(seed);
    store(seed)
}

pub fn pair(seed: u64) -> (u64,) {
    (seed,)
}

pub const SEPARATOR: &str = "a\\n";
"""

_GO_FINE = """\
package rate

// Share returns a part of a sum.
func Share(sum, parts, rest int) int {
	return (sum - rest) / parts
}

// Separator is between fields.
func Separator() any {
	return 'x'
}

var pattern = "a\\d"
"""

_RUST_BUILDER = """\
pub struct Builder {
    strip: bool,
    offline: bool,
}

impl Builder {
    pub fn strip(mut self, strip: bool) -> Self {
        self.strip = strip;
        self
    }

    pub fn offline(mut self, offline: bool) -> Self {
        self.offline = offline;
        self
    }
}
"""

_JAVA_FINE = """\
package com.acme;

class Rates {
    int share(int sum, int parts, int rest) {
        return (sum - rest) / parts;
    }

    Object separator() {
        return ';';
    }
}
"""

_CONF = """\
server {
    listen 8080; # public
    client_max_body_size 25m;
    proxy_read_timeout 60s;
}
"""

TRAPS: tuple[Trap, ...] = (
    _swap("spaces in a string", "a.py#BANNER", _PY_STRINGS, "agent  plane", "agent plane"),
    _swap("spaces in an f-string", "a.py#banner", _PY_STRINGS, "}  -  {", "} - {"),
    _swap("spaces in an f-string, lines", "a.py:4-8", _PY_STRINGS, "}  -  {", "} - {"),
    _swap("after a # in a string", "a.py#banner", _PY_STRINGS, "a#first", "a#second"),
    _swap("after a # in a string, lines", "a.py:7", _PY_STRINGS, "a#first", "a#second"),
    _swap("the fill character #", "a.py#banner", _PY_STRINGS, '"#"', '"-"'),
    _swap("indentation in a long string", "a.py#footer", _PY_STRINGS, "    two\n", "      two\n"),
    _swap("a blank line in a long string", "a.py#footer", _PY_STRINGS, "    two\n", "\n    two\n"),
    _swap("a blank line in a long string, lines", "a.py:11-15", _PY_STRINGS, "    two\n", "\n    two\n"),
    _swap(
        "another indentation, another flow",
        "a.py#first",
        _PY_FLOW,
        "        return item\n",
        "    return item\n",
    ),
    _swap("another indentation, lines", "a.py:13-17", _PY_FLOW, "        return item\n", "    return item\n"),
    _swap(
        "another indentation, one statement",
        "a.py#settled",
        _PY_FLOW,
        "            continue\n",
        "        continue\n",
    ),
    _swap(
        "another indentation, one line", "a.py:5-8", _PY_FLOW, "            continue\n", "        continue\n"
    ),
    _swap("another indentation, the file", "a.py", _PY_FLOW, "        return item\n", "    return item\n"),
    _swap("the setter of a property", "a.py#Store.limit", _PY_TWINS, "value > 500", "value > 900"),
    _swap("a decorator", "a.py#Store.load", _PY_TWINS, "@retry(3)", "@retry(30)"),
    _swap("a decorator that is gone", "a.py#Store.load", _PY_TWINS, "    @retry(3)\n", ""),
    _swap("the base class", "a.py#Store", _PY_TWINS, "class Store(Base)", "class Store(Other)"),
    _swap("a method that now is async", "a.py#Store.save", _PY_TWINS, "    def save", "    async def save"),
    _swap(
        "a method deleted, a twin in another class",
        "a.py#Cache.load",
        _PY_TWINS,
        "class Cache(Base):\n    def load(self, key):\n        return self.rows.get(key)\n",
        "class Cache(Base):\n    pass\n",
    ),
    Trap(
        "the lines changed, a copy of them did not",
        "a.py:2-3",
        _PY_COPIES,
        _PY_COPIES.replace('raise LookupError("no such row in the table")', "return None", 1),
    ),
    Trap(
        "the lines are gone, a copy of them is not",
        "a.py:2-3",
        _PY_COPIES,
        _PY_COPIES.replace(
            '    if row is None:\n        raise LookupError("no such row in the table")\n', "", 1
        ),
    ),
    Trap(
        "the function of the lines is gone, a copy of them is not",
        "a.py:2-3",
        _PY_COPIES,
        _PY_COPIES[_PY_COPIES.index("def read_order") :],
    ),
    _swap(
        "a definition deleted that has a copy",
        "a.py#cents",
        _PY_CLONE,
        _PY_CLONE[: _PY_CLONE.index("def total")],
        "",
        {"b.py": _PY_CLONE},
    ),
    Trap("a file deleted that has a copy", "a.py", _PY_CLONE, None, {"b.py": _PY_CLONE}),
    _swap("a docstring that is the evidence", "a.py:4", _PY_DOC, "25 MB", "90 MB"),
    _swap("lines of a docstring that are the evidence", "a.py:2-5", _PY_DOC, "25 MB", "90 MB"),
    _swap("a comment that is the evidence", "a.py:9", _PY_DOC, "pool at 12", "pool at 40"),
    _swap("after // in a string", "a.ts#endpoint", _TS_TEXTS, "api.example.com", "api.example.org"),
    _swap("after // in a string, a line", "a.ts:1", _TS_TEXTS, "api.example.com", "api.example.org"),
    _swap("after // in a string, the file", "a.ts", _TS_TEXTS, "api.example.com", "api.example.org"),
    _swap("spaces in a template", "a.ts#query", _TS_TEXTS, "SELECT *\n      FROM", "SELECT *\n FROM"),
    _swap("spaces in a template, lines", "a.ts:5-9", _TS_TEXTS, "SELECT *\n      FROM", "SELECT * FROM"),
    _swap("a regular expression with //", "a.ts#comment", _TS_TEXTS, "/\\/\\/.*$/", "/\\/\\/.+$/"),
    _swap("a flag of a regular expression", "a.ts#comment", _TS_TEXTS, ".*$/;", ".*$/m;"),
    _swap("spaces in a string, TypeScript", "a.ts#label", _TS_TEXTS, "name:  ", "name: "),
    _swap(
        "a line break after return", "a.ts#parsed", _TS_TEXTS, "  return value;\n}", "  return\n    value;\n}"
    ),
    _swap(
        "a line break after return, lines",
        "a.ts:17-20",
        _TS_TEXTS,
        "  return value;\n}",
        "  return\n    value;\n}",
    ),
    _swap(
        "one of the overloads",
        "a.ts#pick",
        _TS_OVERLOADS,
        "fallback: number): number;",
        "fallback: string): string;",
    ),
    _swap("the body below overloads", "a.ts#pick", _TS_OVERLOADS, "?? fallback", "|| fallback"),
    _swap("a decorator, TypeScript", "a.ts#Queue.push", _TS_OVERLOADS, '@logged("queue")', '@logged("mail")'),
    _swap("a method that is no longer async", "a.ts#Queue.push", _TS_OVERLOADS, "  async push", "  push"),
    _swap("a modifier", "a.ts#Queue.take", _TS_OVERLOADS, "protected abstract take", "public abstract take"),
    _swap("a modifier of the class", "a.ts#Queue", _TS_OVERLOADS, "export abstract class", "export class"),
    _swap(
        "a property that is no longer optional",
        "a.ts#Options",
        _TS_OVERLOADS,
        "retries?: number",
        "retries: number",
    ),
    _swap(
        "a property of an interface",
        "a.ts#Options.timeout",
        _TS_OVERLOADS,
        "timeout: number",
        "timeout: string",
    ),
    _swap("a union", "a.ts#Level", _TS_OVERLOADS, ' | "warn"', ""),
    _swap(
        "a method of another type has the name",
        "disk.go#Writer.Close",
        _GO_TWINS,
        "err != nil {\n\t\treturn err",
        "err != nil {\n\t\treturn nil",
    ),
    _swap(
        "a method deleted, another type has the name",
        "disk.go#Reader.Close",
        _GO_TWINS,
        "// Close closes the reader.\nfunc (r *Reader) Close() error {\n\treturn r.file.Close()\n}\n\n",
        "",
    ),
    _swap(
        "the receiver is no longer a pointer", "disk.go#Reader.Close", _GO_TWINS, "(r *Reader)", "(r Reader)"
    ),
    _swap("a directive in a comment", "disk.go#schema", _GO_TWINS, "schema_v1.sql", "schema_v2.sql"),
    _swap("a directive in a comment, lines", "disk.go:7-8", _GO_TWINS, "schema_v1.sql", "schema_v2.sql"),
    _swap("a directive of the file", "disk.go", _GO_TWINS, "//go:build linux", "//go:build darwin"),
    _swap("the tag of a field", "disk.go#Row", _GO_TWINS, 'json:"name"', 'json:"title"'),
    _swap("a constant in a group", "disk.go#maxBlocks", _GO_TWINS, "1 << 20", "1 << 24"),
    _swap("one of two implementations", "units.rs#Feet::from", _RUST_IMPLS, "3.281", "3.2808"),
    _swap("one of two implementations, by its lines", "units.rs:11-13", _RUST_IMPLS, "0.3048", "0.305"),
    _swap("an attribute", "units.rs#Config", _RUST_IMPLS, "#[serde(deny_unknown_fields)]\n", ""),
    _swap("the attribute of a field", "units.rs#Config", _RUST_IMPLS, 'default = "ten"', 'default = "two"'),
    _swap("a condition of the compiler", "units.rs#temp", _RUST_IMPLS, "#[cfg(unix)]", "#[cfg(windows)]"),
    _swap("the visibility of a field", "units.rs#Config", _RUST_IMPLS, "pub(crate) path", "pub path"),
    _swap("spaces in a string, Rust", "units.rs#temp", _RUST_IMPLS, "/tmp  dir", "/tmp dir"),
    _swap("spaces in a raw string", "units.rs#pattern", _RUST_IMPLS, "+ $", "+$"),
    _swap(
        "one of two methods with a name",
        "Mailer.java#Mailer.send",
        _JAVA_OVERLOADS,
        "priority), 250",
        "priority), 900",
    ),
    _swap("an annotation", "Mailer.java#Mailer.send", _JAVA_OVERLOADS, "times = 3", "times = 9"),
    _swap(
        "an annotation of a method",
        "Mailer.java#Mailer.greeting",
        _JAVA_OVERLOADS,
        "readOnly = true",
        "readOnly = false",
    ),
    _swap("spaces in a string, Java", "Mailer.java#Mailer.greeting", _JAVA_OVERLOADS, "Dear  ", "Dear "),
    _swap(
        "after // in a string, Java",
        "Mailer.java#Mailer.greeting",
        _JAVA_OVERLOADS,
        "// hello",
        "// good day",
    ),
    _swap("the value of a key", "app.yaml:5", _YAML, "timeout: 30", "timeout: 300"),
    _swap("a key under another key", "app.yaml:5", _YAML, "  timeout: 30", "    timeout: 30"),
    _swap("a key under another key, lines", "app.yaml:3-5", _YAML, "  timeout: 30", "    timeout: 30"),
    _swap("spaces in a quoted value", "app.yaml:8", _YAML, "0 17 * * *", "0 17 ** *"),
    _swap("a number in a sentence", "ops.md:5", _MARKDOWN, "30 days", "300 days"),
    _swap("a number in a section", "ops.md#Backups", _MARKDOWN, "02:00", "04:00"),
    _swap("the section under another heading", "ops.md#Restore", _MARKDOWN, "two hours", "two days"),
    _swap("an argument in a Makefile", "Makefile:2", _MAKEFILE, "--wait 600", "--wait 60"),
    _swap(
        "a function deleted, a twin with another name",
        "a.py#active_users",
        _PY_SAME_BODY,
        _PY_SAME_BODY[: _PY_SAME_BODY.index("def active_clients")],
        "",
    ),
    _swap(
        "lines deleted, a twin with another name",
        "a.py:1-4",
        _PY_SAME_BODY,
        _PY_SAME_BODY[: _PY_SAME_BODY.index("def active_clients")],
        "",
    ),
    _swap(
        "a function changed, a copy of it did not",
        "a.py#cents",
        _PY_CLONE,
        "amount * 100",
        "amount * 1000",
        {"b.py": _PY_CLONE},
    ),
    _swap(
        "lines changed, a copy of them did not",
        "a.py:1-3",
        _PY_CLONE,
        "amount * 100",
        "amount * 1000",
        {"b.py": _PY_CLONE},
    ),
    _swap(
        "a file changed, a copy of it did not",
        "a.py",
        _PY_CLONE,
        "amount * 100",
        "amount * 1000",
        {"b.py": _PY_CLONE},
    ),
    _swap(
        "a method deleted, the same in another class",
        "a.ts#Left.close",
        _TS_FINE,
        _TS_FINE[_TS_FINE.index("export class Left") : _TS_FINE.index("export class Right")],
        "",
    ),
    Trap(
        "a file renamed and changed",
        "a.py#cents",
        _PY_CLONE,
        None,
        {},
        {"money.py": _PY_CLONE.replace("100", "1000")},
    ),
    Trap(
        "a file renamed and changed, lines",
        "a.py:1-3",
        _PY_CLONE,
        None,
        {},
        {"money.py": _PY_CLONE.replace("100", "1000")},
    ),
    Trap(
        "a file renamed and changed, the file",
        "a.py",
        _PY_CLONE,
        None,
        {},
        {"money.py": _PY_CLONE.replace("100", "1000")},
    ),
    Trap(
        "a definition moved and changed",
        "a.py#steps",
        _PY_FINE,
        _PY_FINE[: _PY_FINE.index("def steps")],
        {},
        {"flow.py": _PY_FINE[_PY_FINE.index("def steps") :].replace("    lock(batch)\n", "")},
    ),
    _swap(
        "a function renamed and changed",
        "a.py#cents",
        _PY_CLONE,
        'def cents(amount):\n    """Return an amount in cents."""\n    return int((amount * 100)',
        'def minor(amount):\n    """Return an amount in cents."""\n    return int((amount * 1000)',
    ),
    _swap(
        "a statement more",
        "a.py#steps",
        _PY_FINE,
        "    send(batch)\n",
        "    unlock(batch)\n    send(batch)\n",
    ),
    _swap(
        "a statement more, lines",
        "a.py:18-21",
        _PY_FINE,
        "    send(batch)\n",
        "    unlock(batch)\n    send(batch)\n",
    ),
    _swap("a statement less, lines", "a.py:18-21", _PY_FINE, "    lock(batch)\n", ""),
    _swap(
        "two statements in another order",
        "a.py#steps",
        _PY_FINE,
        "    check(batch)\n    lock(batch)\n",
        "    lock(batch)\n    check(batch)\n",
    ),
    _swap(
        "two statements in another order, lines",
        "a.py:18-21",
        _PY_FINE,
        "    check(batch)\n    lock(batch)\n",
        "    lock(batch)\n    check(batch)\n",
    ),
    _swap("a comma that makes a tuple", "a.py#LIMITS", _PY_FINE, "(4096)", "(4096,)"),
    _swap("a comma that makes a tuple, a line", "a.py:1", _PY_FINE, "(4096)", "(4096,)"),
    _swap("a comma after return", "a.py#rest", _PY_FINE, "return left", "return left,"),
    _swap("a comma after return, lines", "a.py:9-11", _PY_FINE, "return left", "return left,"),
    _swap("a comma less between strings", "a.py#NAMES", _PY_FINE, '"north",', '"north"'),
    _swap("a comma less between strings, lines", "a.py:3-6", _PY_FINE, '"north",', '"north"'),
    _swap("the prefix of a string", "a.py#PREFIX", _PY_FINE, 'PREFIX = "', 'PREFIX = r"'),
    _swap("the prefix of a string, a line", "a.py:2", _PY_FINE, 'PREFIX = "', 'PREFIX = r"'),
    _swap("a string that no longer has fields", "a.py#key", _PY_FINE, 'f"{name}', '"{name}'),
    _swap("parentheses", "a.py#rest", _PY_FINE, "total - (paid - fee)", "total - paid - fee"),
    _swap("parentheses, lines", "a.py:9-11", _PY_FINE, "total - (paid - fee)", "total - paid - fee"),
    _swap("parentheses, TypeScript", "a.ts#price", _TS_FINE, "(net + fee) * count", "net + fee * count"),
    _swap("parentheses, TypeScript, lines", "a.ts:1-4", _TS_FINE, "(net + fee) * count", "net + fee * count"),
    _swap("quotes that make a template", "a.ts#greeting", _TS_FINE, '"Dear ${name}"', "`Dear ${name}`"),
    _swap("quotes that make a template, a line", "a.ts:6", _TS_FINE, '"Dear ${name}"', "`Dear ${name}`"),
    _swap("a gap less in an array", "a.ts#gaps", _TS_FINE, "[1, , 2]", "[1, 2]"),
    _swap("the text of an element", "a.tsx#Confirm", _TSX, "<p>Delete {name}", "<p>Archive {name}"),
    _swap("an attribute of an element", "a.tsx#Confirm", _TSX, "timeout={5}", "timeout={50}"),
    _swap("parentheses, Rust", "a.rs#next", _RUST_FINE, "(seed + 7) * 3", "seed + 7 * 3"),
    _swap("a semicolon that drops the result", "a.rs#next", _RUST_FINE, "step ^ 0xff\n", "step ^ 0xff;\n"),
    _swap(
        "a semicolon that drops the result, lines", "a.rs:1-4", _RUST_FINE, "step ^ 0xff\n", "step ^ 0xff;\n"
    ),
    _swap("a comma less in a tuple", "a.rs#pair", _RUST_FINE, "    (seed,)", "    (seed)"),
    _swap("a comma less in a tuple, lines", "a.rs:11-13", _RUST_FINE, "    (seed,)", "    (seed)"),
    _swap("the prefix of a string, Rust", "a.rs#SEPARATOR", _RUST_FINE, '= "a', '= r"a'),
    _swap("parentheses, Go", "rate.go#Share", _GO_FINE, "(sum - rest) / parts", "sum - rest / parts"),
    _swap("a character that is now a string", "rate.go#Separator", _GO_FINE, "'x'", '"x"'),
    _swap("a character that is now a string, lines", "rate.go:9-11", _GO_FINE, "'x'", '"x"'),
    _swap("quotes that make a raw string", "rate.go#pattern", _GO_FINE, '"a\\d"', "`a\\d`"),
    _swap(
        "parentheses, Java",
        "Rates.java#Rates.share",
        _JAVA_FINE,
        "(sum - rest) / parts",
        "sum - rest / parts",
    ),
    _swap("a character that is now a string, Java", "Rates.java#Rates.separator", _JAVA_FINE, "';'", '";"'),
    _swap("a number in code of Python 2", "old.py:3-4", _PY_OLD, "> 500", "> 900"),
    _swap("a number in a function of Python 2", "old.py#report", _PY_OLD, "> 500", "> 900"),
    _swap("spaces in a string of Python 2", "old.py#report", _PY_OLD, "too many rows", "too  many rows"),
    _swap("a value in a configuration", "nginx.conf:3", _CONF, "25m", "250m"),
    _swap("a comment in a configuration", "nginx.conf:2", _CONF, "# public", "# private"),
    _swap("a tab in a Makefile", "Makefile:2", _MAKEFILE, "\t./deploy", "    ./deploy"),
    Trap(
        "a file renamed and a signature changed, another method is alike",
        "src/options.rs#Builder::strip",
        _RUST_BUILDER,
        None,
        {},
        {"src/builder.rs": _RUST_BUILDER.replace("strip: bool) -> Self", "strip: Option<bool>) -> Self")},
    ),
    Trap(
        "a method deleted, another one is alike",
        "src/options.rs#Builder::strip",
        _RUST_BUILDER,
        _RUST_BUILDER.replace(
            _RUST_BUILDER[
                _RUST_BUILDER.index("    pub fn strip") : _RUST_BUILDER.index("    pub fn offline")
            ],
            "",
        ),
    ),
    Trap(
        "a type moved and one of its methods changed, another method is alike",
        "src/options.rs#Builder::strip",
        f"pub const LIMIT: u32 = 40;\n\n{_RUST_BUILDER}",
        "pub const LIMIT: u32 = 40;\n",
        {},
        {
            "src/build/builder.rs": _RUST_BUILDER.replace(
                "strip: bool) -> Self", "strip: Option<bool>) -> Self"
            )
        },
    ),
)
