# SPDX-License-Identifier: Apache-2.0
"""modaltools.show, plot, spectrum and Table, and docs/python.md: its lines of Python run as they stand there. Where jupyter-nbconvert is there,
they run as a notebook, too; without it the HTML of the cell is looked at.
usage: check_notebook.py BIN SOURCE LIBRARY (-: numpy). Exits with 77 without matplotlib or modalview."""
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

tools, source, library = sys.argv[1:]
os.environ["MODALTOOLS_BIN"] = tools
if library != "-":
    os.environ["MODALTOOLS_LIBRARY"] = os.path.abspath(library)
sys.path.insert(0, f"{source}/tools/python")
try:
    import matplotlib
except ImportError:
    print("check_notebook: matplotlib is absent, not checked")
    sys.exit(77)
if not os.path.exists(f"{tools}/modalview"):
    print("check_notebook: modalview is not built, not checked")
    sys.exit(77)
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from modaltools import Deformer, Table, Trajectory, plot, run, show, spectrum  # noqa: E402


def fails(error, says, function, *arguments, **keywords):
    try:
        function(*arguments, **keywords)
    except error as raised:
        assert says in str(raised), (says, str(raised))
        return
    sys.exit(f"check_notebook: no {error.__name__}: {says}")


def lines_of(axes):
    return {line.get_label(): line.get_xydata() for line in axes.get_lines()}


