# SPDX-License-Identifier: Apache-2.0
"""modalpack --hex8: which rule is taken, what the basis says of it, that a plate one element thick bends, that stresses follow.
usage: check_hex8.py BIN"""
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy as np

binaries = pathlib.Path(sys.argv[1]).resolve()
STEEL = ["--young", "2e11", "--poisson", "0.3", "--density", "8000"]


def run(tool, *words, code=0):
    got = subprocess.run([binaries / tool, *map(str, words)], capture_output=True, text=True)
    assert got.returncode == code, (tool, words, code, got)
    return got


def deck(path, kinds, cells=(20, 1, 1), size=(10.0, 1.0, 0.5), wedges=0):
    """A bar; kinds[e % len(kinds)] is the type of its e-th element. wedges: so many cells at the end are two C3D6."""
    points = list(itertools.product(*(range(c + 1) for c in cells)))
    number = {p: i + 1 for i, p in enumerate(points)}
    lines = ["*NODE"] + [f"{number[p]}, " + ", ".join("%.17g" % (s * a / c) for s, a, c in zip(size, p, cells)) for p in points]
    of_kind, n = {}, 0
    for cell in itertools.product(*map(range, cells)):
        at = [number[tuple(a + b for a, b in zip(cell, c))]
              for c in ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1))]
        parts = [at] if cell[0] < cells[0] - wedges else [[at[i] for i in w] for w in ((0, 1, 2, 4, 5, 6), (0, 2, 3, 4, 6, 7))]
        for part in parts:
            n += 1
            of_kind.setdefault(kinds[n % len(kinds)] if len(part) == 8 else "C3D6", []).append([n] + part)
    for kind, elements in of_kind.items():
        lines += [f"*ELEMENT, TYPE={kind}"] + [", ".join(map(str, e)) for e in elements]
    lines += ["*NSET, NSET=ROOT"] + [str(number[p]) for p in points if p[0] == 0]
    pathlib.Path(path).write_text("\n".join(lines) + "\n")
    return path


