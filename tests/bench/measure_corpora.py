#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the tools make of folders full of other people's files: docs/results/corpora.md.

measure_corpora.py BIN read FOLDER... [--json OUT] [--before JSON]     modalinfo --json of every mesh and surface
measure_corpora.py BIN solids FOLDER... [--json OUT] [--before JSON]   every surface: --check, mesh, least angle, three modes
measure_corpora.py BIN wrap FOLDER... [--json OUT]                     every surface that bounds no solid: --wrap, mesh, three modes

--improve makes the meshes of the last two with modalmesh --improve.

A folder is one row of the table. A file counts as read or made where the program ends with 0, as refused where it ends with an
exit code of its own and one line, as crashed where a signal ended it or it printed none; --seconds S (60) is the most for a program.
Times are processor times. --before says which files changed their state since. Nothing is written beside the files.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

VOLUMES = {".msh", ".vtk", ".vtu", ".inp", ".mesh", ".meshb", ".veg", ".node", ".fbd"}
SURFACES = {".stl", ".obj", ".ply", ".off"}

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("bin", type=pathlib.Path)
parser.add_argument("what", choices=["read", "solids", "wrap"])
parser.add_argument("folders", nargs="+", type=pathlib.Path)
parser.add_argument("--json", type=pathlib.Path)
parser.add_argument("--before", type=pathlib.Path)
parser.add_argument("--seconds", type=float, default=60)
parser.add_argument("--share", type=float, default=0.02, help="of the diagonal, the distance of --wrap")
parser.add_argument("--improve", action="store_true")
parser.add_argument("--only", help="files whose path has this")
arguments = parser.parse_args()
scratch = pathlib.Path(tempfile.mkdtemp())
STATES = ("ok", "refused", "crashed", "late")


