#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Steps of 105,456 tetrahedra on one core, beside others: the rows of a processor in docs/results/tled.md. Pairs of runs in turn, each the best of four
times 25 steps. PROTOTYPE: a program that prints "... 118.4 M el.steps/s one thread ..." for arguments CELLS STEPS, of processor time. NIFTYSIM: the program
niftysim; tests/clients/check_niftysim.py compares results and rates with it.
usage: measure_tled_cpu.py BUILD_FOLDER [--prototype PROGRAM] [--niftysim PROGRAM] [--pairs N]"""
import argparse
import pathlib
import re
import subprocess
import sys

import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("build")
parser.add_argument("--prototype")
parser.add_argument("--niftysim")
parser.add_argument("--pairs", type=int, default=40)
words = parser.parse_args()
build = pathlib.Path(words.build).resolve()


def said(*command):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True).stdout


def spread(values):
    return "%.3g (quartiles %.3g and %.3g)" % (np.median(values), *np.percentile(values, (25, 75)))


ours, theirs = [], []
for _ in range(words.pairs):
    rounds = np.array([line.split() for line in said(build / "tests/tled_cpu_bench", "--rounds", 4).splitlines()], float)
    ours.append(rounds.max(axis=0))
    if words.prototype:
        theirs.append(float(re.search(r"([0-9.]+) M el", said(words.prototype, 26, 25))[1]))
single, double, clock, two = np.array(ours).T
print("10^6 element steps a second, 105,456 tetrahedra, neo-Hookean, %d runs" % words.pairs)
print("one thread, float32: %s, best %.4g; asked 90" % (spread(single), single.max()))
print("float64 over float32: %s; asked 0.45" % spread(double / single))
print("two threads over one, by the clock: %s; asked 1.8" % spread(two / clock))
if words.prototype:
    print("over the prototype (%s): %s; asked 0.95" % (spread(theirs), spread(single / np.array(theirs))))
else:
    print("skipped: no prototype (--prototype)")
sys.stdout.flush()
script = pathlib.Path(__file__).resolve().parents[1] / "clients/check_niftysim.py"
if not words.niftysim:
    print("skipped: no NiftySim (--niftysim)")
else:
    sys.exit(subprocess.run([sys.executable, script, build / "bin/modaltled", words.niftysim]).returncode)