def check_plots():
    # a sine of whole periods
    t = np.arange(200) / 100
    for n in (200, 199):
        f, a = spectrum(t[:n], np.stack([3 + 0.5 * np.sin(2 * np.pi * 20 * np.arange(n) / n), t[:n]], axis=1))
        assert a.shape == (n // 2 + 1, 2) and a[:, 0].argmax() == 20, a.shape
        assert abs(a[20, 0] - 0.5) < 1e-9 and np.abs(np.delete(a[:, 0], 20)).max() < 1e-9 and abs(f[20] - 2000 / n) < 1e-9
    f, a = spectrum(t, np.cos(np.pi * np.arange(200)))
    assert abs(a[-1] - 1) < 1e-9 and f[-1] == 50
    fails(ValueError, "equally apart", spectrum, [0, 1, 3], [1, 2, 3])
    fails(ValueError, "not finite", spectrum, [0, 1, 2], [1, np.nan, 3])
    # a mode that swings alone: its frequency stands out
    motion = Trajectory("ring.h5")
    far = int(np.argmax(np.abs(motion.basis.shapes[0].modes[:, :, 0]).sum(axis=1)))
    curve = lines_of(plot("ring.h5", [far, 0]))
    assert list(curve) == [f"point {far}", "point 0"]
    x = np.stack([motion.deform(i)[far] for i in range(len(motion))])
    assert np.allclose(curve[f"point {far}"][:, 1], 1e3 * np.linalg.norm(x - x[0], axis=1), rtol=1e-4, atol=1e-6 * np.abs(x).max() * 1e3)
    assert np.array_equal(curve[f"point {far}"][:, 0], motion.times)
    with Deformer("ring.h5") as opened:
        seen = lines_of(plot(opened, motion.basis.shapes[0].rest[[far]], component="x", over="frequency"))
        assert opened.frame(0) is not None # still open
    (name, bars), = seen.items()
    peak = bars[np.argmax(bars[:, 1]), 0]
    assert name.startswith("(") and abs(peak - motion.basis.shapes[0].frequencies[0]) <= bars[1, 0], (peak, motion.basis.shapes[0].frequencies[0])
    run("modaldeform", "ring.h5", "probes", format="csv", probe=[far, 0])
    table = lines_of(plot("probes/probes.csv", axes=plt.figure().gca()))
    for label in curve:
        assert np.allclose(table[label], curve[label], rtol=1e-5, atol=5e-5) and table[label][:, 1].max() > 0.01, label
    pathlib.Path("response.json").write_text(json.dumps({"damping": {"ratio": 0.01}, "forces": [{"object": 0, "vertex": far, "force": [1, 0, 0]}],
                                                         "response": {"from": 100, "to": 600, "points": 101, "probes": [{"object": 0, "vertex": far}]}}))
    run("modalsim", "fork.h5", "response.csv", scene="response.json")
    shown = lines_of(plot("response.csv"))
    assert list(shown) == ["probe0_x", "probe0_y", "probe0_z"] and np.array_equal(shown["probe0_x"][:, 1], Table("response.csv")["probe0_x_amplitude"])
    fails(ValueError, "which points?", plot, "ring.h5")
    fails(ValueError, "component is length", plot, "ring.h5", [0], component="w")
    fails(IndexError, "points are 0 to", plot, "ring.h5", [10**9])
    for text, says in (("", "no table"), ("a,b\n1,2\n", "no table"), ("frequency,x_amplitude\n1\n", "bad.csv:2: 1 columns, not 2"),
                       ("frequency,x_amplitude\n1,x\n", "could not convert"), ("frequency,x_amplitude\n1,nan\n", "not finite")):
        pathlib.Path("bad.csv").write_text(text)
        fails(ValueError, says, plot, "bad.csv")
    got = subprocess.run([sys.executable, "-c", "import sys; sys.modules['matplotlib'] = None; sys.path.insert(0, sys.argv[1]); import modaltools; "
                          "modaltools.plot('response.csv')", f"{source}/tools/python"], capture_output=True, text=True)
    assert "draws with matplotlib, which is not there" in got.stderr, got


def check_page():
    page = show("ring.h5", height=300)
    cell = page._repr_html_()
    inner = re.fullmatch(r'<iframe srcdoc="([^"]*)" width="100%" height="300" [^>]*></iframe>', cell)[1]
    run("modalview", "ring.h5", "page.html")
    assert html.unescape(inner) == page.text and len(page.text) > 1e5 and "<script" in page.text and "page, " in repr(page)
    own = pathlib.Path(page.save("saved.html")).read_text()
    assert own == page.text and abs(len(own) - len(pathlib.Path("page.html").read_text())) < 200 # but for the names in it
    fails(ValueError, "ring.h5: input and output are one file", page.save, "ring.h5")
    assert len(Trajectory("ring.h5")) > 0
    fails(RuntimeError, "absent.h5", show, "absent.h5")


def check_document():
    """The lines of docs/python.md, one after the other, as one notebook has them."""
    text = pathlib.Path(source, "docs/python.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    assert len(blocks) >= 5, len(blocks)
    names = {}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)
    if not shutil.which("jupyter-nbconvert"):
        print("check_notebook: jupyter-nbconvert is absent, no notebook was run")
        return
    cells = [{"cell_type": "code", "metadata": {}, "source": block, "outputs": [], "execution_count": None, "id": f"c{i}"} for i, block in enumerate(blocks)]
    cells.append({**cells[0], "source": "show('traj.h5')", "id": "page"})
    cells.append({**cells[0], "source": "plot('traj.h5', [0, 17])", "id": "plot"})
    pathlib.Path("n.ipynb").write_text(json.dumps({"cells": cells, "metadata": {"kernelspec": {"name": "python3", "display_name": "p", "language": "python"}},
                                                   "nbformat": 4, "nbformat_minor": 5}))
    environment = {**os.environ, "PYTHONPATH": f"{source}/tools/python", "MPLBACKEND": "module://matplotlib_inline.backend_inline", "HOME": os.getcwd()}
    got = subprocess.run(["jupyter-nbconvert", "--to", "notebook", "--execute", "n.ipynb", "--output", "out.ipynb"], capture_output=True,
                         text=True, env=environment)
    assert got.returncode == 0, got.stderr[-3000:]
    made = json.loads(pathlib.Path("out.ipynb").read_text())["cells"]
    assert any("<iframe srcdoc=" in "".join(o["data"].get("text/html", "")) for o in made[-2]["outputs"] if "data" in o), made[-2]["outputs"]
    assert any("image/png" in o.get("data", {}) for o in made[-1]["outputs"]), made[-1]["outputs"]
    assert not any(o["output_type"] == "error" or o.get("name") == "stderr" for cell in made for o in cell["outputs"])
    print(f"check_notebook: a notebook of {len(cells)} cells ran")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    run("modalpack", f"{source}/data/tuning_fork.msh", "fork.h5", modes=4, young="2e11", poisson=0.3, density=7800, fixed="stem_end")
    run("modalsim", "fork.h5", "ring.h5", duration=0.05, fps=4000, initial="0=1e-3")
    check_plots()
    check_page()
    shutil.copy("ring.h5", "traj.h5")
    shutil.copy("fork.h5", "basis.h5")
    check_document()
    os.chdir("/")
print("check_notebook: ok")
