# SPDX-License-Identifier: Apache-2.0
"""What a basis leaves out of the elastic forces: the measure of modalsim against the whole finite-element model.
usage: check_left_out.py BIN_FOLDER PART, PART one of
  whole    more than 50 deformations of bases of several kinds: the same order, and within a factor of 2
  loads    slow motions against natural modes, and what loads ask of them against all modes of the mesh
  file     what modalpack writes; what is refused; hashes stay; files without it are sound"""
import h5py
import numpy as np
import scipy.sparse.linalg
import scipy.stats

from scenes import E, NU, RUBBER, Full, main, pack, place, run, simulate, small, write_bar
from stvk_solid import write_inp

KINDS = {"m6": (6, []), "m14": (14, []), "d9": (9, ["--derivatives", 3]), "d14": (14, ["--derivatives", 5]),
         "d20": (20, ["--derivatives", 6])}


def whole_measure(solid, q, energy):
    """The root of the energy that the elastic forces would give off outside the basis, over `energy`, that of the motion: by
    sparse solves of the whole mesh's stiffness at rest."""
    u = np.tensordot(q, solid.modes, 1)
    columns = solid.modes.reshape(len(q), -1)[:, solid.free].T
    m = solid.m3[solid.free][:, solid.free]
    if not hasattr(solid, "solve"):
        k = solid.full_stiffness(np.zeros_like(u), E, NU)[solid.free][:, solid.free]
        solid.solve = scipy.sparse.linalg.splu(k.tocsc()).solve
        solid.held = solid.solve(m @ columns)
    f = solid.full_forces(u, E, NU).ravel()[solid.free]
    answer = solid.solve(f)
    rest = answer - solid.held @ np.linalg.solve(columns.T @ (m @ solid.held), columns.T @ (m @ answer))
    return np.sqrt(0.5 * (f @ rest) / energy)


def quality(path, name):
    with h5py.File(path) as f:
        return f["quality"][:, f.attrs["quality_columns"].decode().split().index(name)]


def last_frame(path):
    """The last frame's q, and its energy."""
    with h5py.File(path) as f:
        return f["q"][-1], f["energy"][-1, :2].sum()


def whole():
    write_bar("bar.msh", (10, 2, 2), (1.0, 0.1, 0.12))
    wanted, got = [], []
    for kind, (n, more) in KINDS.items():
        pack("bar.msh", f"{kind}.h5", n, *more)
        solid = Full(f"{kind}.h5")
        for strength in (1.5, 8, 30):
            scene = {"duration": 0.5, "fps": 10, "model": "stvk", "damping": {"alpha": 1}, "tolerance": 1e300, "step": 0.002,
                     "impulses": [{"object": 0, "point": [1, 0, 0], "impulse": [0, 0.1 * strength, 0.03 * strength]}]}
            f = simulate(f"{kind}.h5", scene, "--allow-inversion")
            q, energy = f["q"], f["energy"][:, :2].sum(1)
            own = quality("run.h5", "force_truncation")
            for i in range(1, len(q)):
                wanted.append(whole_measure(solid, q[i], energy[i]))
                got.append(own[i])
            print(f"{kind}, {strength}: whole {np.round(wanted[-len(q) + 1:], 4)}, measured {np.round(got[-len(q) + 1:], 4)}")
    wanted, got = np.array(wanted), np.array(got)
    assert len(got) >= 50 and np.all(np.isfinite(got))
    rank = scipy.stats.spearmanr(wanted, got)[0]
    print(f"{len(got)} deformations, {wanted.min():.2g} to {wanted.max():.2g}: rank correlation {rank:.4f}, "
          f"measured {(got / wanted).min():.3f} to {(got / wanted).max():.3f} of the whole")
    assert rank >= 0.9, rank
    assert np.all(got <= wanted * 1.001) and np.all(got >= 0.5 * wanted), (got / wanted)


