"""The chain names each damage by its line, and two histories become one."""

import json
import os
import re
import subprocess
from functools import partial
from hashlib import sha256

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentplane.errors import BadInput, Damaged
from agentplane.text import files
from agentplane.text.log import chain
from agentplane.text.log.chain import GENESIS, Fault, Report


TS = "2026-01-27T10:15:02Z"
kinds = st.sampled_from(["go on", "go on", "go on", "fork", "merge"])
plans = st.lists(st.tuples(kinds, st.integers(0, 1000)), min_size=1, max_size=12)
straight_plans = st.lists(st.just(("go on", 0)), min_size=3, max_size=8)


def event(n, **more):
    return {"actor": "mia", "kind": "op", "n": n, "ts": TS, **more}


def straight(count, prev=GENESIS, name=""):
    made = []
    for n in range(count):
        made.append(chain.link(event(n, task=f"Größe {name}"), prev))
        prev = chain.hash_of(made[-1])
    return made


def grown(plan, salt=""):
    """A log with branches that go on from any event and are merged in any way."""
    made = [chain.link(event(0, salt=salt), GENESIS)]
    tips = {chain.hash_of(made[0])}
    for n, (what, pick) in enumerate(plan, 1):
        if what == "merge" and len(tips) > 1:
            made.append(chain.join(sorted(tips)[:2], TS))
            tips -= set(sorted(tips)[:2])
        else:
            parents = [chain.hash_of(line) for line in made] if what == "fork" else sorted(tips)
            parent = parents[pick % len(parents)]
            made.append(chain.link(event(n, salt=salt, note='"hash_prev":"'), parent))
            tips.discard(parent)
        tips.add(chain.hash_of(made[-1]))
    return made, tips


def fault_lines(lines):
    return [fault.line for fault in chain.verify_lines(lines).faults]


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"".join(straight(5)))
    return path


class TestLink:
    def test_line(self):
        line = chain.link({"b": 1, "i": 2}, GENESIS)
        content, _, rest = line.partition(b',"hash_self":"')
        assert content == b'{"b":1,"hash_prev":"' + b"0" * 64 + b'","i":2'
        assert rest == sha256(content).hexdigest().encode() + b'"}\n'
        assert chain.hash_of(line) == json.loads(line)["hash_self"] == sha256(content).hexdigest()

    def test_an_event_with_no_keys(self):
        assert chain.verify_lines([chain.link({}, GENESIS)]).faults == ()

    @pytest.mark.parametrize(
        "bad",
        [
            {"hash_prev": "0" * 64},
            {"hash_self": "x"},
            {"deep": [{"hash_prev": None}]},
            {"deep": {"hash_self": {}}},
            {'odd"hash_prev': 1},
            {'odd"hash_self': 1},
        ],
    )
    def test_reserved_keys(self, bad):
        with pytest.raises(BadInput, match="reserved"):
            chain.link(bad, GENESIS)

    def test_reserved_words_as_text(self):
        text = ["hash_prev", '"hash_prev":"', '","hash_self":"', {"hash_prev ": 1}]
        assert chain.verify_lines([chain.link({"text": text}, GENESIS)]).faults == ()

    @pytest.mark.parametrize("prev", ["", "0" * 63, "F" * 64, "0" * 64 + "\n", "ü" * 64])
    def test_what_is_no_hash(self, prev):
        with pytest.raises(BadInput, match="isn't the hash of an event"):
            chain.link({}, prev)

    def test_a_merge_is_made_by_join(self):
        with pytest.raises(BadInput, match="joining"):
            chain.link({"kind": "merge", "heads": []}, GENESIS)

    def test_errors_name_the_field(self):
        with pytest.raises(BadInput, match=r"^a\.b: "):
            chain.link({"a": {"b": {1}}}, GENESIS)

    def test_hash_of_no_event(self):
        with pytest.raises(Damaged):
            chain.hash_of(b"{}\n")


class TestJoin:
    def test_is_the_same_for_everyone(self):
        heads = ["b" * 64, "a" * 64, "c" * 64]
        line = chain.join(heads, TS)
        assert line == chain.join([*reversed(heads), "a" * 64], TS)
        read = json.loads(line)
        assert read["hash_prev"] == "a" * 64
        assert read["heads"] == sorted(heads)
        assert (read["kind"], read["ts"]) == ("merge", TS)

    @pytest.mark.parametrize(
        ("heads", "ts", "where"),
        [
            (["a" * 64], TS, "heads"),
            (["a" * 64] * 2, TS, "heads"),
            ([], TS, "heads"),
            (["a" * 64, "x"], TS, "heads"),
            (["a" * 64, "b" * 64], 'no"time', "ts"),
            (["a" * 64, "b" * 64], "no\ntime", "ts"),
        ],
    )
    def test_refuses(self, heads, ts, where):
        with pytest.raises(BadInput) as caught:
            chain.join(heads, ts)
        assert caught.value.where == where