def pack(mesh, *words, material=STEEL):
    got = run("modalpack", mesh, "b.h5", "-f", "--modes", 3, *material, *words)
    run("modalinfo", "--check", "b.h5")
    with h5py.File("b.h5") as file:
        rule = file["shapes/0000/volume"].attrs.get("stiffness_rule")
        recipe = file.attrs["recipe_hash"]
        return file["shapes/0000/modes/frequencies"][:], rule and rule.decode(), got.stderr, recipe


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    # a cantilever of one element across against Euler and Bernoulli, which 20 to 1 allows; without the modes it is no beam
    bar = deck("bar.inp", ["C3D8I"])
    exact = 1.875104**2 / (2 * np.pi * 10**2) * np.sqrt(2e11 * 0.5**2 / 12 / 8000)
    incompatible, rule, said, recipe = pack(bar, "--fixed", "ROOT")
    assert rule == "incompatible" and abs(incompatible[0] / exact - 1) < 0.01, (rule, incompatible[0], exact)
    assert "hint" not in said and "modalinfo" not in said, said
    assert "incompatible modes in HEX8" in run("modalinfo", "b.h5").stdout
    plain, rule, said, other = pack(bar, "--fixed", "ROOT", "--hex8", "conforming")
    assert rule is None and plain[0] / exact > 1.2 and other != recipe, (rule, plain[0], exact)
    assert "hint: linear elements" in said, said
    assert "incompatible" not in run("modalinfo", "b.h5").stdout

    # who decides: --hex8, then what is asked for, then the file
    for kinds, words, wanted, told in (
            (["C3D8I"], ["--hex8", "incompatible"], "incompatible", None),
            (["C3D8"], [], None, "the file has C3D8"), (["C3D8"], ["--hex8", "incompatible"], "incompatible", None),
            (["C3D8R"], [], "incompatible", "without their R, H or M, 20: 20 C3D8R"),
            (["C3D8I", "C3D8"], [], "incompatible", "C3D8 are treated as C3D8I"),
            (["C3D8I"], ["--derivatives", "2"], None, "as large deformations need them"),
            (["C3D8I"], ["--reduced-forces"], None, "as large deformations need them"),
            (["C3D8I"], ["--reduced-forces", "--hex8", "conforming"], None, None)):
        _, rule, said, _ = pack(deck("d.inp", kinds), *words)
        assert rule == wanted and (told is None or told in said), (kinds, words, rule, said)
        assert ("--hex8 conforming:" in said) == (told is not None and wanted is None), (kinds, words, said)
    for words, message in ((["--hex8", "soft"], "--hex8: must be incompatible or conforming, soft"),
                           (["--hex8", "incompatible", "--reduced-forces"], "--hex8 incompatible: is for linear analysis, --reduced-forces"),
                           (["--hex8", "incompatible", "--derivatives", "3"], "--hex8 incompatible: is for linear analysis, --derivatives")):
        got = run("modalpack", bar, "c.h5", *STEEL, *words, code=2).stderr
        assert message in got and "--hex8 conforming" in got or "soft" in words, got
        assert not os.path.exists("c.h5")

    # meshes that have nothing of it say nothing; wedges only near nu = 1/2, where they still warn
    rubber = ["--young", "1e6", "--poisson", "0.499", "--density", "1000"]
    wedges = deck("wedges.inp", ["C3D8"], wedges=20)
    assert pack(wedges)[1] is None
    soft, rule, said, _ = pack(wedges, material=rubber)
    assert rule == "incompatible" and "much too stiff near nu = 0.5" in said, said
    assert soft[0] < pack(wedges, "--hex8", "conforming", material=rubber)[0][0]
    assert "much too stiff near" not in pack(bar, material=rubber)[2]
    assert "much too stiff near" in pack(bar, "--hex8", "conforming", material=rubber)[2]
    # bodies of which one has hexahedra
    mixed = pathlib.Path(deck("mixed.inp", ["C3D8I"], cells=(2, 1, 1))).read_text()
    far = "*NODE\n" + "".join(f"{100 + i}, {20 + x}, {y}, {z}\n" for i, (x, y, z) in enumerate(((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))))
    pathlib.Path("mixed.inp").write_text(mixed + far + "*ELEMENT, TYPE=C3D4\n100, 100, 101, 102, 103\n")
    run("modalpack", "mixed.inp", "m.h5", "--shapes", "bodies", *STEEL, "--modes", 2)
    with h5py.File("m.h5") as file:
        assert [file[f"shapes/{k:04}/volume"].attrs.get("stiffness_rule") for k in (0, 1)] == [b"incompatible", None]

    # stresses follow the rule: in the first bending mode sigma_xx is E kappa z, and nothing presses across the beam. Conforming elements,
    # of the same displacements, press, since they cannot contract.
    pack(bar, "--fixed", "ROOT")
    pathlib.Path("plain.h5").write_bytes(pathlib.Path("b.h5").read_bytes())
    with h5py.File("plain.h5", "r+") as file:
        del file["shapes/0000/volume"].attrs["stiffness_rule"]
    for basis, is_plain in (("b.h5", False), ("plain.h5", True)):
        run("modaldeform", basis, "out", "-f", "--output-mesh", "volume", "--fields", "stress", "--modes", 0)
        with h5py.File(next(pathlib.Path("out").glob("*.vtkhdf"))) as file, h5py.File("b.h5") as of:
            rest = of["shapes/0000/volume/nodes"][:]
            stress, moved = file["xdmf/000008/stress_nodes"][:], file["xdmf/000008/Points"][:] - rest
        top = np.flatnonzero((rest[:, 1] == 0) & (rest[:, 2] == 0.5))
        top = top[np.argsort(rest[top, 0])]
        kappa = -np.diff(moved[top, 2], 2) / 0.5**2
        wanted, found = 2e11 * kappa * 0.25, stress[top[1:-1]]
        largest = np.abs(wanted).max()
        off, across = np.abs(found[:, 0] - wanted).max() / largest, np.abs(found[3:, 2]).max() / largest  # not at the root
        assert (off > 0.15 and across > 0.2) if is_plain else (off < 0.03 and across < 0.03), (basis, off, across)

    # and so do the strains that modalsim looks at, at one Gauss point of each element here: of a bent brick kappa z along the beam and no shear
    strains = []
    for basis in ("plain.h5", "b.h5"):
        run("modalsim", basis, "t.h5", "-f", "--duration", 0.001, "--fps", 1000, "--initial", "0=1")
        with h5py.File("t.h5") as file:
            strains.append(file["quality"][0, file.attrs["quality_columns"].decode().split(" ").index("strain")])
    run("modaldeform", "t.h5", "out", "-f", "--basis", "b.h5", "--output-mesh", "volume")
    with h5py.File(next(pathlib.Path("out").glob("*.vtkhdf"))) as file:
        moved = file["xdmf/000000/Points"][:] - rest
    bent = np.abs(np.diff(moved[top, 2], 2)).max() / 0.5**2 * 0.25 / np.sqrt(3)
    assert strains[0] / bent > 1.15 and abs(strains[1] / bent - 1) < 0.06, (strains, bent)

    # a file that lies is refused
    pack(bar)
    for change, message in ((lambda f: f["shapes/0000/volume"].attrs.__setitem__("stiffness_rule", np.bytes_("soft")),
                             "stiffness_rule: must be conforming or incompatible, is \"soft\""),
                            (lambda f: f["shapes/0000"].create_group("reduced_forces"), "stiffness_rule must be conforming with reduced_forces")):
        pathlib.Path("bad.h5").write_bytes(pathlib.Path("b.h5").read_bytes())
        with h5py.File("bad.h5", "r+") as file:
            change(file)
        got = run("modalinfo", "--check", "bad.h5", code=1)
        assert message in got.stdout + got.stderr, (message, got)
print("hex8 ok")