def loads():
    write_bar("bar.msh", (6, 2, 1), (1.0, 0.2, 0.12))
    pack("bar.msh", "all.h5", 108)
    with h5py.File("all.h5") as f:
        shape = f["shapes/0000"]
        k, lift, x = shape["modes/eigenvalues"][:], shape["modes/participation"][:], shape["surface/rest_positions"][:]
        vertex = int(shape["surface/user_vertex"][:][np.argmax(x[:, 0] + x[:, 1])])
        at = int(np.argmax(x[:, 0] + x[:, 1]))
        phi = shape["modes/modal_matrix"][:].transpose(0, 3, 2, 1).reshape(-1, 3, len(k))[at]
    for n, more in ((3, []), (6, []), (9, ["--derivatives", 3])):
        pack("bar.msh", "few.h5", n, "--force", *more)
        with h5py.File("few.h5") as f:
            group = f["shapes/0000/truncation"]
            slow, matrix = group["slow_eigenvalues"][:], group["slow_matrix"][:]
            count = 6 if more else len(slow)
            assert 8 < len(slow) <= 16 or (more and len(slow) == 6), slow
            assert matrix.shape[1:] == (count, 3, 32) and matrix.dtype == np.uint8 and np.all(np.diff(slow) >= 0) and slow[0] > 0
        if not more: # the next natural modes, from above
            ratio = slow[:3] / k[n:n + 3]
            print(f"{n} modes: slow motions {ratio} of the next eigenvalues")
            assert np.all(ratio > 1 - 1e-6) and np.all(ratio < 1.05), ratio
        t, w = np.linspace(0, 2, 4001)[:, None], np.sqrt(k)
        rate = 0.5 * (np.sqrt(k[n - 1]) + np.sqrt(k[n])) / (2 * np.pi)
        for what, scene, load, swing in (
                ("impulse", {"impulses": [{"object": 0, "vertex": vertex, "impulse": [0, 0.3, 1]}]}, phi.T @ [0, 0.3, 1], np.sin(w * t) / w),
                ("force", {"forces": [{"object": 0, "vertex": vertex, "force": [0, 0.3, 1]}]}, phi.T @ [0, 0.3, 1], (1 - np.cos(w * t)) / k),
                ("sine between modes", {"forces": [{"object": 0, "vertex": vertex, "force": [0, 0.3, 1], "curve": {"sine": {"frequency": rate}}}]},
                 phi.T @ [0, 0.3, 1], (np.sin(2 * np.pi * rate * t) - 2 * np.pi * rate / w * np.sin(w * t)) / (k - (2 * np.pi * rate) ** 2)),
                ("weight", {"gravity": [0, 0, -1]}, -lift[:, 2], (1 - np.cos(w * t)) / k)):
            moves = (load * swing) ** 2
            wanted = np.sqrt(moves[:, n:].sum(axis=1).max() / moves.sum(axis=1).max())
            for model in ("linear", "stvk"):
                simulate("few.h5", {"duration": 2, "fps": 20, "model": model, **scene})
                got = quality("run.h5", "load_truncation")
                assert np.all(got == got[0]), got
            print(f"{n} {more} {what}: all modes {wanted:.4g}, measured {got[0]:.4g}")
            assert more or 0.7 * wanted <= got[0] <= 1.1 * wanted + 1e-3, (wanted, got)
    for cells in ((1, 1, 1), (4, 1, 1)): # solids of which static answers are nearly all that they can do
        write_bar("tiny.msh", cells, (1.0, 0.25, 0.2))
        for n, k in ((6, 3), (10, 4), (16, 5)):
            pack("tiny.msh", "few.h5", n, "--force", "--derivatives", k, fixed=False)
    simulate("all.h5", {"duration": 0.1, "fps": 20, "model": "linear", "gravity": [0, 0, -1]})
    assert not np.any(quality("run.h5", "load_truncation") > 0)