class TestVerify:
    def test_empty(self):
        nothing = Report(count=0, heads=(), faults=(), torn=None)
        assert chain.verify_lines([]) == nothing

    def test_missing_file(self, tmp_path):
        with pytest.raises(Damaged, match="doesn't exist"):
            chain.verify(tmp_path / "none")

    @given(plans)
    def test_any_history(self, plan):
        lines, tips = grown(plan)
        report = chain.verify_lines(lines)
        assert (report.count, set(report.heads), report.faults, report.torn) == (len(lines), tips, (), None)

    @given(plans, st.data())
    def test_any_byte(self, plan, data):
        lines, _ = grown(plan)
        at = data.draw(st.integers(0, len(lines) - 1))
        offset = data.draw(st.integers(0, len(lines[at]) - 1))
        byte = data.draw(st.integers(0, 255).filter(lambda byte: byte != lines[at][offset]))
        changed = bytearray(b"".join(lines))
        changed[len(b"".join(lines[:at])) + offset] = byte
        report = chain.verify_lines(split(bytes(changed)))
        named = [fault.line for fault in report.faults] + ([report.torn] if report.torn else [])
        assert named[:1] == [at + 1]
        # A byte that became a newline makes two lines of one, neither of which is an event.
        assert set(named) <= ({at + 1, at + 2} if byte == ord("\n") else {at + 1})

    @given(straight_plans, st.data())
    def test_a_removed_line(self, plan, data):
        lines, _ = grown(plan)
        at = data.draw(st.integers(0, len(lines) - 2))
        report = chain.verify_lines(lines[:at] + lines[at + 1 :])
        gone = "this line follows an event that isn't above it, so a line was removed or moved"
        assert report.faults == (Fault(at + 1, gone),)
        assert report.heads == (chain.hash_of(lines[-1]),)

    @given(plans, st.data())
    def test_a_removed_line_of_any_history(self, plan, data):
        """Named at the first line that follows it; what nothing follows can go unseen."""
        lines, _ = grown(plan)
        at = data.draw(st.integers(0, len(lines) - 1))
        name = chain.hash_of(lines[at]).encode()
        followers = [n for n, line in enumerate(lines) if n > at and name in line]
        assert fault_lines(lines[:at] + lines[at + 1 :]) == followers[:1]

    @given(straight_plans, st.data())
    def test_swapped_lines(self, plan, data):
        lines, _ = grown(plan)
        first = data.draw(st.integers(0, len(lines) - 2))
        second = data.draw(st.integers(first + 1, len(lines) - 1))
        lines[first], lines[second] = lines[second], lines[first]
        report = chain.verify_lines(lines)
        assert report.faults[0].line == first + 1
        assert "line was removed or moved" not in str(report.faults)
        assert "which is further down" in report.faults[0].what
        assert report.count == len(lines)
        # The two lines, and those between them that follow one of them.
        assert {fault.line for fault in report.faults} <= set(range(first + 1, second + 2))

    def test_swapped_neighbours_are_one_fault(self):
        a, b, c, d = straight(4)
        report = chain.verify_lines([a, c, b, d])
        assert report.faults == (Fault(2, "this line follows line 3, which is further down"),)
        assert report.heads == (chain.hash_of(d),)

    @given(plans, st.data())
    def test_a_repeated_line(self, plan, data):
        lines, tips = grown(plan)
        at = data.draw(st.integers(0, len(lines) - 1))
        to = data.draw(st.integers(at + 1, len(lines)))
        report = chain.verify_lines([*lines[:to], lines[at], *lines[to:]])
        assert report.faults == (Fault(to + 1, f"this line repeats line {at + 1}", repeats=at + 1),)
        assert set(report.heads) == tips

    @given(plans, st.data())
    def test_an_inserted_line(self, plan, data):
        """One that is well linked is no fault: it shows as a head that nobody knows."""
        lines, tips = grown(plan)
        at = data.draw(st.integers(1, len(lines)))
        forged = chain.link(event(-1), chain.hash_of(lines[data.draw(st.integers(0, at - 1))]))
        report = chain.verify_lines([*lines[:at], forged, *lines[at:]])
        assert report.faults == ()
        assert chain.hash_of(forged) in report.heads
        assert tips - set(report.heads) <= {json.loads(forged)["hash_prev"]}

    @given(plans, st.data(), st.binary(max_size=200).filter(lambda text: b"\n" not in text))
    def test_inserted_garbage(self, plan, data, garbage):
        lines, tips = grown(plan)
        at = data.draw(st.integers(0, len(lines)))
        garbage = garbage.lstrip(b"\0") + b"\n"
        report = chain.verify_lines([*lines[:at], garbage, *lines[at:]])
        named = {fault.line for fault in report.faults}
        assert named == {at + 1}
        assert set(report.heads) == tips

    def test_a_forged_line_that_follows_nothing(self):
        lines = straight(4)
        forged = chain.link(event(9), "f" * 64)
        assert fault_lines([*lines[:2], forged, *lines[2:]]) == [3]

    @pytest.mark.parametrize(
        ("odd", "what"),
        [
            (b"\n", "this line is blank"),
            (b"  \t\n", "this line is blank"),
            (b"\r\n", "this line is blank"),
            (b"<<<<<<< ours\n", "conflict mark"),
            (b"=======\n", "conflict mark"),
            (b'{"kind":"op"}\n', "this line isn't an event"),
            (b"\xff\n", "isn't valid UTF-8"),
        ],
    )
    def test_says_what_is_odd(self, odd, what):
        lines = straight(4)
        faults = chain.verify_lines([*lines[:2], odd, *lines[2:]]).faults
        assert {fault.line for fault in faults} == {3}
        assert what in faults[-1].what

    def test_the_text_is_what_was_changed(self):
        lines = straight(4)
        lines[1] = lines[1].replace(b"mia", b"eve")
        assert chain.verify_lines(lines).faults == (
            Fault(2, "the hash of this line doesn't match, so the line was changed"),
        )
        lines[1] = lines[1].replace(b"eve", b"\xff\xfe\xfd")
        assert chain.verify_lines(lines).faults == (
            Fault(2, "this line isn't valid UTF-8, so it was changed"),
        )

    def test_a_log_in_crlf_is_one_fault(self):
        lines = [line[:-1] + b"\r\n" for line in straight(5)]
        report = chain.verify_lines(lines)
        assert report.faults == (Fault(1, "this line ends in CRLF instead of LF", lines=5),)
        assert report.count == 5

    def test_one_line_in_crlf(self):
        lines = straight(5)
        lines[2] = lines[2][:-1] + b"\r\n"
        assert chain.verify_lines(lines).faults == (Fault(3, "this line ends in CRLF instead of LF"),)

    def test_a_log_in_itself(self):
        lines = straight(5)
        assert chain.verify_lines(lines * 2).faults == (
            Fault(6, "this line repeats line 1", lines=5, repeats=1),
        )

    def test_damages_apart_from_each_other(self):
        lines = straight(12)
        lines[2] = lines[2].replace(b"mia", b"eve")
        lines[5] = b"garbage\n"
        lines.insert(9, lines[1])
        del lines[10]
        assert fault_lines(lines) == [3, 6, 10, 11]

    @pytest.mark.parametrize(
        "content",
        [
            b'{"kind":"op"',
            b'"hash_prev":"' + b"0" * 64 + b'"',
            b'{"hash_prev":"' + b"0" * 64 + b'","a":{"hash_prev":"' + b"0" * 64 + b'"}',
            b'{"a":"\xff","hash_prev":"' + b"0" * 64 + b'"',
            b'{"hash_prev":"' + b"0" * 63 + b'"',
            b'{"hash_prev":"0","heads":["0"],"kind":"merge","ts":""',
        ],
    )
    def test_a_hash_that_fits_does_not_make_an_event(self, content):
        line = content + b',"hash_self":"' + sha256(content).hexdigest().encode() + b'"}\n'
        assert fault_lines([line]) == [1]

    @pytest.mark.parametrize("order", ["ba", "aa", "ab"])
    def test_a_merge_names_its_heads_in_order(self, order):
        base = straight(1)[0]
        tips = [chain.link(event(n), chain.hash_of(base)) for n in (1, 2)]
        named = dict(zip("ab", sorted(map(chain.hash_of, tips)), strict=True))
        content = chain.join(list(named.values()), TS).partition(b',"hash_self"')[0]
        heads = "[" + ",".join(f'"{named[name]}"' for name in order) + "]"
        content = re.sub(rb"\[.*\]", heads.encode(), content)
        line = content + b',"hash_self":"' + sha256(content).hexdigest().encode() + b'"}\n'
        assert fault_lines([base, *tips, line]) == ([] if order == "ab" else [4])

    def test_many_heads_are_no_fault(self):
        base, *_ = straight(1)
        tips = [chain.link(event(n), chain.hash_of(base)) for n in range(1, 5)]
        report = chain.verify_lines([base, *tips])
        assert report.faults == ()
        assert report.heads == tuple(map(chain.hash_of, tips))

    def test_a_damaged_branch_that_is_merged_later(self):
        """The merge names a hash that no line states any more; it is not blamed for that."""
        base = straight(1)[0]
        a, b = (chain.link(event(n), chain.hash_of(base)) for n in (1, 2))
        merge = chain.join([chain.hash_of(a), chain.hash_of(b)], TS)
        assert fault_lines([base, b"garbage\n", b, merge]) == [2]
        misstated = b[:-4] + (b"1" if b[-4:-3] == b"0" else b"0") + b[-3:]
        assert fault_lines([base, a, misstated, merge]) == [3]


