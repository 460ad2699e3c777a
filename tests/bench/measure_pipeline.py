# SPDX-License-Identifier: Apache-2.0
"""Takes every real mesh through the whole pipeline and writes docs/results/pipeline.md.

usage: measure_pipeline.py BIN_FOLDER DATA_FOLDER OUTPUT.md [BACKEND]

Each stage is the whole process (start-up, reading, writing, syncing), the median of RUNS runs, as its
own --report says. Compare ratios; absolute seconds hold on the machine named in the table."""
import datetime
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile

RUNS = 3
here = pathlib.Path(__file__).resolve().parents[2]
tools, data, target = (pathlib.Path(a) for a in sys.argv[1:4])
backend = sys.argv[4] if len(sys.argv) > 4 else "cpu"
steel = "--young 2.06e11 --poisson 0.29 --density 7850"
rubber = "--young 1e7 --poisson 0.45 --density 1000"
CASES = [  # name, mesh, options of modalpack, frames per second of 1 s of motion
    ("tuning fork, linear", here / "data/tuning_fork.msh", f"{steel} --fixed stem_end", 200),
    ("tuning fork, quadratic", here / "data/tuning_fork.msh", f"{steel} --fixed stem_end", 200),
    ("beam3", data / "beam3/beam3_tet.veg", f"--fixed {data}/beam3/beam3.bou", 200),
    ("simpleBridge, fine surface", data / "simpleBridge/simpleBridge-ic_128_0.15_.1.veg",
     f"--fixed {data}/simpleBridge/simpleBridge.bou --surface {data}/simpleBridge/simpleBridge.obj", 200),
    ("bunny", data / "stanford/bunny_10k.bin.msh", f"{rubber} --fixed fixed", 200),
    ("dragon", data / "stanford/dragon_10k.msh", f"{rubber} --fixed fixed", 200),
    ("yeahright, free", data / "yeahright/yeahright-on-ground.veg", "", 200),
]


def stage(folder, words):
    """Median seconds, largest peak memory and the last report of RUNS runs."""
    reports = []
    for _ in range(RUNS):
        report = folder / "report.json"
        got = subprocess.run([*map(str, words), "--force", "--quiet", "--report", str(report)],
                             capture_output=True, text=True)
        if got.returncode != 0:
            sys.exit(f"{words}: {got.stderr}")
        reports.append(json.loads(report.read_text()))
    return (statistics.median(r["seconds"] for r in reports),
            max(r["peak_memory_bytes"] for r in reports), reports[-1])


def size(path):
    files = [path] if path.is_file() else [f for f in path.rglob("*") if f.is_file()]
    return sum(f.stat().st_size for f in files)


def megabytes(count):
    return f"{count / 1e6:.1f}"


rows = []
for name, mesh, options, fps in CASES:
    if not mesh.exists():
        print(f"skipped, no such mesh: {name} ({mesh})")
        continue
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        basis, trajectory, out = folder / "basis.h5", folder / "traj.h5", folder / "out"
        if name.endswith(", quadratic"):  # as the demo has it; not part of the times
            stage(folder, [tools / "modalmesh", mesh, folder / "mesh.msh", "--order", "2"])
            mesh = folder / "mesh.msh"
        pack = stage(folder, [tools / "modalpack", mesh, basis, "--modes", "20", *options.split()])
        sim = stage(folder, [tools / "modalsim", basis, trajectory, "--duration", "1", "--fps", fps,
                             "--damping-ratio", "0.01", "--initial", "0=1", "--initial", "1=0.5", "--amplitude", "2%"])
        deform = stage(folder, [tools / "modaldeform", trajectory, out, "--normals", "dynamic",
                                "--backend", backend])
        info = json.loads(subprocess.run([tools / "modalinfo", basis, "--json"], check=True,
                                         capture_output=True, text=True).stdout)
        subprocess.run([tools / "modalinfo", out / "sequence.vtkhdf", "--check"], check=True,
                       stdout=subprocess.DEVNULL)
        shape = info["shapes"][0]
        rows.append(
            f"| {name} | {shape['solid']['nodes']:,} | {shape['solid']['elements']:,} | {shape['vertices']:,} "
            f"| {shape['modes'][0]['frequency']:.5g} | {pack[0]:.2f} | {megabytes(pack[1])} "
            f"| {megabytes(size(basis))} | {sim[0]:.3f} | {size(trajectory) / 1e3:.0f} "
            f"| {deform[0]:.3f} | {megabytes(deform[1])} | {megabytes(size(out))} |")
        print(rows[-1], flush=True)
        device = deform[2].get("device", backend)

model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo")
              if line.startswith("model name")), platform.machine())
text = f"""# Real meshes through the whole pipeline

Made by `./run measure` on {datetime.date.today()}: {os.cpu_count()} cores of {model}, deformer on {device}.
20 modes, 1 s of motion at 200 frames/s, dynamic normals, results on disk; seconds are whole processes,
medians of {RUNS} runs; peak is the process's largest resident memory. The meshes are not part of this
repository (except the tuning fork); rows of absent meshes are left out.

| mesh | nodes | tetrahedra | surface vertices | first mode Hz | modalpack s | peak MB | basis MB | modalsim s | traj kB | modaldeform s | peak MB | out MB |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
""" + "\n".join(rows) + "\n"
target.parent.mkdir(parents=True, exist_ok=True)
target.write_text(text)
