# SPDX-License-Identifier: Apache-2.0
"""What comes out of modaltled: materials with laws, fibres and viscosity kept in basis and snapshots, snapshots 1.1 checked,
every format that modaldeform makes of them, their projection to a basis, and the page of modalview.
usage: check_tissue.py BIN_FOLDER SOURCE_FOLDER PART"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import h5py
import numpy as np

from damage import replaced
from soft_box import box
from validator import validate

folder, source = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
modaltled, modalpack, modalsim, modaldeform, modalinfo, modalview = (
    folder / name for name in ("modaltled", "modalpack", "modalsim", "modaldeform", "modalinfo", "modalview"))
os.chdir(tempfile.mkdtemp(prefix="tissue-"))
SOFT = ["--young", 3e3, "--poisson", 0.4, "--density", 1000]


def check(fine, *said):
    assert fine, said


def run(tool, *words, code=0):
    got = subprocess.run([tool, *map(str, words)], capture_output=True, text=True)
    check(got.returncode == code, words, got.returncode, got.stderr)
    return got.stdout if tool == modalinfo and code == 0 else got.stderr


def save(name, values):
    pathlib.Path(name).write_text(json.dumps(values))


def sound(path):
    """Both checkers pass it."""
    run(modalinfo, path, "--check")
    validate(path)


def broken(path, change, said):
    """Both checkers refuse the file after the change, modalinfo with these words."""
    shutil.copy(path, "broken.h5")
    with h5py.File("broken.h5", "r+") as f:
        change(f)
    got = subprocess.run([modalinfo, "broken.h5", "--check"], capture_output=True, text=True)
    check(got.returncode == 1 and said in got.stdout + got.stderr, said, got.returncode, got.stdout, got.stderr)
    validate("broken.h5", 1)


MUSCLE = {"mu": 1e3, "bulk": 1e5, "density": 1060, "law": "logarithmic", "fibres": {"stiffness": 5e3, "direction": [0, 0, 2]},
          "prony": {"isochoric": [[0.3, 0.05], [0.2, 1]], "volumetric": [[0.1, 0.5]]}}


def check_materials():
    """Laws, fibres and viscosity go from the file of materials into the basis, and modalinfo shows them."""
    x, elements = box("m.msh", (2, 2, 2), 0.01)
    save("m.json", {"materials": {"muscle": MUSCLE}, "default": "muscle"})
    run(modalpack, "m.msh", "m.h5", "--materials", "m.json", "--modes", 4, "--ignore", "material", "--fixed", "low", "-f")
    sound("m.h5")
    with h5py.File("m.h5") as f:
        m = f["shapes/0000/volume/materials/0000"]
        check(m.attrs["law"] == b"logarithmic", dict(m.attrs))
        check(np.isclose(m.attrs["young"], 9 * 1e5 * 1e3 / (3e5 + 1e3), rtol=1e-15), m.attrs["young"])
        check(m.attrs["fibre_stiffness"] == 5e3 and (m["fibre"][:] == [0, 0, 1]).all())
        check((m["prony_isochoric"][:] == [[0.3, 0.05], [0.2, 1]]).all() and (m["prony_volumetric"][:] == [[0.1, 0.5]]).all())
    shown = json.loads(run(modalinfo, "m.h5", "--json"))["shapes"][0]["solid"]["materials"][0]
    check(shown["law"] == "logarithmic" and shown["prony"]["isochoric"][1] == [0.2, 1], shown)
    check("logarithmic, fibres of 5000 Pa, isochoric 0.3 in 0.05 s" in run(modalinfo, "m.h5"))

    tags = [i + 9 for i in range(len(elements))]  # after eight faces
    rng = np.random.default_rng(1)
    a = rng.normal(size=(len(elements), 3))
    order = rng.permutation(len(elements))
    pathlib.Path("f.csv").write_text("element,x,y,z\n" + "".join("%d,%.17g,%.17g,%.17g\n" % (tags[i], *a[i]) for i in order))
    own = {**MUSCLE, "fibres": {"stiffness": 5e3, "file": "f.csv"}}
    save("m.json", {"materials": {"muscle": own}, "default": "muscle"})
    run(modalpack, "m.msh", "f.h5", "--materials", "m.json", "--modes", 4, "--ignore", "material", "--fixed", "low", "-f")
    sound("f.h5")
    with h5py.File("f.h5") as f:
        got = f["shapes/0000/volume/fibres"][:]
        check(np.abs(got - a / np.linalg.norm(a, axis=1)[:, None]).max() < 1e-15, got)
    with h5py.File("m.h5") as m, h5py.File("f.h5") as f:
        check(m.attrs["content_hash"] == f.attrs["content_hash"], "no hash covers them")
    place = "shapes/0000/volume/materials/0000"
    broken("f.h5", replaced("shapes/0000/volume/fibres", 2 * got), "must have the length 1 or 0")
    broken("m.h5", replaced(f"{place}/fibre", [0, 0, 1.1]), "must have the length 1")
    broken("m.h5", replaced(f"{place}/prony_isochoric", [[0.5, 1.0], [0.5, 2.0]]), "must be < 1")
    broken("m.h5", replaced(f"{place}/prony_volumetric", [[0.5, 0.0]]), "the time must be > 0")
    broken("m.h5", lambda f: f[place].attrs.create("law", np.bytes_("linea")), "must be linear, stvk, neo_hookean or logarithmic")

    def refused(said, **changes):
        save("bad.json", {"materials": {"muscle": {**MUSCLE, **changes}}, "default": "muscle"})
        err = run(modalpack, "m.msh", "bad.h5", "--materials", "bad.json", "--modes", 4, code=3)
        check(said in err and not os.path.exists("bad.h5"), said, err)

    refused("/materials/muscle/law: none of", law="linear")
    refused("/materials/muscle/fibres/direction: has no direction", fibres={"stiffness": 1, "direction": [0, 0, 0]})
    refused("/materials/muscle/fibres/stiffness: must be > 0 Pa, 0", fibres={"stiffness": 0, "direction": [0, 0, 1]})
    refused("/materials/muscle/fibres/direction: not together with file",
            fibres={"stiffness": 1, "direction": [0, 0, 1], "file": "f.csv"})
    refused("sum of the isochoric Prony shares must be < 1, 1.1", prony={"isochoric": [[0.6, 1], [0.5, 1]]})
    refused("the share must be > 0, -0.1", prony={"volumetric": [[-0.1, 1]]})
    refused("at most 8 terms, 9", prony={"isochoric": [[0.01, 1]] * 9})
    refused("/materials/muscle/prony: has no terms", prony={})
    refused("/materials/muscle/bulk: must be > 0 Pa, -1", bulk=-1)
    refused("/materials/muscle/young: not together with mu and bulk", young=1e3)
    pathlib.Path("g.csv").write_text("9,0,0,1\n")
    refused("g.csv: no direction of element 10", fibres={"stiffness": 1, "file": "g.csv"})
    pathlib.Path("g.csv").write_text("9,0,0,1\n9,0,0,1\n")
    refused("g.csv: two directions of one element, 9", fibres={"stiffness": 1, "file": "g.csv"})
    pathlib.Path("g.csv").write_text("9,0,0,0\n")
    refused("g.csv: row 1: has no direction, element 9", fibres={"stiffness": 1, "file": "g.csv"})


def check_snapshots():
    """What modaltled writes is whole, and each rule of snapshots.md is seen where it is broken."""
    box("s.msh", (2, 2, 6), 0.01)
    save("s.json", {"step": "auto", "duration": 0.2, "fps": 100, "gravity": [1, 0, -2],
                    "laws": {"all": "stvk"}, "probes": [{"name": "tip", "nodes": "high"}, {"name": "foot", "nodes": "low"}]})
    run(modaltled, "s.msh", "s.h5", "--scene", "s.json", *SOFT, "--fixed", "low", "--fields", "solid,energy,velocities", "-f")
    sound("s.h5")
    info = json.loads(run(modalinfo, "s.h5", "--json"))
    check(info["solid"]["laws"] == {"stvk": 144} and abs(info["solid"]["mass"] - 0.024) < 1e-12, info["solid"])
    check(info["solid"]["materials"][0]["young"] == 3e3 and [g["name"] for g in info["solid"]["groups"]] == ["low", "high", "all"])
    check("stvk, 144 elements" in run(modalinfo, "s.h5"))
    with h5py.File("s.h5") as f:
        n, e, energy = f["solid/nodes"].shape[0], f["solid/element_type"].shape[0], f["energy"][:]
        types, law, mass = f["solid/element_type"][:], f["solid/element_law"][:], f["solid/mass"][:]
        check(f.attrs["modal_format_version"] == b"1.0" and "extensions_used" not in f.attrs, dict(f.attrs))
    worse = energy.copy()
    worse[3, 5] += 1e-3 * abs(energy).max()
    broken("s.h5", replaced("energy", worse), "/energy: snapshot 3: the balance is")
    check("energy_parts" in info["fields"] and info["probes"] == 2, info)
    broken("s.h5", lambda f: f["probes"].__delitem__("velocities"), "/probes/velocities: missing")
    broken("s.h5", replaced("probes/velocities", np.zeros((len(energy), 3, 3))), "/probes/velocities: shape must be")
    broken("s.h5", replaced("energy_parts", np.full((len(energy), 2), -1e-9)), "/energy_parts: snapshot 0: hourglass control stores less than nothing")
    broken("s.h5", replaced("energy_parts", np.zeros((len(energy), 3))), "/energy_parts: shape must be")
    broken("s.h5", lambda f: f.__delitem__("energy"), "/energy_parts: there is no /energy")
    types[5] = 6
    broken("s.h5", replaced("solid/element_type", types), "/solid/element_type: value 5: must be 0 to 5, is 6")
    types[5] = 2
    broken("s.h5", replaced("solid/element_type", types), "/solid/element_offsets: row 5: a HEX8 has 8 nodes, the row 4")
    law[7] = 0
    broken("s.h5", replaced("solid/element_law", law), "/solid/element_law: value 7: must be 1 to 3, is 0")
    mass[1] = 0
    broken("s.h5", replaced("solid/mass", mass), "/solid/mass: value 1: must be finite and > 0, is 0")
    broken("s.h5", replaced("solid/element_material", np.full(e, 1, "i4")), "/solid/element_material: row 0: outside [0, 1), 1")
    broken("s.h5", replaced("solid/groups/0000/nodes", np.array([3, 2], "i4")), "/solid/groups/0000/nodes")
    broken("s.h5", lambda f: f["probes"].attrs.create("names", np.bytes_("tip")), "/probes@names: 1 names of 2 probes")
    broken("s.h5", lambda f: f["displacements"].__setitem__((2, n - 1, 1), np.nan), "/displacements")
    broken("s.h5", lambda f: f["times"].__setitem__(2, 0.0), "/times: snapshot 2: not increasing")


PRESS = {"step": "auto", "duration": 1, "fps": 50, "damping": {"alpha": 5},
         "forces": [{"nodes": "high", "force": [8e-3, 2e-3, -6e-3], "curve": {"smooth": [0, 0.6]}}]}


def press(mesh, out, *words, kind="tet", cells=(3, 3, 9)):
    """A soft bar, pressed and bent at its top."""
    box(mesh, cells, 0.005, kind, 0.15)
    save("p.json", PRESS)
    run(modaltled, mesh, out, "--scene", "p.json", *SOFT, "--fixed", "low", "-f", *words)


def check_project():
    """q of every frame is (U^T M U)^-1 U^T M u, and the errors are those of U q; 20 columns leave less than 1e-3."""
    press("p.msh", "p.h5", "--arithmetic", "float64")
    basis = ["p.msh", "pb.h5", "--snapshots", "p.h5", *SOFT, "--fixed", "low", "--mass", "lumped", "--volume-modes", "float64", "-f"]
    run(modalpack, *basis, "--modes", 20)
    said = run(modalsim, "pb.h5", "pt.h5", "--project", "p.h5", "--report", "r.json", "-f")
    sound("pt.h5")
    with h5py.File("pb.h5") as b, h5py.File("p.h5") as s, h5py.File("pt.h5") as t:
        u, mass, q = s["displacements"][:], s["solid/mass"][:], t["q"][:]
        columns = b["shapes/0000/volume/volume_modes"][:]
        gram = np.einsum("ani,bni,n->ab", columns, columns, mass)
        want = np.linalg.solve(gram, np.einsum("ani,fni,n->af", columns, u, mass)).T
        check(np.abs(q - want).max() <= 1e-11 * np.abs(want).max(), np.abs(q - want).max())
        check(np.array_equal(t["times"][:], s["times"][:]) and t.attrs["modal_format_version"] == b"1.0")
        left, errors = u - np.einsum("fa,ani->fni", want, columns), t["projection_errors"][:]
        norm = lambda v: np.sqrt(np.einsum("fni,fni,n->f", v, v, mass))
        rows = np.stack([norm(left), norm(u), np.linalg.norm(left, axis=2).max(axis=1), np.linalg.norm(u, axis=2).max(axis=1)], 1)
        check((np.abs(errors - rows) <= 1e-12 * rows.max(axis=0)[[1, 1, 3, 3]]).all(), errors - rows)
        check(errors[0].tolist() == [0, 0, 0, 0])
        projected = dict(zip(t.attrs["quality_columns"].decode().split(), t["quality"][:].T))["projected"]
        check(np.allclose(projected, errors[:, 0] / errors[:, 1].max(), rtol=1e-12, atol=0))
    report = json.loads(pathlib.Path("r.json").read_text())["projection"]
    check(np.array_equal(report["errors"], errors), "errors by frame")
    worst = rows.max(axis=0)
    check(np.isclose(report["worst_of_largest"], worst[0] / worst[1]) and np.isclose(report["node_of_largest"], worst[2] / worst[3]), report)
    check(rows[np.arange(len(rows)) == report["frame"], 0] == worst[0] and "20 modes leave out at most" in said, report, said)
    check(report["worst_of_largest"] <= 1e-3 and report["node_of_largest"] <= 1e-3, "20 columns", report)
    check("projected" in run(modalinfo, "pt.h5") and "projection" in run(modalinfo, "pt.h5", "--json"))
    for threads in (1, 2):
        run(modalsim, "pb.h5", f"pt{threads}.h5", "--project", "p.h5", "-j", threads, "-f")
    with h5py.File("pt1.h5") as a, h5py.File("pt2.h5") as b:
        check(all(a[k][:].tobytes() == b[k][:].tobytes() for k in ("q", "projection_errors", "quality")), "threads")

    def change(f):
        f["projection_errors"][3, 2] = -1
    broken("pt.h5", change, "/projection_errors: value 14: must be finite and >= 0, is -1")

    def refused(said, code, *words, basis="pb.h5"):
        err = run(modalsim, basis, "no.h5", *words, code=code)
        check(said in err and not os.path.exists("no.h5"), said, err)

    press("o.msh", "o.h5", cells=(3, 3, 8))
    refused("pb.h5: o.h5: another solid: 144 nodes, not 160", 3, "--project", "o.h5")
    shutil.copy("p.h5", "moved.h5")
    with h5py.File("moved.h5", "r+") as f:
        f["solid/nodes"][7, 1] += 1e-4
    refused("pb.h5: moved.h5: another solid: node 7 is 0.0001 m away", 3, "--project", "moved.h5")
    shutil.copy("p.h5", "times.h5")
    with h5py.File("times.h5", "r+") as f:
        del f["times"]
    refused("times.h5: /times: missing, which a trajectory needs", 3, "--project", "times.h5")
    with h5py.File("still.h5", "w", libver=("earliest", "v108")) as f:
        f.attrs.update(modal_format="snapshots", modal_format_version="1.0")
        f["displacements"], f["times"] = np.zeros((2, 160, 3)), [0.0, 1.0]
    refused("still.h5: nothing moves", 3, "--project", "still.h5")
    run(modalpack, *["none.h5" if w == "pb.h5" else "none" if w == "float64" else w for w in basis], "--modes", 4)
    refused("no modes at the nodes of a solid", 3, "--project", "p.h5", basis="none.h5")
    refused("--fps: not with --project, p.h5", 2, "--project", "p.h5", "--fps", 5)
    refused("--project: not with --rebase, p.h5", 2, "--project", "p.h5", "--rebase", "pt.h5")
    refused("pt.h5", 3, "--project", "pt.h5")


def neo_hookean(h, young=3e3, poisson=0.4):
    """J and von Mises' Cauchy stress of displacement gradients [.., 3, 3]."""
    mu, bulk = young / (2 + 2 * poisson), young / (3 - 6 * poisson)
    f = h + np.eye(3)
    j, b = np.linalg.det(f), f @ np.swapaxes(f, -1, -2)
    deviator = b - np.trace(b, axis1=-2, axis2=-1)[..., None, None] / 3 * np.eye(3)
    stress = mu * j[..., None, None] ** (-5 / 3) * deviator + (bulk * (j - 1))[..., None, None] * np.eye(3)
    return j, stress


