# SPDX-License-Identifier: Apache-2.0
"""modaltled beside NiftySim, whose sources and builds are not part of the repository: one script writes each case for both. Tetrahedra,
tetrahedra with nodal pressures, hexahedra, fibres, Prony terms; and their speed on one thread.
usage: check_niftysim.py MODALTLED NIFTYSIM_PROGRAM (empty: skipped, exit code 77)"""
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
from soft_box import box  # noqa: E402

modaltled = pathlib.Path(sys.argv[1]).resolve()
if len(sys.argv) < 3 or not sys.argv[2] or not os.access(sys.argv[2], os.X_OK):
    print("skipped: no NiftySim (cmake -DMODAL_NIFTYSIM=PROGRAM)")
    sys.exit(77)
niftysim = pathlib.Path(sys.argv[2]).resolve()
os.chdir(tempfile.mkdtemp(prefix="niftysim-"))
os.environ["OMP_NUM_THREADS"] = "1"
MU, BULK, DENSITY, ALPHA, KAPPA, SIDE, PULL = 1006.71, 50e3, 1000.0, 20.0, 0.075, 0.1, 0.02


def check(fine, *said):
    assert fine, said


def write_xml(x, elements, law, step, steps, pull):
    kind = {"H8": "H8", "ANP": "T4ANP"}.get(law, "T4")
    low, high = np.flatnonzero(np.isclose(x[:, 2], 0)), np.flatnonzero(np.isclose(x[:, 2], SIDE))
    rows = lambda a: "\n".join(" ".join("%.9g" % v for v in row) for row in a)
    more = ""
    if law == "TI":
        material, values = "TI", [MU, BULK, 5e3, 0.0, 0.6, 0.8]
    elif law == "NHV":
        material, values = "NHV", [MU, BULK]
        more = '<ViscoParams NumIsoTerms="1" NumVolTerms="1">0.5 0.1 0.2 0.3</ViscoParams>'
    else:
        material, values = "NH", [MU, BULK]
    fixed = lambda dof, nodes: '<Constraint DOF="%d" NumNodes="%d" Type="Fix"><Nodes>%s</Nodes></Constraint>' % (
        dof, len(nodes), " ".join(map(str, nodes)))
    both = np.concatenate([low, high])
    return "\n".join([
        '<?xml version="1.0" encoding="utf-8"?>\n<Model>', f'<Nodes DOF="3" NumNodes="{len(x)}">', rows(x), "</Nodes>",
        f'<Elements NumEls="{len(elements)}" Type="{kind}">', rows(elements), "</Elements>",
        f'<ElementSet Size="all"><Material Type="{material}"><ElasticParams NumParams="{len(values)}">' + " ".join("%.9g" % v for v in values) +
        f"</ElasticParams>{more}</Material></ElementSet>",
        fixed(0, both), fixed(1, both), fixed(2, low),
        f'<Constraint DOF="2" NumNodes="{len(high)}" Type="Disp" LoadShape="POLY345"><Nodes>{" ".join(map(str, high))}</Nodes>'
        f'<Magnitudes Type="UNIFORM">{pull}</Magnitudes></Constraint>',
        f"<SystemParams><TimeStep>{step:.9g}</TimeStep><TotalTime>{step * steps:.9g}</TotalTime><DampingCoeff>{ALPHA}</DampingCoeff>"
        f"<HGKappa>{KAPPA}</HGKappa><Density>{DENSITY}</Density></SystemParams>", "</Model>"])


def both(cells, law, step, steps, pull=PULL):
    """Displacements at the end and processor seconds of the programs, of modaltled and of NiftySim."""
    kind = "hex" if law == "H8" else "tet"
    x, elements = box("c.msh", (cells,) * 3, SIDE / cells, kind)
    pathlib.Path("c.xml").write_text(write_xml(x, elements, law, step, steps, pull))
    material = {"mu": MU, "bulk": BULK, "density": DENSITY}
    if law == "TI":
        material["fibres"] = {"stiffness": 5e3, "direction": [0, 0.6, 0.8]}
    if law == "NHV":
        material["prony"] = {"isochoric": [[0.5, 0.1]], "volumetric": [[0.2, 0.3]]}
    pathlib.Path("m.json").write_text(json.dumps({"materials": {"a": material}, "default": "a"}))
    pathlib.Path("s.json").write_text(json.dumps({
        "step": step, "steps": steps, "at_steps": [steps], "damping": {"alpha": ALPHA}, "hourglass": KAPPA, "nodal_pressure": law == "ANP",
        "displacements": [{"nodes": "low", "displacement": [0, 0, 0]},
                          {"nodes": "high", "displacement": [0, 0, pull], "curve": {"smooth": [0, step * steps]}}]}))
    used = [resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime]
    got = subprocess.run([modaltled, "c.msh", "o.h5", "-f", "-q", "-j", "1", "--scene", "s.json", "--materials", "m.json", "--fields", "none",
                          "--report", "r.json"], capture_output=True, text=True)
    used.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime)
    check(got.returncode == 0, law, got.stderr)
    with h5py.File("o.h5") as f:
        ours = f["displacements"][-1].astype(float)
    got = subprocess.run([niftysim, "-x", "c.xml", "-t", "-print", "ND"], capture_output=True, text=True)
    check(got.returncode == 0, law, got.stdout[-400:], got.stderr[-400:])
    used.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime)
    table = [line.split() for line in got.stdout.split("\n") if re.match(r"\d+\t[+-]", line)]
    theirs = np.array(table, float)[:, 1:]
    return ours, theirs, *np.diff(used)


for law in ("NH", "ANP", "H8", "TI", "NHV"):
    ours, theirs, _, _ = both(6, law, 2.5e-4 if law != "H8" else 2.5e-4, 2000)
    error = np.abs(ours - theirs).max() / PULL
    print(f"{law}: differs by {error:.2g} of the displacement")
    check(error < 3e-3, law, error)
for law, n, most in (("NH", 48000, 500), ("H8", 8000, 2500)):
    ratios, rates = [], []
    for _ in range(3):  # the difference of two runs: steps alone, whatever else the machine does
        few, many = (np.array(both(20, law, 5e-5, steps, 1e-4)[2:]) for steps in (100, most))
        ratios.append((many - few)[1] / (many - few)[0])
        rates.append((most - 100) * n / (many - few) * 1e-6)
    ratio, rate = np.median(ratios), np.median(rates, axis=0)
    print(f"{law}, {n:,} elements, processor time of one thread each, interleaved: {rate[0]:.1f} and {rate[1]:.1f} million element steps a second, "
          f"{ratio:.1f} x")
    check(ratio >= 5, law, ratios)
