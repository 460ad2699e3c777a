# SPDX-License-Identifier: Apache-2.0
"""An operation's CUDA kernels by the emulator (tests/emulate/emulator.cpp): every case passes, and whatever the order of threads
the bytes are the same. The emulator itself is tested, too: without some of the barriers it finds faults.
usage: check_emulated.py PROGRAM quick|all [--no-barriers] [VARIABLE...]: again with each of these set (EMULATED_APART, ...), other kernels.
--no-barriers: its threads do not wait for one another, so that none can be left out"""
import os
import subprocess
import sys

program, tier, *variables = sys.argv[1:]
barriers = "--no-barriers" not in variables
variables = [v for v in variables if v != "--no-barriers"]
short = ["--tiny"] if tier == "quick" else []


def run(seed, options, **more):
    """Exit code, and the hash of all states."""
    got = subprocess.run([program, "--backend", "cpu", "--simd", "base", *options], capture_output=True, text=True,
                         env={**os.environ, "EMULATED_SEED": str(seed), "EMULATED_SUM": "1", **more})
    return got.returncode, next((line for line in got.stderr.splitlines() if line.startswith("states ")), ""), got


for ways in [{}, *({variable: "1"} for variable in variables)]:
    what = " ".join([tier, *ways])
    first = run(1, short, **ways)
    assert first[0] == 0 and first[1], (what, first)
    for seed in range(2, 3 if short else 5):
        other = run(seed, short, **ways)
        assert other[:2] == first[:2], (what, seed, first[:2], other)
    print(f"{what}: {first[1]} in every order")
    if not barriers:
        continue
    sound = first if short else run(1, ["--tiny"], **ways)
    for n in (0, 1, 5, 9, 20):
        if run(2, ["--tiny"], EMULATED_SKIP=str(n), **ways)[:2] != sound[:2]:
            break
    else:
        raise AssertionError((what, "nothing shows that barriers are left out"))
    assert sound[0] == 0
    print(f"barrier {n} of 64 left out: found")
