# SPDX-License-Identifier: Apache-2.0
"""The same manners in every tool: usage: check_usage.py TOOL..."""
import os
import re
import subprocess
import sys

COMMON = ["--quiet", "--verbose", "--progress", "--report", "--help", "--version"]


def run(*words, **more):
    return subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, **more)


def check(condition, *what):
    if not condition:
        sys.exit(" ".join(map(str, what)))


for tool in sys.argv[1:]:
    name = os.path.basename(tool)
    for flag in ("--help", "-h"):
        got = run(tool, flag)
        check(got.returncode == 0 and not got.stderr, name, flag, got)
        check(got.stdout.startswith(f"{name}: "), name, "help does not start with its name")
        check(f"usage: {name} " in got.stdout and "examples:" in got.stdout, name, got.stdout)
        for option in COMMON:
            check(option in got.stdout, name, "help lacks", option)
        check(max(map(len, got.stdout.split("\n"))) <= 100, name, "help has lines over 100")
    got = run(tool, "-V")
    check(got.returncode == 0 and re.match(rf"{name} \d+\.\d+\.\d+ ", got.stdout), name, got)
    check("compiler:" in got.stdout and "HDF5" in got.stdout, name, "-V", got.stdout)
    for words in (["--nonsense"], ["-Z"], [], ["a", "b", "c", "d"], ["--report"]):
        got = run(tool, *words)
        check(got.returncode == 2 and not got.stdout, name, words, got)
        check(got.stderr.startswith(f"{name}: ") and got.stderr.count("\n") == 1, name, got)
    with open("/dev/full", "w") as full:
        got = subprocess.run([tool, "--help"], stdout=full, stderr=subprocess.PIPE)
    check(got.returncode == 4, name, "--help to a full device:", got)
    print(name, "ok")
