"""The same small program in several languages, and the kinds of change that a repository can make to it.

Each sample has the function `charge`, the constant `LIMIT`, the type `Ledger` with the method `post`, and the
function `other`.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from tests.curate.anchors.repo import Repo


class Sample(NamedTuple):
    path: str
    other_path: str
    """Another file of the same language."""
    other_text: str
    function: str
    """The name of the function in evidence."""
    constant: str
    text: str
    comment: str
    """The text with a new comment in the function, as a replacement of `# body`."""
    layout: tuple[str, str]
    signature: tuple[str, str]
    default: tuple[str, str]
    operator: tuple[str, str]
    body: tuple[str, str]
    value: tuple[str, str]
    head: str = ""
    """The beginning that a file needs."""

    def part(self, name: str) -> str:
        """The lines of a part of the sample, which stand between marks."""
        start = self.text.index(f"{self.mark}<{name}>")
        end = self.text.index(f"{self.mark}</{name}>")
        return self.text[self.text.index("\n", start) + 1 : end]

    @property
    def mark(self) -> str:
        return "#" if self.path.endswith((".py", ".rb")) else "//"


PYTHON = Sample(
    "src/pay.py", "src/store.py", "import os\n\n\ndef unrelated(a):\n    return a\n", "charge", "LIMIT",
    '''"""Payments."""
import os

#<constant>
LIMIT = 30
#</constant>


#<other>
def other(value):
    return os.path.join(value, "x")
#</other>


#<function>
def charge(amount: int, fee: int = 2) -> int:
    """Charge an amount."""
    total = amount + fee
    if total > LIMIT:
        raise ValueError("too much")
    return total
#</function>


class Ledger:
    def post(self, entry):
        self.entries.append(entry)
''',
    "    # the fee comes first\n    total = amount + fee",
    ('    if total > LIMIT:\n        raise ValueError("too much")', "    if (\n        total > LIMIT\n    ):\n        raise ValueError('too much')"),
    ("(amount: int, fee", "(amount: int, currency: str, fee"),
    ("fee: int = 2", "fee: int = 3"),
    ("total > LIMIT", "total >= LIMIT"),
    ("return total", "return total * 100"),
    ("LIMIT = 30", "LIMIT = 60"),
)  # fmt: skip

TYPESCRIPT = Sample(
    "src/pay.ts", "src/store.ts", "export function unrelated(a: string) {\n  return a;\n}\n", "charge", "LIMIT",
    """import os from "os";

//<constant>
export const LIMIT = 30;
//</constant>

//<other>
export function other(value: string): string {
  return os.homedir() + value;
}
//</other>

//<function>
export function charge(amount: number, fee: number = 2): number {
  const total = amount + fee;
  if (total > LIMIT) {
    throw new Error("too much");
  }
  return total;
}
//</function>

export class Ledger {
  post(entry: string): void {
    this.entries.push(entry);
  }
}
""",
    "  // the fee comes first\n  const total = amount + fee;",
    ('  if (total > LIMIT) {\n    throw new Error("too much");\n  }', "  if (total > LIMIT)\n  {\n      throw new Error('too much')\n  }"),
    ("(amount: number, fee", "(amount: number, currency: string, fee"),
    ("fee: number = 2", "fee: number = 3"),
    ("total > LIMIT", "total >= LIMIT"),
    ("return total;", "return total * 100;"),
    ("LIMIT = 30", "LIMIT = 60"),
)  # fmt: skip

GO = Sample(
    "pay/pay.go", "pay/store.go", "package pay\n\nfunc unrelated(a string) string {\n\treturn a\n}\n", "Charge", "Limit",
    """package pay

import "os"

//<constant>
const Limit = 30

//</constant>

//<other>
func other(value string) string {
	return os.Getenv(value)
}
//</other>

//<function>
func Charge(amount int, fee int) (int, error) {
	total := amount + fee + 2
	if total > Limit {
		return 0, errors.New("too much")
	}
	return total, nil
}
//</function>

type Ledger struct {
	entries []string
}

func (l *Ledger) Post(entry string) {
	l.entries = append(l.entries, entry)
}
""",
    "\t// the fee comes first\n\ttotal := amount + fee",
    ("\tif total > Limit {\n\t\treturn 0", "\tif   total > Limit {\n\n\t\t\treturn 0"),
    ("(amount int, fee", "(amount int, currency string, fee"),
    ("fee + 2", "fee + 3"),
    ("total > Limit", "total >= Limit"),
    ("return total, nil", "return total * 100, nil"),
    ("Limit = 30", "Limit = 60"),
    "package pay\n\n",
)  # fmt: skip

RUST = Sample(
    "src/pay.rs", "src/store.rs", "pub fn unrelated(a: u32) -> u32 {\n    a\n}\n", "charge", "LIMIT",
    """use std::env;

//<constant>
pub const LIMIT: u32 = 30;
//</constant>

//<other>
pub fn other(value: &str) -> String {
    env::var(value).unwrap()
}
//</other>

//<function>
#[inline]
pub fn charge(amount: u32, fee: u32) -> Result<u32, String> {
    let total = amount + fee + 2;
    if total > LIMIT {
        return Err("too much".to_string());
    }
    Ok(total)
}
//</function>

pub struct Ledger {
    entries: Vec<String>,
}

