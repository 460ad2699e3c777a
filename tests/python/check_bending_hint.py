# SPDX-License-Identifier: Apache-2.0
"""modalpack hints at bending where linear elements are fewer than four through the thickness, and nowhere else.
usage: check_bending_hint.py BIN_FOLDER SOURCE_FOLDER"""
import json
import os
import pathlib
import re
import sys
import tempfile

from stvk_solid import STEEL, Tools, write_bar, write_inp

run = Tools(sys.argv[1])
source = pathlib.Path(sys.argv[2]).resolve()


def hint(mesh, *words):
    """(share of one, share of two or three) in per cent, or None."""
    got = run("modalpack", mesh, "b.h5", *STEEL, "--modes", 1, "-f", "--report", "r.json", *words)
    assert "warning" not in got.stderr, got
    found = re.findall(r"hint: linear elements bend .* one at (\d+) % of the surface, two or three at (\d+) %; modalmesh --order 2", got.stderr)
    thin = json.load(open("r.json")).get("thin_share_of_surface")
    assert len(found) <= 1 and (bool(found) == (thin is not None and thin > 0.25)), (got, thin)
    return tuple(map(int, found[0])) if found else None


def main():
    for layers, wanted in ((1, (100, 0)), (2, (0, 100)), (3, (0, 100)), (4, None)):
        write_bar("plate.msh", (13, 10, layers), (1.0, 0.8, 0.02 * layers))
        assert hint("plate.msh") == wanted, layers
        write_inp("plate.inp", 2, (9, 8, layers), (1.0, 0.8, 0.02 * layers))
        assert hint("plate.inp") == wanted, layers
    for kind in (1, 3):
        write_inp("plate.inp", kind, (4, 3, 1), (1.0, 0.8, 0.02))
        assert hint("plate.inp") is None, kind
    for n in (4, 6):
        write_bar("cube.msh", (n, n, n), (1.0, 1.0, 1.0))
        assert hint("cube.msh") is None, n
    assert hint("cube.msh", "-q") is None

    # the demo's fork: two tetrahedra across its depth; quadratic ones are what the hint says
    assert hint(source / "data/tuning_fork.msh", "--fixed", "stem_end") == (0, 100)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
    os.chdir("/")
