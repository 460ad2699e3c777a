# SPDX-License-Identifier: Apache-2.0
"""A machine that others use, too: small products, a forest and a basis on two cores, quiet, and with one of the two kept
busy by another process; as the tools do it, and with -j 2, which takes two threads in any case.
usage: measure_busy.py BIN [RUNS]   (needs two cores that nothing else uses)"""
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

bin_folder, runs = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5
here = os.path.dirname(os.path.abspath(__file__))
cores = sorted(os.sched_getaffinity(0))[:2]
os.sched_setaffinity(0, cores)


def tool(name, *words):
    subprocess.run([f"{bin_folder}/{name}", *words, "--quiet"], check=True, stdout=subprocess.DEVNULL)


@contextlib.contextmanager
def busy(core):
    other = subprocess.Popen([sys.executable, "-c", f"import os\nos.sched_setaffinity(0, [{core}])\nwhile True: pass"])
    time.sleep(0.5)
    yield
    other.kill()
    other.wait()


def product(folder, threads):
    """The median of the medians, microseconds, of U q in rows of at most 100 us when all is quiet."""
    tool("modalbench", "batch", "--backend", "cpu", "--quick", "--json", f"{folder}/b.json", "--force", *threads)
    rows = json.load(open(f"{folder}/b.json"))["results"]
    return 1e6 * statistics.median(row["seconds"]["median"] for row in rows if row["ours"] and row["table"] == "batch")


def forest(folder, threads):
    tool("modalsim", f"{folder}/plant/plant.h5", f"{folder}/t.h5", "--force", "--scene", f"{folder}/plant/scene.json",
         "--report", f"{folder}/r.json", *threads)
    return json.load(open(f"{folder}/r.json"))["milliseconds_a_step"]


def basis(folder, threads):
    start = time.monotonic()
    tool("modalpack", f"{folder}/fork.msh", f"{folder}/fork.h5", "--force", "--modes", "40", "--young", "2e11", "--poisson", "0.3",
         "--density", "7800", "--fixed", "stem_end", *threads)
    return time.monotonic() - start


with tempfile.TemporaryDirectory() as folder:
    subprocess.run([sys.executable, f"{here}/../../data/plant.py", "bush", f"{folder}/plant", "--tools", bin_folder],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    tool("modalmesh", f"{here}/../../data/tuning_fork.msh", f"{folder}/fork.msh", "--order", "2")
    print("| on two cores | quiet | one busy | ratio | one busy, -j 2 | ratio |\n| --- | --- | --- | --- | --- | --- |")
    for name, work in (("small products, us", product), ("forest, ms a step", forest), ("basis, s", basis)):
        quiet, shared, taken = [], [], []
        work(folder, [])
        for _ in range(runs):
            quiet.append(work(folder, []))
            with busy(cores[1]):
                shared.append(work(folder, []))
                taken.append(work(folder, ["-j", "2"]))
        q, s, t = map(statistics.median, (quiet, shared, taken))
        print(f"| {name} | {q:.3g} | {s:.3g} | {s / q:.2f} | {t:.3g} | {t / q:.2f} |")