def von_mises(stress):
    s = stress - np.trace(stress, axis1=-2, axis2=-1)[..., None, None] / 3 * np.eye(3)
    return np.sqrt(1.5 * (s * s).sum(axis=(-2, -1)))


def check_deform():
    """Every format that a trajectory has, of the boundary or of all nodes, has what numpy makes of the snapshots."""
    press("d.msh", "d.h5")
    with h5py.File("d.h5") as f:
        x, u, t = f["solid/nodes"][:], f["displacements"][:].astype(float), f["times"][:]
        tets, corners = f["solid/element_nodes"][:].reshape(-1, 4), f["solid/triangles"][:]
    points = np.unique(corners)
    triangles = np.searchsorted(points, corners)
    close = lambda a, b, tolerance, what: check(a.shape == b.shape and np.abs(a - b).max() <= tolerance * np.abs(b).max(), what, np.abs(a - b).max())
    rates = np.empty_like(u)
    rates[1:-1] = (u[2:] - u[:-2]) / (t[2:] - t[:-2])[:, None, None]
    rates[0], rates[-1] = (u[1] - u[0]) / (t[1] - t[0]), (u[-1] - u[-2]) / (t[-1] - t[-2])
    speed = np.linalg.norm(rates, axis=2)
    edges = x[tets[:, 1:]] - x[tets[:, :1]]  # rows
    moved = u[:, tets[:, 1:]] - u[:, tets[:, :1]]
    jacobian, stress = neo_hookean(np.swapaxes(np.linalg.solve(edges[None], moved), -1, -2))
    at_nodes = np.zeros((len(u), len(x), 3, 3))
    j_nodes, count = np.zeros((len(u), len(x))), np.bincount(tets.ravel(), minlength=len(x))
    for k in range(4):
        for i in range(len(u)):
            np.add.at(at_nodes[i], tets[:, k], stress[i])
            np.add.at(j_nodes[i], tets[:, k], jacobian[i])
    at_nodes /= count[:, None, None]
    j_nodes /= count

    run(modaldeform, "d.h5", "o", "--fields", "displacement,speed,von_mises,jacobian,pressure,k_max")
    sound("o/sequence.vtkhdf")
    with h5py.File("o/sequence.vtkhdf") as f:
        v, n = f["VTKHDF"], len(u)
        get = lambda name, group="PointData": v[group][name][:].reshape(n, -1, *v[group][name].shape[1:])
        place = v["Points"][:].reshape(n, -1, 3)
        check(np.array_equal(place, (x + u)[:, points].astype("f4")), "positions")
        check(np.array_equal(get("displacement"), u[:, points].astype("f4")), "displacement")
        close(get("speed"), speed[:, points], 1e-6, "speed")
        close(get("von_mises_nodes"), von_mises(at_nodes)[:, points], 1e-6, "von Mises")
        close(get("jacobian_nodes"), j_nodes[:, points], 1e-6, "Jacobian")
        pressure = lambda s: -np.trace(s, axis1=-2, axis2=-1) / 3
        close(get("pressure_nodes"), pressure(at_nodes)[:, points], 1e-6, "pressure")
        faces = np.cross(place[:, triangles[:, 1]] - place[:, triangles[:, 0]], place[:, triangles[:, 2]] - place[:, triangles[:, 0]]).astype(float)
        normals = np.zeros(place.shape)
        for k in range(3):
            for i in range(n):
                np.add.at(normals[i], triangles[:, k], faces[i])
        close(get("Normals"), normals / np.linalg.norm(normals, axis=2)[..., None], 1e-4, "normals")
        check(np.isfinite(get("k_max")).all() and get("k_max").shape == (n, len(points)))
        surface = place
    run(modaldeform, "d.h5", "v", "--output-mesh", "volume", "--format", "vtkhdf,vtu", "--fields",
        "displacement,speed,strain,stress,von_mises,jacobian,pressure")
    sound("v/sequence.vtkhdf")
    with h5py.File("v/sequence.vtkhdf") as f:
        v = f["VTKHDF"]
        check(np.array_equal(v["Points"][:].reshape(n, -1, 3), (x + u).astype("f4")), "nodes")
        close(get("von_mises", "CellData"), von_mises(stress), 1e-6, "von Mises")
        close(get("jacobian", "CellData"), jacobian, 1e-6, "Jacobian")
        close(get("pressure", "CellData"), pressure(stress), 1e-6, "pressure")
        close(get("stress", "CellData"), stress[..., [0, 1, 2, 0, 1, 0], [0, 1, 2, 1, 2, 2]], 1e-6, "stress")
        close(get("von_mises_nodes"), von_mises(at_nodes), 1e-6, "von Mises of nodes")
        close(get("speed"), speed, 1e-6, "speed")
    check(len(os.listdir("v/vtu")) == n)

    run(modaldeform, "d.h5", "p", "--format", "pc2,mdd,ply,vtp,obj,csv,vtkhdf", "--probe", 5, "--probe", "0,0,0.045")
    head, body = pathlib.Path("p/sequence.pc2").read_bytes()[:32], pathlib.Path("p/sequence.pc2").read_bytes()[32:]
    check(head[:11] == b"POINTCACHE2" and np.array_equal(np.frombuffer(body, "<f4").reshape(n, -1, 3), surface), "pc2")
    body = pathlib.Path("p/sequence.mdd").read_bytes()[8 + 4 * n:]
    check(np.array_equal(np.frombuffer(body, ">f4").reshape(n, -1, 3), surface), "mdd")
    for i in (0, n - 1):
        lines = pathlib.Path(f"p/obj/{i:06}.obj").read_text().split("\n")
        check(np.array_equal(np.array([l.split()[1:] for l in lines if l.startswith("v ")], "f4"), surface[i]), "obj")
        check(len([l for l in lines if l.startswith("f ")]) == len(triangles))
        check(surface[i].tobytes() == np.frombuffer(open(f"p/ply/{i:06}.ply", "rb").read().split(b"end_header\n")[1], "<f4",
                                                    6 * len(points)).reshape(-1, 6)[:, :3].tobytes(), "ply")
    rest = [l.split()[1:] for l in pathlib.Path("p/rest.obj").read_text().split("\n") if l.startswith("v ")]
    close(np.array(rest, float), x[points], 1e-7, "rest.obj")
    table = np.genfromtxt("p/probes.csv", delimiter=",", names=True)
    check(np.array_equal(np.stack([table[c][::2] for c in "xyz"], 1).astype("f4"), surface[:, 5]), "csv")

    muscle = {"young": 3e3, "poisson": 0.4, "density": 1000, "fibres": {"stiffness": 4e3, "direction": [0.6, 0, 0.8]}}
    save("f.json", {"materials": {"a": muscle}, "default": "a"})
    run(modaltled, "d.msh", "f.h5", "--scene", "p.json", "--materials", "f.json", "--fixed", "low")
    run(modaldeform, "f.h5", "f", "--output-mesh", "volume", "--fields", "von_mises")
    with h5py.File("f.h5") as f:
        moved = f["displacements"][:].astype(float)
    h = np.swapaxes(np.linalg.solve(edges[None], moved[:, tets[:, 1:]] - moved[:, tets[:, :1]]), -1, -2)
    j, plain = neo_hookean(h)
    along = (h + np.eye(3)) @ np.array([0.6, 0, 0.8])
    square = (along ** 2).sum(-1)
    part = np.einsum("...i,...k->...ik", along, along) - square[..., None, None] / 3 * np.eye(3)
    plain += (4e3 * (j ** (-2 / 3) * square - 1) * j ** (-5 / 3))[..., None, None] * part
    with h5py.File("f/sequence.vtkhdf") as f:
        v = f["VTKHDF"]
        close(get("von_mises", "CellData"), von_mises(plain), 1e-6, "fibres")

    # mean patches: of each tetrahedron the mean of its patch, by snapshots.md
    save("m.json", {**PRESS, "mean_patches": True})
    run(modaltled, "d.msh", "m.h5", "--scene", "m.json", *SOFT, "--fixed", "low")
    run(modaldeform, "m.h5", "m", "--output-mesh", "volume", "--fields", "jacobian,pressure,von_mises")
    sound("m.h5")
    with h5py.File("m.h5") as f:
        moved, patches = f["displacements"][:].astype(float), f["solid/patches"][:]
    h = np.swapaxes(np.linalg.solve(edges[None], moved[:, tets[:, 1:]] - moved[:, tets[:, :1]]), -1, -2)
    volumes = np.linalg.det(edges) / 6
    mean = np.zeros((n, patches.max() + 1, 3, 3))
    for i in range(n):
        np.add.at(mean[i], patches, volumes[:, None, None] * h[i])
    j, stress = neo_hookean((mean / np.bincount(patches, volumes)[:, None, None])[:, patches])
    with h5py.File("m/sequence.vtkhdf") as f:
        v = f["VTKHDF"]
        close(get("jacobian", "CellData"), j, 1e-6, "Jacobian of patches")
        close(get("pressure", "CellData"), pressure(stress), 1e-6, "pressure of patches")
        close(get("von_mises", "CellData"), von_mises(stress), 1e-6, "von Mises of patches")
    check(len(np.unique(patches)) == patches.max() + 1 and np.bincount(patches).max() <= 12 and np.bincount(patches).min() >= 5, np.bincount(patches))
    with h5py.File("m.h5") as f:
        q = dict(zip(f.attrs["quality_columns"].decode().split(), f["quality"][:].T))
        close(q["min_volume_ratio"], j.min(axis=1), 1e-3, "J of the quality, half a step before")
    bad = patches.copy()
    bad[2] = len(patches)
    broken("m.h5", replaced("solid/patches", bad), "/solid/patches")
    broken("m.h5", replaced("solid/patches", patches[1:]), "/solid/patches: shape must be")
    broken("m.h5", replaced("solid/element_type", np.full(len(patches), 1, "u1")), "/solid/patches: value 0: only a TET4 is in a patch, not a TET10")

    for words in (["-j", 1], ["-j", 2], ["--memory-limit", "1400k"], ["--backend", "ref"]):
        run(modaldeform, "d.h5", "q", "-f", "--format", "ply", "--fields", "von_mises,speed", "--normals", "none", *words)
        got = [pathlib.Path(f"q/ply/{i:06}.ply").read_bytes() for i in range(n)]
        same = got if words[-1] == 1 else same
        check(got == same, "same bytes", words)
    run(modaldeform, "d.h5", "s", "--frames", "4:20:5")
    with h5py.File("s/sequence.vtkhdf") as f:
        check(np.array_equal(f["VTKHDF/Points"][:].reshape(-1, *surface.shape[1:]), surface[4:20:5]) and
              np.array_equal(f["VTKHDF/Steps/Values"][:], t[4:20:5]), "--frames")
    manifest = json.loads(pathlib.Path("s/manifest.json").read_text())
    check(manifest["input"]["name"] == "d.h5" and "basis" not in manifest, manifest)
    run(modalinfo, "s", "--check")

    def refused(said, code, *words, source="d.h5"):
        err = run(modaldeform, source, "no", *words, code=code)
        check(said in err and not os.path.exists("no"), said, err)

    for name in ("glb", "wav --listen 0,0,1"):
        refused("--project d.h5 makes a trajectory", 2, "--format", *name.split())
    refused("--normals: snapshots have neither rigid frames", 2, "--normals", "rigid")
    refused("--basis: is not for snapshots", 2, "--basis", "d.h5")
    refused("--order: snapshots have the order of the mesh", 2, "--order", "stored")
    refused("--slow-motion: auto is for modes", 2, "--format", "mdd", "--slow-motion", "auto")
    refused("--memory-limit: basis", 4, "--memory-limit", "10000")
    shutil.copy("d.h5", "e.h5")
    with h5py.File("e.h5", "r+") as f:
        f["displacements"][7, 3, 1] = np.nan
    refused("e.h5: snapshot 7, node 3, axis 1: not finite", 3, source="e.h5")
    with h5py.File("e.h5", "r+") as f:
        f["displacements"][7, 3, 1] = 0
        del f["solid/materials"]
    refused("e.h5: /solid/materials: missing, which --fields von_mises needs", 3, "--fields", "von_mises", source="e.h5")
    with h5py.File("e.h5", "r+") as f:
        del f["solid"]
    refused("e.h5: /solid: missing (modaltled --fields solid writes it)", 3, source="e.h5")