def file():
    write_bar("bar.msh", (6, 1, 1), (1.0, 0.1, 0.12))
    pack("bar.msh", "bar.h5", 9, "--derivatives", 3, "-j", 2)
    pack("bar.msh", "one.h5", 9, "--derivatives", 3, "-j", 1)
    pack("bar.msh", "none.h5", 9, "--derivatives", 3, "--left-out", 0)
    with h5py.File("bar.h5") as f, h5py.File("one.h5") as one, h5py.File("none.h5") as none:
        group = f["shapes/0000/truncation"]
        assert "extensions_used" not in f.attrs and "extensions_required" not in f.attrs
        assert [group[n].shape for n in ("linear", "quadratic", "cubic")] == [(10, 9), (10, 45), (10, 165)]
        for name in group:
            assert np.array_equal(group[name][:], one["shapes/0000/truncation"][name][:]), name
        assert "truncation" not in none["shapes/0000"]
        assert f.attrs["content_hash"] == none.attrs["content_hash"] # trajectories of the one are those of the other
    # more static answers than the solid has degrees of freedom: some depend on others
    write_inp("thin.inp", 2, (4, 1, 1), (1, 0.1, 0.15))
    pack("thin.inp", "thin.h5", 16, "--derivatives", 5)
    with h5py.File("thin.h5") as f:
        group = f["shapes/0000/truncation"]
        assert group["linear"].shape == (10, 16) and len(group["slow_eigenvalues"]) == 6
    sound = lambda path, code=0: run("modalinfo", "--check", path, code=code)
    sound("bar.h5"), sound("none.h5")
    scene = {"duration": 0.2, "fps": 10, "model": "stvk", "impulses": [{"object": 0, "point": [1, 0, 0], "impulse": [0, 1, 0]}]}
    simulate("none.h5", scene)
    assert np.all(np.isnan(quality("run.h5", "force_truncation")))
    # of a linear motion the linear forces are left out, which columns with derivatives do not balance and natural modes do
    for integrator in ("newmark", "auto"):
        simulate("bar.h5", dict(scene, model="linear", integrator=integrator))
        q, energy = last_frame("run.h5")
        wanted = whole_measure(Full("bar.h5"), 1e-6 * q, 1e-12 * energy) # so small that forces are linear
        got = quality("run.h5", "force_truncation")[-1]
        print(f"linear, {integrator}: whole {wanted:.4g}, measured {got:.4g}")
        assert 0.5 * wanted <= got <= 1.01 * wanted and got > 0.01, (integrator, wanted, got)
    pack("bar.msh", "natural.h5", 6)
    simulate("natural.h5", dict(scene, model="linear"))
    small(quality("run.h5", "force_truncation")[1:].max(), 1e-4, "natural modes, linear: residual")
    simulate("bar.h5", scene)
    alone = quality("run.h5", "force_truncation")
    assert np.all(alone[1:] > 0)
    # other programs hand it on
    place("two", [(0, -1, 0, 0, 0, 0, 0, 0), (0, -1, 0, 5, 0, 0, 0, 0)], "bar.h5")
    simulate("two.h5", scene)
    assert np.array_equal(quality("run.h5", "force_truncation"), alone, equal_nan=True)
    # what is broken is refused, by the checker and by who needs it
    for what, spoil in (("quadratic[3, 7]", lambda g: g["quadratic"].__setitem__((3, 7), np.nan)),
                        ("must all be there", lambda g: g.__delitem__("cubic")),
                        ("linear", lambda g: (g.__delitem__("linear"), g.create_dataset("linear", data=np.zeros((10, 8)))))):
        with open("bar.h5", "rb") as source, open("bad.h5", "wb") as copy:
            copy.write(source.read())
        with h5py.File("bad.h5", "r+", libver="v108") as f:
            spoil(f["shapes/0000/truncation"])
        got = sound("bad.h5", 1)
        assert "truncation" in got.stdout + got.stderr, (what, got)
        assert "truncation" in simulate("bad.h5", scene, code=3), what
    refused = lambda *words: run("modalpack", "bar.msh", "no.h5", *RUBBER, "--fixed", "root", *words, "-q", code=2).stderr
    assert "--left-out: needs --reduced-forces" in refused("--left-out", 3)
    assert "at most 200" in refused("--modes", 20, "--left-out", 190, "--reduced-forces")


main(globals())