class TestTorn:
    @given(plans, st.data())
    @settings(deadline=None)
    def test_cut_at_any_byte(self, tmp_path_factory, plan, data):
        """A clean beginning of the log, or that and a torn line; mending keeps every complete line."""
        path = tmp_path_factory.mktemp("log") / "log"
        lines, _ = grown(plan)
        whole = b"".join(lines)
        cut = data.draw(st.integers(0, len(whole)))
        zeros = data.draw(st.sampled_from([0, 0, 1, 600]))
        path.write_bytes(whole[:cut] + b"\0" * zeros)
        full = whole[:cut].count(b"\n")
        begin = len(b"".join(lines[:full]))
        is_torn = begin < cut + zeros
        report = chain.verify(path)
        assert (report.count, report.faults) == (full, ())
        assert report.torn == (full + 1 if is_torn else None)
        head = chain.hash_of(lines[full - 1]) if full else None
        assert chain.tail(path) == chain.Tail(cut + zeros, head, begin if is_torn else None)
        assert [line for _, line in chain.lines(path)] == lines[:full]

        said = chain.mend_torn(path)
        assert (said is not None) == is_torn
        only_newline = full < len(lines) and cut == begin + len(lines[full]) - 1
        assert path.read_bytes() == b"".join(lines[: full + only_newline])
        assert chain.mend_torn(path) is None

    def test_says_what_it_did(self, log):
        whole = log.read_bytes()
        log.write_bytes(whole[:-1])
        assert chain.mend_torn(log) == "added the missing newline to the last line"
        log.write_bytes(whole[:-1] + b"\r")
        assert chain.mend_torn(log) == "added the missing newline to the last line"
        assert log.read_bytes() == whole
        log.write_bytes(whole + b"{half")
        assert chain.mend_torn(log) == "removed the incomplete last line (5 bytes)"
        assert log.read_bytes() == whole

    def test_the_first_block_of_a_line_did_not_arrive(self, log):
        """The file system wrote the end of the line, newline and all, and zeros before it."""
        whole = log.read_bytes()
        begin = whole[:-1].rindex(b"\n") + 1
        log.write_bytes(whole[:begin] + b"\0" * 100 + whole[begin + 100 :])
        assert chain.verify(log).torn == 5
        assert chain.tail(log).torn_at == begin
        assert chain.mend_torn(log).startswith("removed the incomplete last line")
        assert log.read_bytes() == whole[:begin]

    def test_damage_that_is_no_tear_is_not_cut_off(self, log):
        """A complete line may have been trusted by somebody: only a person decides about it."""
        damaged = log.read_bytes()[:-4] + b'x"}\n'
        log.write_bytes(damaged)
        assert [fault.line for fault in chain.verify(log).faults] == [5]
        assert chain.mend_torn(log) is None
        assert log.read_bytes() == damaged

    def test_an_event_behind_zeros_is_no_tear(self, log):
        """It was written to its end; before it, something else was not."""
        line = chain.link(event(5), chain.tail(log).head)
        files.append(log, b"\0\0\0" + line)
        whole = log.read_bytes()
        report = chain.verify(log)
        assert report.faults == (Fault(6, "the hash of this line doesn't match, so the line was changed"),)
        assert (report.torn, report.heads) == (None, (chain.hash_of(line),))
        assert chain.tail(log) == chain.Tail(len(whole), chain.hash_of(line), None)
        assert chain.mend_torn(log) is None
        assert log.read_bytes() == whole

    def test_only_the_last_line_is_torn(self):
        a, b, c = straight(3)
        report = chain.verify_lines([a, b"\0\0\n", b, c])
        assert report.torn is None
        assert [fault.line for fault in report.faults] == [2]

    def test_mending_that_is_interrupted_is_taken_up(self, log, monkeypatch):
        whole = log.read_bytes()
        log.write_bytes(whole[:-1] + b"\0" * 9)

        def full(path, data):
            raise Damaged("no space")

        with monkeypatch.context() as patch:
            patch.setattr(files, "append", full)
            with pytest.raises(Damaged):
                chain.mend_torn(log)
        assert chain.mend_torn(log)
        assert log.read_bytes() == whole