def check_resumed():
    """Killed while it writes, modaldeform goes on from there to the same bytes."""
    x, elements = box("k.msh", (12, 12, 12), 0.01)
    n, frames = len(x), 300
    save("k.json", {"step": "auto", "steps": 1, "at_steps": [0, 1], "gravity": [0, 0, -1]})
    run(modaltled, "k.msh", "k.h5", "--scene", "k.json", *SOFT, "--fields", "solid")
    with h5py.File("k.h5", "r+") as f:
        u = np.sin(np.arange(frames) / 9)[:, None, None] * np.sin(30 * x) * 1e-3
        del f["displacements"], f["times"], f["quality"]
        f["times"] = np.arange(frames) / 10.0
        f.create_dataset("displacements", data=u.astype("f4"), chunks=(1, n, 3))
    words = ["k.h5", "--fields", "displacement,speed,k_max", "--memory-limit", "60M"]
    run(modaldeform, "k.h5", "whole", *words[1:])
    done = 0
    for stop in (12, 14):
        process = subprocess.Popen([modaldeform, "k.h5", "cut", "--resume", *words[1:]], stderr=subprocess.PIPE)
        journal = pathlib.Path("cut/sequence.vtkhdf.journal")
        while process.poll() is None and (not journal.exists() or journal.read_bytes().count(b"\n") < stop):
            time.sleep(0.002)
        process.kill()
        process.communicate()
        done += journal.exists()
    check(done > 0, "the run was too fast to be stopped")
    said = run(modaldeform, "k.h5", "cut", "--resume", *words[1:])
    check(pathlib.Path("whole/sequence.vtkhdf").read_bytes() == pathlib.Path("cut/sequence.vtkhdf").read_bytes(), "bytes", said)


