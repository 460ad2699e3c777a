# SPDX-License-Identifier: Apache-2.0
"""Every tool on two cores that other programs use, too: processor and wall-clock seconds with -j 1, -j 2 and without -j, on a quiet
machine and beside one and two endless loops. Tools without -j are compared with themselves on one core.
usage: measure_busy.py BIN [RUNS]   prints the table of docs/results/busy.md (best where nothing else runs)
       measure_busy.py BIN check    ends with exit code 1 where a tool starts with other settings of OpenMP than tools/common/start.c says,
                                    or where two threads take more than 1.5 times the processor seconds of one beside a loop"""
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, f"{here}/../python")
from soft_box import box  # noqa: E402

bin_folder = os.path.abspath(sys.argv[1])
source = os.path.dirname(os.path.dirname(here))
cores = sorted(os.sched_getaffinity(0))[:2]
FORK = ["--young", "2.06e11", "--poisson", "0.29", "--density", "7850", "--fixed", "stem_end"]
SOFT = ["--young", "3e3", "--poisson", "0.45", "--density", "1000", "--fixed", "low"]
SCENE = {"step": "auto", "duration": 0.4, "fps": 100, "forces": [{"nodes": "high", "force": [0.2, 0, 0], "curve": {"smooth": [0, 0.05]}}]}
LAYERS = {"layers": [{"kind": "marble", "from": [0.9, 0.88, 0.85], "to": [0.15, 0.18, 0.25], "scale": 0.05, "turbulence": 1}]}

# what: the command line; OUT is its output
CASES = {
    "modalmesh": "liver.obj OUT.msh --size 0.012",
    "modalpack": "fork.msh OUT.h5 --modes 40 FORK",
    "modalpack, forces": "soft.msh OUT.h5 --modes 8 --derivatives 6 --reduced-forces SOFT",
    "modalplace": "places.csv OUT.h5 fork.h5",
    "modalsim": "fork.h5 OUT.h5 --duration 2 --fps 20000 --initial 1=1e-4",
    "modalsim, bush": "plant/plant.h5 OUT.h5 --scene plant/scene.json",
    "modaltled": "soft.msh OUT.h5 --scene soft.json SOFT",
    "modaldeform": "fork_t.h5 OUT --normals dynamic --fields displacement",
    "modaldeform, stress": "fork_t.h5 OUT --output-mesh volume --fields von_mises",
    "modalcurv": "seq/sequence.vtkhdf OUT",
    "modalrender": "fork_t.h5 OUT --frames ::20",
    "modaltex build": "build liver.obj OUT.h5 --resolution 256 --neighbours",
    "modaltex paint": "paint liver.h5 marble.json OUT.h5",
    "modaltex bake": "bake marble.h5 liver.obj OUT.png",
    "modalview": "soft.h5 OUT.html",
    "modalinfo": "--check soft.h5",
    "modaltools quick": "quick soft.msh OUT.html",
}


def words(name, line, *more):
    names = {"FORK": FORK, "SOFT": SOFT}
    out = [f"{bin_folder}/{name.split(',')[0].split()[0]}"]
    for word in line.split():
        out += names.get(word, [word])
    return [*out, *more]


def prepare():
    with open("soft.json", "w", encoding="utf-8") as file:
        json.dump(SCENE, file)
    with open("marble.json", "w", encoding="utf-8") as file:
        json.dump(LAYERS, file)
    with open("places.csv", "w", encoding="utf-8") as file:
        file.writelines(f"{i},0,-1,{i % 100},{i // 100},0,0,0,0\n" for i in range(10000))
    box("soft.msh", (10, 10, 20), 0.01)
    for name, line in (("modalmesh", f"{source}/data/tuning_fork.msh fork.msh"), ("modalpack", "fork.msh fork.h5 --modes 20 FORK"),
                       ("modalsim", "fork.h5 fork_t.h5 --duration 0.01 --fps 4000 --initial 1=1e-4")):
        subprocess.run(words(name, line, "--quiet"), check=True)