class TestTail:
    def test_of_nothing(self, tmp_path):
        (tmp_path / "log").touch()
        assert chain.tail(tmp_path / "log") == chain.Tail(size=0, head=None, torn_at=None)
        with pytest.raises(Damaged, match="doesn't exist"):
            chain.tail(tmp_path / "none")

    @pytest.mark.parametrize("length", [10, 65_000, 65_536, 200_000])
    def test_a_long_last_line(self, log, length):
        line = chain.link({"text": "x" * length}, chain.tail(log).head)
        offset = files.append(log, line)
        assert chain.tail(log) == chain.Tail(offset + len(line), chain.hash_of(line), None)
        files.append(log, b"y" * length)
        assert chain.tail(log).torn_at == offset + len(line)
        assert chain.verify(log).torn == 7

    def test_reads_only_the_end(self, log, monkeypatch):
        log.write_bytes(b"".join(straight(3000)))
        taken = []
        between = chain._between

        def counting(stream, begin, end):
            taken.append(end - begin)
            return between(stream, begin, end)

        monkeypatch.setattr(chain, "_between", counting)
        assert chain.tail(log).head
        assert sum(taken) < 200_000 < log.stat().st_size

    def test_a_last_line_that_is_no_event(self, log):
        files.append(log, b">>>>>>> theirs\n")
        with pytest.raises(Damaged, match="last line of the log isn't an event"):
            chain.tail(log)

    def test_lines_from_an_offset(self, log):
        every = list(chain.lines(log))
        assert [offset for offset, _ in every] == [sum(len(x) for _, x in every[:n]) for n in range(5)]
        assert list(chain.lines(log, every[3][0])) == every[3:]
        assert list(chain.lines(log, log.stat().st_size)) == []

    def test_never_through_a_link(self, log):
        link = log.with_name("link")
        link.symlink_to(log)
        for reads in (chain.verify, chain.tail, chain.mend_torn, lambda path: list(chain.lines(path))):
            with pytest.raises(Damaged, match="symbolic link"):
                reads(link)


