#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Units of what users hand over: the same body in several units is the same body.

check_units.py files|cad BIN SOURCE; exit 77 (skipped), with a reason, where a meshing library or Gmsh is absent.
"""
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

import h5py
import numpy as np

what, binaries, source = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3]).resolve()
STEEL = ["--young", "2.1e11", "--poisson", "0.3", "--density", "7850"]
os.chdir(tempfile.mkdtemp(prefix="units-"))


def run(tool, *words, code=0):
    got = subprocess.run([str(binaries / tool), *map(str, words)], capture_output=True, text=True, timeout=120)
    assert got.returncode == code, (tool, words, got)
    if code:
        lines = got.stderr.rstrip("\n").split("\n")
        assert lines[-1].startswith(tool + ": "), got
    return got.stderr


def frequencies(mesh, *options):
    run("modalpack", mesh, "b.h5", "-f", "--modes", 6, "--hex8", "conforming", "--report", "r.json", *options)  # a deck says C3D8, a .msh nothing
    report = json.loads(pathlib.Path("r.json").read_text())["meshes"][-1]
    with h5py.File("b.h5") as f:
        return f["shapes/0000/modes/frequencies"][:], report


def same(a, b, tolerance, *where):
    worst = np.max(np.abs(a / b - 1))
    assert worst <= tolerance, (*where, worst, a, b)


def has_engine(name):
    text = subprocess.run([str(binaries / "modalmesh"), "--version"], capture_output=True, text=True).stdout
    return not re.search(f"{name} absent", text)


# ---- a bar of n x 1 x 1 cubes, 0.1 m long ----


def bar(n, unit):
    """Vertices and triangles of its surface, in so many metres."""
    index, vertices, triangles = {}, [], []

    def number(p):
        if p not in index:
            index[p] = len(vertices)
            vertices.append([0.1 / n * c / unit for c in p])
        return index[p]

    size = (n, 1, 1)
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for side in (0, size[axis]):
            for i in range(size[u]):
                for j in range(size[v]):
                    corners = []
                    for a, b in ((0, 0), (1, 0), (1, 1), (0, 1)):
                        p = [0, 0, 0]
                        p[axis], p[u], p[v] = side, i + a, j + b
                        corners.append(number(tuple(p)))
                    if side == 0:
                        corners.reverse()
                    triangles += [[corners[0], corners[1], corners[2]], [corners[0], corners[2], corners[3]]]
    return np.array(vertices), np.array(triangles)


def write_stl(name, surface):
    vertices, triangles = surface
    with open(name, "wb") as f:
        f.write(b"a bar".ljust(80) + struct.pack("<I", len(triangles)))
        for t in triangles:
            f.write(struct.pack("<12fH", 0, 0, 0, *vertices[t].ravel(), 0))


def write_obj(name, surface):
    with open(name, "w") as f:
        f.writelines("v %.17g %.17g %.17g\n" % tuple(v) for v in surface[0])
        f.writelines("f %d %d %d\n" % tuple(t + 1) for t in surface[1])


def write_inp(name, unit, young, density):
    """The bar of 4 x 1 x 1 hexahedra."""
    lines = ["*NODE"]
    lines += [f"{1 + i + 5 * (j + 2 * k)}, {0.1 / 4 * i / unit!r}, {0.1 / 4 * j / unit!r}, {0.1 / 4 * k / unit!r}"
              for k in range(2) for j in range(2) for i in range(5)]
    lines.append("*ELEMENT, TYPE=C3D8, ELSET=ALL")
    lines += [f"{i + 1}, " + ", ".join(str(1 + i + a + 5 * (b + 2 * c)) for c in (0, 1)
                                       for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))) for i in range(4)]
    lines += ["*MATERIAL, NAME=STEEL", "*ELASTIC", f"{young!r}, 0.3", "*DENSITY", repr(density),
              "*SOLID SECTION, ELSET=ALL, MATERIAL=STEEL", ""]
    pathlib.Path(name).write_text("\n".join(lines))


UNITS = {"m": 1, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "in": 0.0254, "ft": 0.3048}
NEWTON = {"m": 1, "cm": 1e-5, "mm": 1, "um": 1e-6, "in": 4.4482216152605, "ft": 4.4482216152605}


def check_doubts():
    """Densities and moduli that no solid has, at each place where they come in: one warning each, with the unit that was meant."""
    def doubts(tool, *words):
        said = run(tool, *words)
        return [line.split(": ", 3)[3] for line in said.split("\n") if "no solid" in line]

    def numbers(young, density):
        return ["--young", young, "--poisson", 0.3, "--density", density]

    heavy, steel = "no solid has a density of 7.85e-09 kg/m^3; in t/mm^3 it is 7850 kg/m^3", "no solid of 7850 kg/m^3 has a Young's modulus of"
    pack = ["modalpack", "m.msh", "b.h5", "-f", "--modes", 1]
    for young, density, wanted in (
            (2.1e11, 7850, []), (1.2e12, 3515, []), (9.6e11, 2200, []), (1e3, 1000, []), (1e5, 3, []), (1.6e10, 11340, []), (5e11, 22600, []),
            (210000, 7850, [f"{steel} 2.1e+05 Pa; in MPa it is 2.1e+11 Pa"]),
            (210, 7850, [f"{steel} 210 Pa; in GPa it is 2.1e+11 Pa"]),
            (2.1e11, 7.85e-9, [heavy]),
            (210000, 7.85e-9, [heavy, f"{steel} 2.1e+05 Pa; in MPa it is 2.1e+11 Pa"]),
            (2.1e11, 7.85e-6, ["no solid has a density of 7.85e-06 kg/m^3; in kg/mm^3 it is 7850 kg/m^3"]),
            (2.1e11, 0.284, ["no solid has a density of 0.284 kg/m^3; in lb/in^3 it is 7861 kg/m^3"]),
            (2.1e11, 7.85, ["no solid of 7.85 kg/m^3 has a Young's modulus of 2.1e+11 Pa; is the density in g/cm^3?"]),
            (7e10, 2.7e6, ["no solid has a density of 2.7e+06 kg/m^3"])):
        got = doubts(*pack, *numbers(young, density))
        assert got == [f'material "all": {text}' for text in wanted], (young, density, got)
    assert doubts(*pack, *numbers(2.1e11, 7850), "--material", "ALL=2.1e11,0.3,7.85e-9") == [f'material "ALL": {heavy}']
    orthotropic = {"young": [1e4, 5e3, 5e3], "poisson": [0.3, 0.3, 0.3], "shear": [4e3, 4e3, 4e3], "density": 2700}
    for material, wanted in (({"young": 2.1e11, "poisson": 0.3, "density": 7.85e-9}, heavy),
                             (orthotropic, "no solid of 2700 kg/m^3 has a Young's modulus of 1e+04 Pa; in MPa it is 1e+10 Pa")):
        pathlib.Path("doubt.json").write_text(json.dumps({"materials": {"plate": material}, "default": "plate"}))
        assert doubts(*pack, "--materials", "doubt.json") == [f'material "plate": {wanted}'], material
    pathlib.Path("doubt.json").write_text(json.dumps({"steps": 1, "step": "auto", "every": 1}))
    assert doubts("modaltled", "m.msh", "s.h5", "-f", "--scene", "doubt.json", *numbers(3e3, 1e-9)) == [
        'material "all": no solid has a density of 1e-09 kg/m^3; in t/mm^3 it is 1000 kg/m^3']
    # decks, by the doors that convert and describe
    write_inp("kg.inp", 1e-3, 2.1e5, 7.85e-6)
    wanted = ['material "STEEL": no solid has a density of 7850000 kg/m^3; in kg/mm^3 it is 7850 kg/m^3'.replace("7850000", "7.85e+06")]
    assert doubts("modalmesh", "kg.inp", "kg.msh", "--unit", "mm", "--materials-out", "kg.json") == wanted
    assert doubts("modalinfo", "kg.inp", "--unit", "mm") == wanted
    assert doubts("modalpack", "kg.inp", "b.h5", "-f", "--modes", 1, "--unit", "mm") == wanted
    assert doubts("modalpack", "kg.inp", "b.h5", "-f", "--modes", 1, "--unit", "mm", *STEEL) == []
    write_obj("bar.obj", bar(2, 1))
    assert doubts("modalpack", "--rigid", "bar.obj", "b.h5", "-f", "--density", 7.85e-9) == [heavy]
    said = run("modalpack", "m.msh", "b.h5", "-f", *STEEL, "--fixed", "plane:50,0,0:1,0,0", code=3)
    assert "no node of the solid there, plane:50,0,0:1,0,0 (m; the solid reaches from 0 0 0 to 0.1 0.025 0.025 m)" in said, said


def check_files():
    # materials of .inp in every consistent system: the same frequencies, the same mass
    write_inp("m.inp", 1, 2.1e11, 7850.0)
    of_metres, report = frequencies("m.inp")
    assert abs(report["mass_kg"] / (7850 * 0.1 * 0.025**2) - 1) < 1e-12, report
    assert np.allclose(report["box_m"], [[0, 0, 0], [0.1, 0.025, 0.025]], rtol=0, atol=1e-15), report
    for name, metres in UNITS.items():
        write_inp("u.inp", metres, 2.1e11 * metres**2 / NEWTON[name], 7850.0 * metres**4 / NEWTON[name])
        found, other = frequencies("u.inp", "--unit", name)
        same(found, of_metres, 1e-9, name)
        assert abs(other["mass_kg"] / report["mass_kg"] - 1) < 1e-9, (name, other, report)
        run("modalmesh", "u.inp", "u.msh", "--unit", name, "--materials-out", "u.json", "-f")
        same(frequencies("u.msh", "--materials", "u.json")[0], of_metres, 1e-9, name, "modalmesh")
    # what is said of them; a scale makes the body larger, of the same stuff
    said = run("modalpack", "u.inp", "b.h5", "-f", "--modes", 1, "--unit", "ft")
    assert "in ft, lbf, slug, s: E in lbf/ft^2 is times 47.88" in said and "times 515.37" in said, said
    assert "box 0.1 x 0.025 x 0.025 m" in said and "mass 0.490625 kg" in said, said
    same(frequencies("m.inp", "--scale", 2)[0], of_metres / 2, 1e-9, "scale")
    write_inp("mm.inp", 1e-3, 2.1e5, 7.85e-9)
    warned = run("modalpack", "mm.inp", "b.h5", "-f", "--modes", 1)
    assert "warning: mm.inp: material \"STEEL\": no solid has a density of 7.85e-09 kg/m^3; in t/mm^3 it is 7850 kg/m^3: is the file in mm, N, t, " \
           "s (--unit mm)?" in warned and warned.count("no solid") == 1, warned
    assert "warning" not in run("modalpack", "mm.inp", "b.h5", "-f", "--modes", 1, "--unit", "mm").replace("hint", "")
    # a plain mesh, whose materials are SI whatever its unit
    run("modalmesh", "m.inp", "m.msh", "-f")
    same(frequencies("m.msh", *STEEL, "--unit", "mm")[0], 1000 * of_metres, 1e-9, "mesh in mm")
    said = run("modalpack", source / "tests/files/good.veg", "b.h5", "-f", "--modes", 1, "--unit", "mm")
    assert "its materials are taken to be in Pa and kg/m^3" in said, said
    check_doubts()
    # sizes that no body has
    for tool, words in (("modalmesh", ["o.msh"]), ("modalpack", ["b.h5", "--modes", 1, *STEEL])):
        def sizes(*options):
            return re.findall("warning: .*the body is .*", run(tool, "m.msh", *words, "-f", *options))
        assert not sizes() and not sizes("--scale", 999) and not sizes("--unit", "mm", "--scale", 1.001), tool
        assert sizes("--scale", 1001) == ["warning: m.msh: the body is large, 100.1 m; were the file in mm (--unit mm), it "
                                          "would be 0.1001 m"], sizes("--scale", 1001)
        assert "were the file in m (--unit m), it would be 0.1 m" in sizes("--unit", "um")[0], sizes("--unit", "um")
        assert "--scale changes it" in sizes("--scale", 1e-4)[0], sizes("--scale", 1e-4)
        for option, value, message in (("--unit", "furlong", "--unit: must be one of m, cm, mm, um, in, ft, furlong"),
                                       ("--unit", "MM", "m, cm, mm, um, in, ft, MM"),
                                       ("--unit", "", "--unit: must be one of"),
                                       ("--scale", "0", "--scale: must be > 0, 0"), ("--scale", "-1", "--scale: must be"),
                                       ("--scale", "nan", "--scale: "), ("--scale", "1x", "--scale: ")):
            assert message in run(tool, "m.msh", *words, "-f", option, value, code=2), (tool, option, value)
    # a finer surface in a unit of its own; one that is left in millimetres is warned of
    for name, unit in (("fine.obj", 1), ("fine_mm.obj", 1e-3)):
        write_obj(name, bar(4, unit))
    first = run("modalpack", "m.msh", "b.h5", "-f", "--modes", 1, *STEEL, "--surface", "fine.obj")
    second = run("modalpack", "m.msh", "b.h5", "-f", "--modes", 1, *STEEL, "--surface", "fine_mm.obj", "--surface-unit", "mm")
    assert first == second and "another unit" not in first, (first, second)
    both = frequencies("m.msh", *STEEL, "--surface", "fine_mm.obj", "--unit", "mm")
    assert both[1]["box_m"][1][0] < 2e-4
    assert "fine_mm.obj: 100 m long, the solid 0.1 m; is it in another unit (--surface-unit)?" in run(
        "modalpack", "m.msh", "b.h5", "-f", "--modes", 1, *STEEL, "--surface", "fine_mm.obj")
    assert "--surface-unit: needs --surface" in run("modalpack", "m.msh", "b.h5", "-f", *STEEL, "--surface-unit", "mm", code=2)
    # an .stl in millimetres and the same in metres
    if not has_engine("TetGen") and not has_engine("Gmsh"):
        print("neither TetGen nor Gmsh: surfaces left out")
        return
    found = {}
    for name, options in (("m", []), ("mm", ["--unit", "mm"])):
        write_stl(f"{name}.stl", bar(12, UNITS[name]))
        said = run("modalmesh", f"{name}.stl", f"{name}.msh", "-f", *options)
        assert "box 0.1 x 0.00833333 x 0.00833333 m" in said, said
        found[name] = frequencies(f"{name}.msh", *STEEL)[0]
    same(found["mm"], found["m"], 1e-6, "stl")
    print("stl:", np.max(np.abs(found["mm"] / found["m"] - 1)))


# Lengths of whole inches and binary fractions of them: the same numbers after the conversion, and so the same mesh. (With
# others the last digits differ, then the meshes, then the frequencies by what the mesh leaves open: 1e-3 at this size.)
PART = """SetFactory("OpenCASCADE");
k = %.17g;
Box(1) = {0, 0, 0, 4*k, k, k/2};
Cylinder(2) = {2*k, k/2, -k/2, 0, 0, 2*k, k/4};
BooleanDifference(3) = { Volume{1}; Delete; }{ Volume{2}; Delete; };
"""
MILLIMETRE = "( LENGTH_UNIT() NAMED_UNIT(*) SI_UNIT(.MILLI.,.METRE.) )"


def check_cad():
    if not has_engine("Gmsh"):
        print("SKIPPED: built without Gmsh")
        sys.exit(77)
    if not shutil.which("gmsh"):
        print("SKIPPED: no gmsh command to make geometries with")
        sys.exit(77)
    for name, k in (("mm", 25.4), ("inch", 1), ("metre", 0.0254)):
        pathlib.Path(name + ".geo").write_text(PART % k)
        for suffix in ("step", "brep"):
            subprocess.run(["gmsh", "-0", name + ".geo", "-o", f"{name}.{suffix}", "-v", "1"], check=True, capture_output=True)
    text = pathlib.Path("inch.step").read_text()
    assert text.count(MILLIMETRE) == 1, "Gmsh writes another unit"
    number = re.search(r"#(\d+) = " + re.escape(MILLIMETRE), text).group(1)
    inch = (f"( CONVERSION_BASED_UNIT('INCH',#900002) LENGTH_UNIT() NAMED_UNIT(#900003) );\n#900001 = {MILLIMETRE};\n"
            "#900002 = LENGTH_MEASURE_WITH_UNIT(LENGTH_MEASURE(25.4),#900001);\n"
            "#900003 = DIMENSIONAL_EXPONENTS(1.,0.,0.,0.,0.,0.,0.)")
    pathlib.Path("inch.step").write_text(text.replace(MILLIMETRE, inch))
    text = pathlib.Path("metre.step").read_text()
    pathlib.Path("metre.step").write_text(text.replace(".MILLI.,.METRE.", "$,.METRE."))
    text = pathlib.Path("mm.step").read_text()
    without = re.sub(r"GLOBAL_UNIT_ASSIGNED_CONTEXT\s*\(\([^)]*\)\)", "", text)
    assert without != text
    pathlib.Path("without.step").write_text(without)
    # a unit that no context has is no unit of the file; nor is one in a text or a comment
    pathlib.Path("unused.step").write_text(without.replace("ENDSEC;\nEND-", "/* #1=(GLOBAL_UNIT_ASSIGNED_CONTEXT((#%s))) */\n"
                                                           "ENDSEC;\nEND-" % number))
    found, reports = {}, {}
    for name, unit in (("mm", "millimetre"), ("inch", "inch"), ("metre", "metre")):
        said = run("modalmesh", f"{name}.step", f"{name}.msh", "--size", 0.006, "--order", 2, "-f")
        assert f"{name}.step: its unit is the {unit}\n" in said and "box 0.1016 x 0.0254 x 0.0127 m" in said, said
        found[name], reports[name] = frequencies(f"{name}.msh", *STEEL)
    for name in ("inch", "metre"):
        same(found[name], found["mm"], 1e-4, name)
        print(f"step, {name} and mm:", np.max(np.abs(found[name] / found["mm"] - 1)))
    # the first bending mode of a free bar of that size: some kHz, not some Hz
    assert 3000 < found["mm"][0] < 9000, found["mm"]
    # made of another file the mesh is another one, within what this size leaves open
    for name, options in (("mm.brep", ["--unit", "mm"]), ("mm.geo", ["--unit", "mm"]), ("inch.brep", ["--unit", "in"]),
                          ("without.step", ["--unit", "mm"]), ("metre.geo", []), ("mm.geo", ["--scale", "0.001"])):
        run("modalmesh", name, "o.msh", "--size", 0.006, "--order", 2, "-f", *options)
        same(frequencies("o.msh", *STEEL)[0], found["mm"], 2e-3, name, options)
    # a script that merges a file gets it in the script's unit
    for unit in ("mm", "m", "in"):
        pathlib.Path("merge.geo").write_text('Merge "inch.step";\n')
        run("modalmesh", "merge.geo", "o.msh", "--size", 0.006, "--order", 2, "-f", "--unit", unit)
        same(frequencies("o.msh", *STEEL)[0], found["mm"], 2e-3, "merged", unit)
    said = run("modalmesh", "mm.step", "o.msh", "--size", 0.01, "--scale", 2, "-f")
    assert "box 0.2032 x 0.0508 x 0.0254 m" in said, said
    assert "--unit: mm.step says its own unit, millimetre" in run("modalmesh", "mm.step", "n.msh", "--unit", "mm", code=2)
    for name in ("without", "unused"):
        assert f"{name}.step: says no unit of length; give it" in run("modalmesh", f"{name}.step", "n.msh", code=3), name
    # IGES: the global section, whose fields 14 and 15 are the unit
    for flag, name, unit in (("1", "4HINCH", "inch"), ("2", "2HMM", "millimetre"), ("6", "", "metre"), ("3", "2HKM", "km"),
                             ("", "", None), ("0", "", None), ("12", "", None)):
        section = f"1H,,1H;,4Hpart,8Hpart.igs,2Hus,1H1,32,38,6,308,15,4Hpart,1.,{flag},{name},1,0.01,15H20260101.000000,;"
        lines = ["".ljust(72) + "S      1"]
        lines += [section[i:i + 72].ljust(72) + "G%7d" % (i // 72 + 1) for i in range(0, len(section), 72)]
        lines.append("S      1G%7d%s" % (len(lines) - 1, "".ljust(56)) + "T      1")
        pathlib.Path("part.igs").write_text("\n".join(lines) + "\n")
        said = run("modalmesh", "part.igs", "n.msh", code=3)  # no geometry in it
        if unit:
            assert f"part.igs: its unit is the {unit}\n" in said, (flag, said)
            assert f"says its own unit, {unit}" in run("modalmesh", "part.igs", "n.msh", "--unit", "mm", code=2)
        else:
            assert "part.igs: says no unit of length, field 14 of its global section is empty" in said, (flag, said)
    pathlib.Path("part.igs").write_text("".ljust(72) + "S      1\n1H,,1H;,4Hpart".ljust(72) + "G      1\n")
    assert "part.igs: no IGES file" in run("modalmesh", "part.igs", "n.msh", code=3)
    assert not pathlib.Path("n.msh").exists()


check_files() if what == "files" else check_cad()