impl Ledger {
    pub fn post(&mut self, entry: String) {
        self.entries.push(entry);
    }
}
""",
    "    // the fee comes first\n    let total = amount + fee",
    ('    if total > LIMIT {\n        return Err("too much".to_string());', '    if total > LIMIT\n    {\n        return Err( "too much".to_string() );'),
    ("(amount: u32, fee", "(amount: u32, currency: &str, fee"),
    ("fee + 2", "fee + 3"),
    ("total > LIMIT", "total >= LIMIT"),
    ("Ok(total)", "Ok(total * 100)"),
    ("LIMIT: u32 = 30", "LIMIT: u32 = 60"),
)  # fmt: skip

JAVA = Sample(
    "src/Pay.java", "src/Store.java", "class Store {\n    int unrelated(int a) {\n        return a;\n    }\n}\n",
    "charge", "LIMIT",
    """package pay;

class Pay {
//<constant>
    static final int LIMIT = 30;
//</constant>

//<other>
    String other(String value) {
        return System.getenv(value);
    }
//</other>

//<function>
    @Deprecated
    int charge(int amount, int fee) {
        int total = amount + fee + 2;
        if (total > LIMIT) {
            throw new IllegalStateException("too much");
        }
        return total;
    }
//</function>
}

class Ledger {
    void post(String entry) {
        entries.add(entry);
    }
}
""",
    "        // the fee comes first\n        int total = amount + fee",
    ("        if (total > LIMIT) {\n            throw", "        if (total > LIMIT)\n        {\n                throw"),
    ("(int amount, int fee", "(int amount, String currency, int fee"),
    ("fee + 2", "fee + 3"),
    ("total > LIMIT", "total >= LIMIT"),
    ("return total;", "return total * 100;"),
    ("LIMIT = 30", "LIMIT = 60"),
)  # fmt: skip

SAMPLES: Mapping[str, Sample] = {
    "python": PYTHON, "typescript": TYPESCRIPT, "go": GO, "rust": RUST, "java": JAVA,
}  # fmt: skip


def replaced(repo: Repo, sample: Sample, change: tuple[str, str]) -> None:
    repo.replace(sample.path, *change)


def moved_definition(repo: Repo, sample: Sample) -> None:
    part = sample.part("function")
    repo.replace(sample.path, part, "")
    text = repo.read(sample.other_path)
    if sample.path.endswith(".java"):
        repo.write(sample.other_path, text.rstrip().removesuffix("}") + part + "}\n")
    else:
        repo.write(sample.other_path, f"{text}\n\n{part}")


def swapped(repo: Repo, sample: Sample) -> None:
    """The function and the other one change places."""
    one, other = sample.part("function"), sample.part("other")
    text = repo.read(sample.path).replace(one, "@@").replace(other, one).replace("@@", other)
    repo.write(sample.path, text)


def renamed_symbol(repo: Repo, sample: Sample) -> None:
    repo.replace(sample.path, sample.function, "billCustomer")


def changed_line_ends(repo: Repo, sample: Sample) -> None:
    repo.write(sample.path, repo.read(sample.path).replace("\n", "\r\n"))


def with_mark(repo: Repo, sample: Sample) -> None:
    repo.write(sample.path, b"\xef\xbb\xbf" + repo.read(sample.path).encode())


def reverted(repo: Repo, sample: Sample) -> None:
    before = repo.read(sample.path)
    replaced(repo, sample, sample.body)
    repo.commit("body")
    repo.write(sample.path, before)


def moved_and_changed(repo: Repo, sample: Sample) -> None:
    replaced(repo, sample, sample.body)
    repo.move(sample.path, f"lib/{sample.path}")


def moved_twice(repo: Repo, sample: Sample) -> None:
    repo.move(sample.path, f"one/{sample.path}")
    repo.commit("first move")
    repo.move(f"one/{sample.path}", f"two/new-{sample.path.rpartition('/')[2]}")


CHANGES: Mapping[str, tuple[str, Callable[[Repo, Sample], None]]] = {
    "nothing": ("unchanged", lambda repo, sample: None),
    "comment": ("reformatted", lambda repo, sample: replaced(repo, sample, (sample.comment.split("\n")[1], sample.comment))),
    "layout": ("reformatted", lambda repo, sample: replaced(repo, sample, sample.layout)),
    "line ends": ("reformatted", changed_line_ends),
    "byte order mark": ("unchanged", with_mark),
    "rename of the file": ("moved", lambda repo, sample: repo.move(sample.path, f"lib/{sample.path}")),
    "two renames of the file": ("moved", moved_twice),
    "move of the definition": ("moved", moved_definition),
    "move in the file": ("unchanged", swapped),
    "rename of the symbol": ("moved", renamed_symbol),
    "signature": ("changed", lambda repo, sample: replaced(repo, sample, sample.signature)),
    "default value": ("changed", lambda repo, sample: replaced(repo, sample, sample.default)),
    "operator": ("changed", lambda repo, sample: replaced(repo, sample, sample.operator)),
    "body": ("changed", lambda repo, sample: replaced(repo, sample, sample.body)),
    "move and change": ("changed", moved_and_changed),
    "deletion of the function": ("gone", lambda repo, sample: repo.replace(sample.path, sample.part("function"), "")),
    "deletion of the file": ("gone", lambda repo, sample: (repo.folder / sample.path).unlink()),
    "another function": ("unchanged", lambda repo, sample: replaced(repo, sample, ("other", "another"))),
    "another constant": ("unchanged", lambda repo, sample: replaced(repo, sample, sample.value)),
    "copy of the file": ("unchanged", lambda repo, sample: repo.write(f"copy/{sample.path}", sample.text)),
    "revert": ("unchanged", reverted),
    "lines above": ("unchanged", lambda repo, sample: repo.write(sample.path, sample.text.replace(sample.part("other"), sample.part("other") * 1 + "\n\n\n", 1))),
}  # fmt: skip
"""Each kind of change, with the state of evidence that names the function."""