def run(name, *options):
    """State, the line that says why, processor seconds, standard output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run([str(arguments.bin / name), *map(str, options)], capture_output=True, timeout=arguments.seconds)
    except subprocess.TimeoutExpired:
        return {"state": "late", "why": f"{name}: more than {arguments.seconds:g} s", "seconds": arguments.seconds}, b""
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    lines = [line for line in done.stderr.decode(errors="replace").splitlines() if line.strip()]
    state = "ok" if done.returncode == 0 else "refused" if 0 < done.returncode < 128 and lines else "crashed"
    if re.search(r" crashed| ended without a mesh", lines[-1] if lines else ""):
        state = "crashed"  # a meshing library, which the tool survives
    return {"state": state, "why": f"{name}: {done.returncode}: {lines[-1] if lines else ''}" if state != "ok" else "",
            "seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}, done.stdout


def read_file(path):
    got, out = run("modalinfo", "--json", path)
    if got["state"] == "ok":
        told = json.loads(out)
        got["counts"] = {k: told[k] for k in ("nodes", "elements", "vertices", "triangles", "box_m") if k in told}
    return got


def then(got, step, *command):
    """The next program of a chain: what it took is added, where it stops is kept."""
    more, out = run(*command)
    got["seconds"] += more["seconds"]
    got[step] = round(more["seconds"], 3)
    if more["state"] != "ok":
        got["state"], got["why"] = more["state"], more["why"]
    return out


def make_modes(got, mesh):
    if got["state"] == "ok":
        then(got, "modes", "modalpack", mesh, scratch / "o.h5", "-f", "--modes", 3, "--young", 1e7, "--poisson", 0.4, "--density", 1000)


def solid_of(path, *options):
    """From a surface to a mesh."""
    mesh, report = scratch / "o.msh", scratch / "o.json"
    report.unlink(missing_ok=True)
    got = {"state": "ok", "why": "", "seconds": 0.0}
    then(got, "mesh", "modalmesh", path, mesh, "-f", "--report", report, *options, *["--improve"] * arguments.improve)
    if got["state"] == "ok":
        told = json.loads(report.read_text())
        got["least_angle"] = told["mesh"]["least_dihedral_deg"]
        if "wrap" in told:
            got["wrap"] = told["wrap"]
        if "improve" in told:
            got["improve"] = told["improve"]
    make_modes(got, mesh)
    return got


def is_sound(path):
    report = scratch / "c.json"
    report.unlink(missing_ok=True)
    got, _ = run("modalmesh", "--check", path, "--report", report)
    if not report.exists():
        return None, 0, got
    told = json.loads(report.read_text()).get("surface")
    if not told:
        return None, 0, got
    low, high = told["box_m"]
    return told["bounds_a_solid"], sum((b - a) ** 2 for a, b in zip(low, high)) ** 0.5, got


def look_at(path):
    if arguments.what == "read":
        return read_file(path)
    sound, diagonal, got = is_sound(path)
    if sound is None:
        return got | {"state": "unread"} if got["state"] == "refused" else got
    if sound == (arguments.what == "wrap"):
        return {"state": "broken" if not sound else "sound", "why": got["why"], "seconds": got["seconds"]}
    if arguments.what == "wrap":
        return solid_of(path, "--wrap", arguments.share * diagonal)
    return solid_of(path)


def reason(why):
    """The words of a refusal without names, numbers and places."""
    why = re.sub(r"\S*/\S*|\"[^\"]*\"|'[^']*'", "X", why)
    return re.sub(r"-?\d+(\.\d+)?(e[-+]?\d+)?", "N", why)[:110]


kinds = SURFACES | (VOLUMES if arguments.what == "read" else set())
before = json.loads(arguments.before.read_text()) if arguments.before else {}
results = {}
print("| folder | files |", " | ".join(STATES), "| other | s |\n| --- |" + " --- |" * (len(STATES) + 3))
for folder in arguments.folders:
    rows = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in kinds and path.is_file() and (not arguments.only or arguments.only in str(path)):
            rows[f"{folder.name}/{path.relative_to(folder)}"] = look_at(path)
    for what, chosen in (("volumes", VOLUMES), ("surfaces", SURFACES)):
        part = [r for name, r in rows.items() if pathlib.Path(name).suffix.lower() in chosen]
        count = collections.Counter(r["state"] for r in part)
        if part:
            print(f"| {folder.name}, {what} | {len(part)} |", " | ".join(str(count[s]) for s in STATES),
                  f"| {sum(n for s, n in count.items() if s not in STATES)} | {sum(r['seconds'] for r in part):.1f} |", flush=True)
    results |= rows
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1, sort_keys=True))
print("\nReasons:")
for text, n in collections.Counter(reason(r["why"]) for r in results.values() if r["why"]).most_common(40):
    print(f"{n:5}  {text}")
angles = sorted(r["least_angle"] for r in results.values() if r["state"] == "ok" and r.get("least_angle") is not None)
if angles:
    print(f"\nLeast dihedral angles of {len(angles)} meshes: median {angles[len(angles) // 2]:.2f}, least {angles[0]:.2g} degrees;",
          f"{sum(a >= 5 for a in angles)} of at least 5 degrees")
improved = [r["improve"] for r in results.values() if "improve" in r]
if improved:
    def of(key, part):
        return sum(i[part][key] for i in improved)
    print(f"--improve: least angles from {min(i['before']['least_dihedral_deg'] for i in improved):.2g} to "
          f"{min(i['after']['least_dihedral_deg'] for i in improved):.2g} degrees, {sum(i['bad_elements'] > 0 for i in improved)} meshes with bad elements left; "
          f"elements {of('elements', 'before')} to {of('elements', 'after')}; moved by at most "
          f"{max(max(i['new_to_old_m'], i['old_to_new_m']) / i['asked_m'] for i in improved):.2f} of the distance")
changed = [n for n in results if n in before and before[n]["state"] != results[n]["state"]]
other = [n for n in results if n in before and before[n].get("counts") != results[n].get("counts") and n not in changed]
if before:
    print(f"\n{len(changed)} files changed their state, {len(other)} their counts; {len(set(results) - set(before))} are new:")
    for n in changed + other:
        print(f"  {n}: {before[n]['state']} -> {results[n]['state']} {results[n]['why']}")
for name in os.listdir(scratch):
    os.unlink(scratch / name)
scratch.rmdir()
sys.exit(any(r["state"] == "crashed" for r in results.values()))