class TestMerge:
    def test_git_merges_with_union(self, tmp_path):
        git = partial(subprocess.run, cwd=tmp_path, check=True, capture_output=True, env=git_environment())
        base = straight(2)
        (tmp_path / ".gitattributes").write_text("log.jsonl merge=union\n")
        log = tmp_path / "log.jsonl"
        log.write_bytes(b"".join(base))
        git(["git", "init", "-q", "-b", "main"])
        git(["git", "add", "-A"])
        git(["git", "commit", "-qm", "base"])
        for name in ("ours", "theirs"):
            git(["git", "checkout", "-qb", name, "main"])
            log.write_bytes(b"".join(base + branch(base, [("go on", 0)] * 3, name)))
            git(["git", "commit", "-qam", name])
        git(["git", "merge", "-q", "ours"])
        report = chain.verify(log)
        assert (report.count, len(report.heads), report.faults) == (8, 2, ())
        files.append(log, chain.join(report.heads, TS))
        joined = chain.verify(log)
        assert (joined.count, len(joined.heads), joined.faults) == (9, 1, ())


def branch(base, plan, salt):
    """The lines that a clone adds to a log."""
    made, prev = [], chain.hash_of(base[-1])
    for n, _ in enumerate(plan):
        made.append(chain.link(event(n, salt=salt), prev))
        prev = chain.hash_of(made[-1])
    return made


def split(log):
    return [line + b"\n" for line in log.split(b"\n")[:-1]] + [line for line in log.split(b"\n")[-1:] if line]


def git_environment():
    return {
        **os.environ,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        **{f"GIT_{who}_{what}": "mia@x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }


def test_lines_that_follow_a_head_are_told_without_what_is_above() -> None:
    first = chain.link({"actor": "Ada", "kind": "op", "n": 1}, GENESIS)
    second = chain.link({"actor": "Ada", "kind": "op", "n": 2}, chain.hash_of(first))
    third = chain.link({"actor": "Ada", "kind": "op", "n": 3}, chain.hash_of(second))
    head = chain.hash_of(first)
    assert chain.follow([second, third], head) == (2, chain.hash_of(third))
    assert chain.follow([], head) == (0, head)
    assert chain.follow([third], head) is None
    assert chain.follow([second, third.replace(b'"n":3', b'"n":4')], head) is None
