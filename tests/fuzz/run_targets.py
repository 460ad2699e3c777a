#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs libFuzzer programs for some time each and prints a line a target; `./run fuzz` builds and calls it.
usage: run_targets.py TARGETS TESTS SCRATCH SECONDS [-j N] [NAME...]
TARGETS has the programs fuzz_NAME; TESTS is the folder tests/, whose fuzz/corpus/NAME and files/ are the first inputs and
are not changed; N targets run at once (the number of processors). SCRATCH/NAME gets new inputs (corpus/), the log and
what was found (crash-*, leak-*, timeout-*, oom-*): a target ends with its first finding, the others go on, and the exit
code is 1. Another machine needs the programs, the folder tests/ and the libraries that `ldd` names."""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import time


def last(pattern, text):
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


def run(name, arguments):
    folder = os.path.join(arguments.scratch, name)
    corpus = os.path.join(folder, "corpus")
    os.makedirs(corpus, exist_ok=True)
    before = set(os.listdir(folder))
    log = os.path.join(folder, "log")
    start = time.monotonic()
    with open(log, "wb") as output:
        code = subprocess.run([os.path.join(os.path.abspath(arguments.targets), f"fuzz_{name}"),
                               f"-max_total_time={arguments.seconds}", "-print_final_stats=1", "-timeout=60",
                               "-rss_limit_mb=4096", f"-artifact_prefix={folder}/", corpus,
                               os.path.join(arguments.tests, "fuzz/corpus", name), os.path.join(arguments.tests, "files")],
                              stdout=output, stderr=output).returncode
    seconds = time.monotonic() - start
    with open(log, errors="replace") as file:
        text = file.read()
    runs = last(r"stat::number_of_executed_units: *(\d+)", text) or last(r"#(\d+)\t", text)
    found = sorted(path for path in set(os.listdir(folder)) - before if re.match("(crash|leak|timeout|oom)-", path))
    coverage, features = last(r"cov: (\d+)", text), last(r"ft: (\d+)", text)
    print(f"{name:11} {runs:11} runs  {seconds:6.0f} s  coverage {coverage:6}  features {features:6}  "
          f"findings {len(found) or int(code != 0)}", flush=True)
    for path in found:
        print(f"  {folder}/{path}")
    if code:
        print(f"  exit code {code}, {log}:")
        print("".join(f"  {line}\n" for line in text.splitlines() if re.search("ERROR: |runtime error|    #[0-9] ", line)))
    return code == 0 and runs > 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("targets")
    parser.add_argument("tests")
    parser.add_argument("scratch")
    parser.add_argument("seconds", type=int)
    parser.add_argument("-j", type=int, default=os.cpu_count())
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_intermixed_args()
    names = arguments.names or sorted(name[5:] for name in os.listdir(arguments.targets) if name.startswith("fuzz_"))
    if not names or arguments.seconds < 1: # without a limit they would run for ever
        parser.error("no targets, or no seconds")
    with concurrent.futures.ThreadPoolExecutor(arguments.j) as pool:
        clean = list(pool.map(lambda name: run(name, arguments), names))
    sys.exit(0 if all(clean) else 1)


main()
