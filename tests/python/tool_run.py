# SPDX-License-Identifier: Apache-2.0
"""What tests of the programs share: the folder that these are in (the test's first argument), a run of one of them, a condition."""
import os
import subprocess
import sys

binaries = os.path.abspath(sys.argv[1] if sys.argv[1:] else ".")  # before a test goes to a folder of its own


def must(condition, *what):
    if not condition:
        sys.exit(f"{os.path.splitext(os.path.basename(sys.argv[0]))[0]}: " + " ".join(map(str, what)))


def run(tool, *words, code=0, says=""):
    """The tool must end with this exit code and say this on stderr."""
    got = subprocess.run([f"{binaries}/{tool}", *map(str, words)], capture_output=True, text=True, timeout=120)
    must(got.returncode == code and says in got.stderr, tool, words, f"not {code}, {says!r}:", got)
    return got