def prepare_all():
    python = [sys.executable]
    subprocess.run([*python, f"{source}/docs/examples/liver.py", "liver.obj", "4"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([*python, f"{source}/data/plant.py", "bush", "plant", "--tools", bin_folder], check=True, stdout=subprocess.DEVNULL)
    for name, line in (("modaltled", "soft.msh soft.h5 --scene soft.json SOFT"), ("modaldeform", "fork_t.h5 seq"),
                       ("modaltex", "build liver.obj liver.h5 --resolution 256"), ("modaltex", "paint liver.h5 marble.json marble.h5")):
        subprocess.run(words(name, line, "--quiet"), check=True)


@contextlib.contextmanager
def busy(n):
    """n loops, on a core each, which end when this program does."""
    loop = "import os\nos.sched_setaffinity(0, [%d])\nwhile os.getppid() == %d:\n    for _ in range(1000000): pass"
    loops = [subprocess.Popen([sys.executable, "-c", loop % (core, os.getpid())]) for core in cores[len(cores) - n:]]
    try:
        time.sleep(0.5 if n else 0)
        yield
    finally:
        for process in loops:
            process.kill()
            process.wait()


def seconds(command, **more):
    """Processor and wall-clock seconds of a run and what it starts."""
    start = time.monotonic()
    with open("said", "w", encoding="utf-8") as said:
        run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said, env={**os.environ, **more})
        _, status, used = os.wait4(run.pid, 0)
    run.returncode = os.waitstatus_to_exitcode(status)
    if run.returncode != 0:
        sys.exit(f"measure_busy: {command}: {open('said', encoding='utf-8').read()}")
    return used.ru_utime + used.ru_stime, time.monotonic() - start


def has_threads(tool):
    return "--threads" in subprocess.run([f"{bin_folder}/{tool}", "--help", "all"], capture_output=True, text=True, check=True).stdout


def measure(runs):
    os.sched_setaffinity(0, cores)
    prepare()
    prepare_all()
    load = os.getloadavg()[0]
    print(f"medians of {runs} runs in turn; load before: {load:.1f}\n")
    print("| | -j1, quiet: processor, wall | -j2, quiet | no -j, quiet | -j2, one loop | no -j, one loop | -j2, two loops | no -j, two loops |")
    print("| --- " * 8 + "|")
    for name, line in CASES.items():
        base = words(name, line.replace("OUT", "o"), *([] if "--check" in line else ["--force"]), "--quiet")
        alone_on = ["taskset", "-c", str(cores[0]), *base]
        ways = [base + ["-j", "1"], base + ["-j", "2"], base] if has_threads(name.split(",")[0].split()[0]) else [alone_on, None, base]
        ratios, alone = {}, []
        for _ in range(runs):
            for n in (0, 1, 2):
                with busy(n):
                    one = seconds(ways[0])
                    if n == 0:
                        alone.append(one)
                    for i in (1, 2):
                        if ways[i]:
                            two = seconds(ways[i])
                            ratios.setdefault((n, i), []).append((two[0] / one[0], two[1] / one[1]))
        row = [" ".join(f"{statistics.median(column):.2f}" for column in zip(*alone)) + " s"]
        row += [" ".join(f"{statistics.median(column):.2f}" for column in zip(*ratios[key])) if key in ratios else ""
                for key in ((n, i) for n in (0, 1, 2) for i in (1, 2))]
        print(f"| {name} | " + " | ".join(row) + " |", flush=True)
    print(f"\nload after: {os.getloadavg()[0]:.1f}")


def check_settings():
    """By what libgomp says that it was told."""
    for tool in sorted(name for name in os.listdir(bin_folder) if name.startswith("modal")):
        for given, looks in (({}, 1000), ({"OMP_WAIT_POLICY": "active", "PATH": os.environ["PATH"], "PWD": "/"}, 1000),
                             ({"GOMP_SPINCOUNT": "7", "PATH": os.environ["PATH"]}, 7)):
            got = subprocess.run([f"{bin_folder}/{tool}", "--version"], capture_output=True, text=True, timeout=60,
                                 env={**given, "OMP_DISPLAY_ENV": "verbose"})
            if got.returncode != 0 or f"GOMP_SPINCOUNT = '{looks}'" not in got.stderr:
                sys.exit(f"measure_busy: {tool}, {given}: {looks} looks expected: {got}")


def check():
    check_settings()
    prepare()
    for name in ("modalpack", "modaltled"):
        base = words(name, CASES[name].replace("OUT", "o"), "--force", "--quiet")
        ratios = []
        while len(ratios) < 5 and not min(ratios, default=9) <= 1.5:  # other programs come and go
            with busy(1):
                two = seconds([*base, "-j", "2"], OMP_DYNAMIC="false")  # two at any load
                ratios.append(two[0] / seconds([*base, "-j", "1"])[0])
        print(f"{name}: processor seconds of two threads over those of one, beside a loop: {ratios}")
        if not min(ratios) <= 1.5:
            sys.exit(f"measure_busy: {name}: two threads take {min(ratios):.2f} times the processor seconds of one")


with tempfile.TemporaryDirectory() as work:
    os.chdir(work)
    if sys.argv[2:] == ["check"]:
        check()
    else:
        measure(int(sys.argv[2]) if len(sys.argv) > 2 else 5)
