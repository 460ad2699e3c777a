# SPDX-License-Identifier: Apache-2.0
"""modalpack's bytes: the same whatever kernels OpenBLAS, which CHOLMOD brings along, would choose by the processor, and
for every number of threads. And the recipe hash, which follows from files and options.
usage: check_identity.py MODALPACK MODALINFO SOURCE"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np

modalpack, modalinfo, source = sys.argv[1:]
FORK = pathlib.Path(source) / "data/tuning_fork.msh"
STEEL = ["--young", "2.06e11", "--poisson", "0.29", "--density", "7850"]
CORES = ["Haswell", "SkylakeX", "Zen", "Sandybridge", "Nehalem", "Prescott"]
folder = pathlib.Path(tempfile.mkdtemp(prefix="identity-"))
os.chdir(folder)


def box(name, nx, ny, nz, offset=0.0):
    """Hexahedra, some of them larger; every second node of x a little aside."""
    grid = np.stack(np.meshgrid(*(np.arange(n + 1.0) for n in (nx, ny, nz)), indexing="ij"), -1)
    grid[..., 1] += 0.1 * (grid[..., 0] % 2)
    points = 0.02 * grid.reshape(-1, 3) + offset
    number = lambda i, j, k: (i * (ny + 1) + j) * (nz + 1) + k + 1
    corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
    cells = [[number(*np.add(c, d)) for d in corners] for c in np.ndindex(nx, ny, nz)]
    with open(name, "w") as out:
        print("*VERTICES\n%d 3 0 0" % len(points), file=out)
        for i, p in enumerate(points):
            print(i + 1, *p, file=out)
        print("*ELEMENTS\nCUBIC\n%d 8 0" % len(cells), file=out)
        for i, c in enumerate(cells):
            print(i + 1, *c, file=out)
        print("*SET core\n1\n*MATERIAL BODY\nENU, 1000, 1e6, 0.4\n*REGION\nallElements, BODY", file=out)


def pack(words, core, threads):
    environment = {**os.environ, "OPENBLAS_CORETYPE": core}
    subprocess.run([modalpack, *map(str, words), "basis.h5", "--force", "--quiet", "-j", str(threads)],
                   env=environment, check=True)
    with h5py.File("basis.h5") as f:
        return f.attrs["content_hash"]


box("a.veg", 6, 3, 2)
box("b.veg", 5, 3, 3, 0.5)
box("long.veg", 40, 5, 5)  # 1,476 nodes: METIS, several subtrees
box("tiny.veg", 2, 1, 1)   # dense
with open("sheet.obj", "w") as out:
    for p in [(0.01, 0.01, 0.01), (0.1, 0.01, 0.02), (0.1, 0.05, 0.03), (0.02, 0.05, 0.01)]:
        print("v", *p, file=out)
    print("f 1 2 3\nf 1 3 4", file=out)
HELD = ["--fixed", "plane:0,0,0:-1,0,0"]
rows = {
    "free": [FORK, *STEEL],
    "fixed": ["a.veg", *HELD, "--mass", "lumped", "--modes", 40],
    "float32": ["a.veg", *HELD, "--factor", "float32", "--modes", 8],
    "several": ["a.veg", "b.veg", "tiny.veg", "--modes", 10],
    "derivatives": ["a.veg", "--derivatives", 5, "--modes", 12, "--reduced-forces", "--backend", "cpu"],
    "surface": ["b.veg", "--surface", "sheet.obj", "--modes", 6],
    "large": ["long.veg", "--modes", 12, "--sturm"],
    "dense": ["tiny.veg", "--modes", 25],
}
for name, words in rows.items():
    found = {}
    for at, core in enumerate(CORES[1::2] if name == "free" else CORES):
        found.setdefault(pack(words, core, 1 + at % 3), []).append(core)
    assert len(found) == 1, (name, found)


def recipe(*words):
    subprocess.run([modalpack, *map(str, words), "recipe.h5", "--force", "--quiet"], check=True)
    with h5py.File("recipe.h5") as f:
        found = f.attrs["recipe_hash"].decode()
    assert len(found) == 32 and set(found) <= set("0123456789abcdef"), found
    return found


def write(name, text):
    pathlib.Path(name).write_text(text)


base = ["tiny.veg", "--modes", 4]
wanted = recipe(*base)
shown = subprocess.run([modalinfo, "recipe.h5"], capture_output=True, text=True, check=True).stdout
assert f"recipe hash           {wanted}\n" in shown, shown
shown = subprocess.run([modalinfo, "recipe.h5", "--json"], capture_output=True, text=True, check=True).stdout
assert json.loads(shown)["recipe_hash"] == wanted
# another name, thread, report, limit of memory, back end, spelling: the same
shutil.copy("tiny.veg", "same.veg")
for words in (base, ["same.veg", "--modes", "4"], [*base, "-j", 1], [*base, "--report", "r.json"],
              [*base, "--memory-limit", "500M"], [*base, "--backend", "ref"], [*base, "--mass", "consistent"],
              [*base, "--scale", "1.0"], [*base, "--progress", "none"]):
    assert recipe(*words) == wanted, words
# every option that changes the content, and every byte of a file
write("held.bou", "1,2,3\n")
write("other.bou", "1,2,4\n")
shutil.copy("held.bou", "held2.bou")
for young in ("1e6", "2e6"):
    write(f"stuff{young}.json", '{"materials": {"m": {"young": %s, "poisson": 0.4, "density": 1000}}, '
                                '"groups": {"core": "m"}}' % young)
write("moved.obj", pathlib.Path("sheet.obj").read_text() + "\n")
write("changed.veg", pathlib.Path("tiny.veg").read_text() + "\n")
rubber = ["--young", "1e6", "--poisson", "0.4", "--density", "1000"]
rows = [["changed.veg", "--modes", 4], ["tiny.veg", "--modes", 5], ["a.veg", "--modes", 4], ["a.veg", "tiny.veg", "--modes", 4],
        ["tiny.veg", "a.veg", "--modes", 4], [*base, *rubber], [*base, *rubber[:5], "1001"], [*base, "--mass", "lumped"],
        [*base, "--fixed", "held.bou"], [*base, "--fixed", "other.bou"], [*base, "--fixed", "held.bou@x"],
        [*base, "--fixed", "box:-1,-1,-1:0.01,1,1"], [*base, "--reduced-forces"], [*base, "--derivatives", 3],
        [*base, "--derivatives", 2], [*base, "--sturm"], [*base, "--factor", "float64"], [*base, "--factor", "float32"],
        [*base, "--volume-modes", "none"], [*base, "--volume-modes", "float64"], [*base, "--unit", "cm"],
        [*base, "--scale", 2], [*base, "--shapes", "bodies"], [*base, "--material", "core=1e6,0.4,1000"],
        [*base, "--materials", "stuff1e6.json"], [*base, "--materials", "stuff2e6.json"],
        [*base, "--surface", "sheet.obj"], [*base, "--surface", "moved.obj"],
        [*base, "--surface", "sheet.obj", "--surface-unit", "cm"]]
seen = {wanted: base}
for words in rows:
    found = recipe(*words)
    assert found not in seen, (words, seen[found])
    seen[found] = words
assert seen[recipe(*base, "--fixed", "held2.bou")] == [*base, "--fixed", "held.bou"]
print("ok")
