#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nothing that a run reads is replaced by what it writes, and no two outputs are one file: every input of every tool
against every output, by name, by a way round, by symbolic and hard links, the other way round, too; all refused with
exit code 2, and every file as it was. Then - where it is no pipe, an empty name, reports on what is no report, and processes of a launcher
that would write one output.
usage: check_overwrites.py BIN_FOLDER TOOL... [--all]; with --all each pair in all of the ways. Without it every input against one of
the outputs and every output against one input and one output, each in one of the ways in turn; - in the place of every operand and
option of each tool once; reports by one command of each tool."""
import os
import sys
import tempfile

import tool_commands as commands
from tool_commands import COMMANDS, files_below, fresh, kind_of, put, run

everything = "--all" in sys.argv
folder = os.path.abspath(sys.argv[1])
tools = [name for name in sys.argv[2:] if not name.startswith("--")]


def symbolic(of, name):
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    os.symlink(os.path.relpath(of, os.path.dirname(name) or "."), name)


def hard(of, name):
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    os.link(of, name)


def by_name(command, first, second):
    return {second: first} if named(command, second) and fits(command, first, second) else None


def round_about(command, first, second):
    return {second: f"v/../{first}"} if named(command, second) and fits(command, first, second) else None


def link_as_second(make):
    """What the run will write is there: a link to the first."""
    def way(command, first, second):
        if os.path.isdir(first):
            return None
        make(first, second)
        return {}
    return way


def link_as_first(make):
    """The first is read under the name of a link, and the run writes to what that leads to."""
    def way(command, first, second):
        link = "z-" + os.path.basename(first)
        if not named(command, first) or not named(command, second) or not fits(command, first, second):
            return None
        if first in command.writes:
            return None
        make(first, link)
        return {first: link, second: first}
    return way


WAYS = [by_name, link_as_second(symbolic), link_as_second(hard), round_about, link_as_first(symbolic), link_as_first(hard)]


def named(command, name):
    return any(f"{{{name}}}" in word for word in command.words)


def fits(command, first, second):
    """modalmesh writes .msh only, which none of its inputs here is called."""
    return not (command.tool == "modalmesh" and second.endswith(".msh")) and not os.path.isdir(first)


def refused(words, what, says=None):
    before = files_below()
    got = run(words, code=None)
    text = got.stderr.decode()
    assert got.returncode == 2, (what, words[1:], got.returncode, text)
    error = text.rstrip("\n").split("\n")[-1]  # notes may come before it
    assert error.startswith(os.path.basename(words[0]) + ": ") and (says is None or says in error), (what, words[1:], text)
    after = files_below()
    told = {"r.json"} - set(what)  # a report may say what was wrong
    changed = [n for n in before if after.get(n) != before[n] and n not in told]
    new = set(after) - set(before) - {"r.json"}
    assert not changed and not new, (what, words[1:], changed, new)
    return text


def chosen(command):
    """Which files of a command are to meet."""
    reads, writes = command.reads, command.writes
    if everything:
        return [(r, w) for r in reads for w in writes] + [(a, b) for a in writes for b in writes if a != b]
    n, m = len(reads), len(writes)
    met = [(reads[i % n], writes[i % m]) for i in range(max(n, m))]
    return met + [(writes[i], writes[(i + 1) % m]) for i in range(m) if m > 1]


def pairs():
    n, turn = 0, 0
    for command in (c for c in COMMANDS if c.tool in tools):
        for first, second in chosen(command):
            turn += 1
            done = 0
            for k in range(len(WAYS)):
                if done and not everything:
                    break
                fresh("../inputs")
                if first in command.writes:  # two outputs: one is there, the other leads to it; or both will be the same
                    os.makedirs(os.path.dirname(first) or ".", exist_ok=True)
                    if WAYS[(turn + k) % len(WAYS)] is not by_name:
                        put(first, ["an older output"])
                names = WAYS[(turn + k) % len(WAYS)](command, first, second)
                if names is None:
                    continue
                done += 1
                for force in ([], ["-f"]) if command.force and everything else [["-f"] * command.force]:
                    n += 1
                    refused(command.line(folder, **names) + force, (first, second))
    return n


def frames():
    """A folder of frames is replaced with all that is in it."""
    if "modaldeform" in tools:
        fresh("../inputs")
        os.makedirs("o/ply")
        os.rename("t.h5", "o/ply/000000.ply")
        refused([f"{folder}/modaldeform", "o/ply/000000.ply", "o", "--basis", "a.h5", "--format", "ply", "-f"], [])
        refused([f"{folder}/modaldeform", "v/../o/ply/000000.ply", "o", "--basis", "a.h5", "--format", "ply", "-f"], [])


def works():
    """The commands are what they seem: without a conflict each is done."""
    for command in (c for c in COMMANDS if c.tool in tools and c.tool != "modalbench"):
        fresh("../inputs")
        before = files_below()
        run(command.line(folder))
        after = files_below()
        assert all(after[n] == before[n] for n in before), command.words
        assert all(w in after for w in command.writes if not w.endswith((".part", ".journal"))), command.words


def pipes():
    tried = set()
    for command in (c for c in COMMANDS if c.tool in tools):
        fresh("../inputs")
        words = command.line(folder)
        first = 2 if command.tool == "modaltex" else 1 # after the command
        operands = [i for i in range(first, len(words)) if not words[i].startswith("-")
                    and not (words[i - 1].startswith("--") and words[i - 1] not in ("--check", "--quick"))]
        options = [i for i in range(2, len(words)) if words[i - 1].startswith("--") and words[i - 1][2:] in files[command.tool]]
        for i in operands + options:
            given = [*words[:i], "-", *words[i + 1:]]
            kind = operands.index(i) if i in operands else words[i - 1]
            if kind in ("--report", "--json") or command.tool == "modalbench" and i in operands:
                continue
            if (" ".join(kind_of(command)).strip(), kind) in commands.PIPES:
                continue
            if (*kind_of(command), kind) in tried and not everything:
                continue
            tried.add((*kind_of(command), kind))
            text = refused(given, ["-"])
            assert "cannot be standard" in text, (given, text)
            text = refused([*words[:i], "", *words[i + 1:]], [""])
            assert "needs a name, is empty" in text, (words[:i], text)
    if "modalinfo" in tools:
        fresh("../inputs")
        for name in ("t.h5", "a.h5", "v/sequence.vtkhdf"):
            with open(name, "rb") as file:
                body = file.read()
            want = run([f"{folder}/modalinfo", name]).stdout.decode().replace(name, "standard input", 1)
            got = run([f"{folder}/modalinfo", "-"], stdin=None, input=body).stdout.decode()
            assert got == want, (name, got, want)
            got = run([f"{folder}/modalinfo", "--check", "-"], stdin=None, input=body).stdout.decode()
            assert got.startswith("standard input: valid "), got
        for body in (b"", b"{}", b"rubbish"):
            text = run([f"{folder}/modalinfo", "-"], code=3, stdin=None, input=body).stderr.decode()
            assert text.startswith("modalinfo: standard input: ") and "/proc" not in text, text
        # what lies in an output's folder and is not of it
        for name in ("rest.obj", "sequence.vtkhdf.part", "sequence.pc2.tmp-01234567", "manifest.json.commit"):
            put(f"v/{name}", ["something"])
            text = run([f"{folder}/modalinfo", "--check", "v"], code=1).stdout.decode()
            assert text == f"v: {name}: not named by the manifest\n", text
            os.remove(f"v/{name}")
        put("v/notes.txt", ["mine"])
        got = run([f"{folder}/modalinfo", "--check", "v"])
        assert b"notes.txt: not named by the manifest" in got.stderr and b"valid output" in got.stdout, got


def reports():
    """A report replaces an older one, or an empty file, and nothing else, however the run ends."""
    tried = set()
    for command in (c for c in COMMANDS if c.tool in tools and c.tool != "modalbench"):
        if kind_of(command) in tried and not everything:
            continue
        tried.add(kind_of(command))
        fresh("../inputs")
        put("r.json", ["{", ' "tool": "modal"', "}"])
        refused(command.line(folder), ["r.json"], "--report: exists, and is not a report of a tool, r.json")
        with open("r.json", "w", encoding="utf-8"):
            pass
        for _ in range(2):
            run(command.line(folder) + ["-f"] * command.force)
            with open("r.json", encoding="utf-8") as file:
                assert file.read().startswith('{\n  "tool": "' + command.tool), command.words


def launched():
    """Processes of an MPI launcher that would all write one output are refused before they begin, by every tool."""
    tried = set()
    for command in (c for c in COMMANDS if c.tool in tools and c.tool not in tried):
        tried.add(command.tool)
        fresh("../inputs")
        before = files_below()
        for variable in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE"):
            got = run(command.line(folder), 2, env={**os.environ, variable: "2"}).stderr.decode()
            assert f"{command.tool}: {variable}: each of the 2 processes would do the whole run and write " in got and got.count("\n") == 1, got
            assert files_below() == before, command.words
    run([f"{folder}/modalinfo", "a.h5"], env={**os.environ, "PMI_SIZE": "2"})
    run([f"{folder}/modalpack", "x.node", "b.h5", "--material", "steel", "--modes", "1"], env={**os.environ, "PMI_SIZE": "1"})


with tempfile.TemporaryDirectory() as place:
    os.makedirs(f"{place}/inputs")
    os.chdir(f"{place}/inputs")
    commands.write_inputs(folder)
    files = commands.check_tables(folder, tools)
    os.makedirs(f"{place}/work")
    os.chdir(f"{place}/work")
    works()
    pipes()
    reports()
    launched()
    frames()
    print(f"check_overwrites: {pairs()} pairs are refused")
    os.chdir("/")
