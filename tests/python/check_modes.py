# SPDX-License-Identifier: Apache-2.0
"""check_modes.py DUMP_MODES: K, M and the modes of bars, against an assembly and an eigensolver that
share nothing with ours: shape functions by inverting the 4 x 4 matrix of barycentric coordinates,
strains by a 6 x 12 B matrix, scipy's eigsh."""
import subprocess
import sys
import tempfile

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh


def read(path):
    data = open(path, "rb").read()
    at = 0

    def take(dtype, *shape):
        nonlocal at
        count = int(np.prod(shape)) if shape else 1
        items = np.frombuffer(data, dtype, count, at)
        at += items.nbytes
        return items.reshape(shape)

    n, ne, free, blocks, modes, fixed = (int(v) for v in take("<i8", 6))
    d = dict(n=n, fixed=fixed, nodes=take("<f8", n, 3), tets=take("<i4", ne, 4),
             material=take("<f8", 3), free=take("<i4", free), offsets=take("<i8", free + 1),
             rows=take("<i4", blocks), k=take("<f8", blocks, 3, 3), m=take("<f8", blocks),
             values=take("<f8", modes), modes=take("<f8", modes, n, 3), residuals=take("<f8", modes),
             modal_masses=take("<f8", modes), participation=take("<f8", modes, 3),
             total=take("<f8", 1)[0])
    assert at == len(data), "dump has another length"
    return d


def ours(d):
    columns = np.repeat(np.arange(len(d["free"])), np.diff(d["offsets"]))
    n = 3 * len(d["free"])
    i, j = np.meshgrid(np.arange(3), np.arange(3), indexing="ij")
    rows = 3 * d["rows"][:, None, None] + i
    cols = 3 * columns[:, None, None] + j

    def full(values):
        a = sp.csr_matrix((values.ravel(), (rows.ravel(), cols.ravel())), (n, n))
        lower = sp.tril(a, format="csr")
        return lower + sp.tril(a, -1, format="csr").T, a
    k, raw = full(d["k"])
    m, _ = full(d["m"][:, None, None] * np.eye(3))
    # blocks on the diagonal are stored in full, and symmetric
    diagonal = d["k"][d["offsets"][:-1]]
    assert np.array_equal(diagonal, diagonal.transpose(0, 2, 1))
    return k, m


def independent(d, rule):
    young, nu, rho = d["material"]
    g = young / 2 / (1 + nu)
    c = np.zeros((6, 6))
    c[:3, :3] = young * nu / (1 + nu) / (1 - 2 * nu)
    c[:3, :3] += 2 * g * np.eye(3)
    c[3:, 3:] = g * np.eye(3)
    x = d["nodes"][d["tets"]]
    ones = np.concatenate([np.ones(x.shape[:2] + (1,)), x], axis=2)
    volume = np.abs(np.linalg.det(ones)) / 6
    gradient = np.linalg.inv(ones)[:, 1:, :]  # [element, axis, node]
    b = np.zeros((len(x), 6, 12))
    for a in range(4):
        gx, gy, gz = gradient[:, 0, a], gradient[:, 1, a], gradient[:, 2, a]
        for p, v in enumerate((gx, gy, gz)):
            b[:, p, 3 * a + p] = v
        b[:, 3, 3 * a], b[:, 3, 3 * a + 1] = gy, gx
        b[:, 4, 3 * a + 1], b[:, 4, 3 * a + 2] = gz, gy
        b[:, 5, 3 * a], b[:, 5, 3 * a + 2] = gz, gx
    ke = np.einsum("e,epi,pq,eqj->eij", volume, b, c, b, optimize=True)
    shape = (np.ones((4, 4)) + np.eye(4)) / 20 if rule == 0 else np.eye(4) / 4
    me = rho * volume[:, None, None] * np.kron(shape, np.eye(3))
    dofs = (3 * d["tets"][:, :, None] + np.arange(3)).reshape(len(x), 12)
    rows = np.repeat(dofs, 12, axis=1).ravel()
    cols = np.tile(dofs, (1, 12)).ravel()
    n = 3 * d["n"]
    whole = [sp.csr_matrix((e.ravel(), (rows, cols)), (n, n)) for e in (ke, me)]
    free = (3 * d["free"][:, None] + np.arange(3)).ravel()
    return whole, [a[free][:, free] for a in whole], rho * volume.sum()


def check(what, error, limit):
    print(f"  {what}: {error:.2e}, limit {limit:.0e}")
    if not error <= limit:
        sys.exit(f"check_modes: {what}: {error} > {limit}")


def compare(program, mesh, n_fixed, n_modes, rule):
    print(mesh, "fixed", n_fixed, "rule", rule)
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/dump"
        subprocess.run([program, mesh, str(n_fixed), str(n_modes), str(rule), path], check=True,
                       stdout=subprocess.DEVNULL)
        d = read(path)
    assert len(d["free"]) == d["n"] - n_fixed and len(d["values"]) == n_modes
    k, m = ours(d)
    (k_all, m_all), (k_ref, m_ref), total = independent(d, rule)
    check("stiffness", abs(k - k_ref).max() / abs(k_ref).max(), 1e-12)
    check("mass", abs(m - m_ref).max() / abs(m_ref).max(), 1e-12)
    check("total mass", abs(d["total"] / total - 1), 1e-12)
    n_rigid = 0 if n_fixed else 6
    scale = d["values"][0]
    values = eigsh(k_ref.tocsc(), n_modes + n_rigid, m_ref.tocsc(), sigma=-0.1 * scale, tol=0,
                   return_eigenvectors=False)
    values = np.sort(values)
    check("rigid eigenvalues", np.abs(values[:n_rigid]).max(initial=0) / scale, 1e-6)
    check("eigenvalues", np.abs(d["values"] / values[n_rigid:] - 1).max(), 1e-9)
    u = d["modes"].reshape(n_modes, -1)
    check("orthonormality", np.abs(u @ (m_all @ u.T) - np.eye(n_modes)).max(), 1e-10)
    e = np.tile(np.eye(3), (d["n"], 1))
    check("participation", np.abs(u @ (m_all @ e) - d["participation"]).max(), 1e-10 * total ** 0.5)
    free = (3 * d["free"][:, None] + np.arange(3)).ravel()
    force = (m_all @ u.T)[free] * d["values"]
    residuals = np.linalg.norm((k_all @ u.T)[free] - force, axis=0) / np.linalg.norm(force, axis=0)
    check("residuals", residuals.max(), 1e-9)


if len(sys.argv) != 2:
    sys.exit(__doc__)
compare(sys.argv[1], "bar:12,4,3,1,0.3,0.2,2e11,0.3,7800", 20, 12, 0)
compare(sys.argv[1], "bar:12,4,3,1,0.3,0.2,2e11,0.3,7800", 0, 12, 1)
compare(sys.argv[1], "bar:6,5,4,0.001,0.0009,0.0007,1e4,0.45,900", 0, 15, 0)
compare(sys.argv[1], "bar:6,3,3,800,200,150,1e7,0.1,2000", 16, 10, 1)