def check_page():
    """The page of snapshots states its columns and their error, which are those of its own data; too many motions are refused."""
    from page_data import Data, read_shape
    press("v.msh", "v.h5")
    said = run(modalview, "v.h5", "v.html", "--report", "r.json", "-f")
    report = json.loads(pathlib.Path("r.json").read_text())["reduced"]
    data = Data("v.html")
    reduced, about = data.header["reduced"], data.header["shapes"][0]
    check(reduced["columns"] == report["columns"] <= 20 and reduced["error"] == report["error"] <= 1e-3, report)
    check(f"{report['columns']} columns, no vertex off by more than" in said, said)
    with h5py.File("v.h5") as f:
        u, t, corners, x = f["displacements"][:].astype(float), f["times"][:], f["solid/triangles"][:], f["solid/nodes"][:]
    points, n = np.unique(corners), len(t)
    _, user, rest, columns = read_shape(data, about)
    data.differences(1), data.planes(12, "<f4")  # the object
    check(np.array_equal(data.planes(n, "<f8"), t), "times")
    q = data.planes(about["modes"] * n, "<f4").reshape(-1, n)
    check(np.abs(rest - x[points][user]).max() < 1e-6, "rest")
    moved = np.einsum("vki,kf->fvi", columns, q)
    want = u[:, points][:, user]
    largest = np.linalg.norm(u, axis=2).max()
    off = np.linalg.norm(moved - want, axis=2).max() / largest
    check(abs(off - report["error"]) < 1e-4, "what the page shows", off, report)
    with h5py.File("v.h5", "r+") as f:
        del f["displacements"], f["times"], f["energy"], f["energy_parts"], f["quality"]
        f["displacements"] = np.random.default_rng(0).normal(size=(100, *u.shape[1:]))
        f["times"] = np.arange(100.0)
    err = run(modalview, "v.h5", "no.html", code=3)
    check("v.h5: 60 columns leave 0." in err and "too many motions for a page" in err and not os.path.exists("no.html"), err)
    check("--sound: is not for snapshots" in run(modalview, "v.h5", "no.html", "--sound", "v.h5", code=2))
    with h5py.File("v.h5", "r+") as f:
        f["displacements"][:] = 0
    check("v.h5: nothing moves" in run(modalview, "v.h5", "no.html", code=3))


PARTS = {"materials": check_materials, "snapshots": check_snapshots, "project": check_project,
         "deform": check_deform, "page": check_page, "resumed": check_resumed}
PARTS[sys.argv[3]]()
