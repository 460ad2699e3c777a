# SPDX-License-Identifier: Apache-2.0
"""What a newcomer reads: README has at most 140 lines and its two commands in the first 40; docs/README.md has every page of docs; links between pages lead
to files; docs/results/seeds.md is what tests/bench/seeds.py makes of the JSON that is kept, or of the pages. usage: check_pages.py SOURCE"""
import pathlib
import re
import subprocess
import sys
import tempfile

source = pathlib.Path(sys.argv[1]).resolve()
readme = (source / "README.md").read_text(encoding="utf-8").split("\n")
wrong = []
if len(readme) > 141:
    wrong.append(f"README.md has {len(readme) - 1} lines, at most 140")
for command in ("modalpack mesh.msh basis.h5", "modaldeform traj.h5 out/"):
    if not any(command in line for line in readme[:40]):
        wrong.append(f"README.md: not in the first 40 lines: {command}")
index = (source / "docs/README.md").read_text(encoding="utf-8")
for page in sorted([*source.glob("docs/*.md"), *source.glob("docs/results/*.md")]):
    name = page.relative_to(source / "docs").as_posix()
    if name != "README.md" and f"]({name})" not in index:
        wrong.append(f"docs/README.md does not name {name}")
n_links = 0
for page in (source / "README.md", *source.glob("docs/*.md")):
    for link in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
        n_links += 1
        if not re.match(r"[a-z]+:", link) and not (page.parent / link).exists():
            wrong.append(f"{page.relative_to(source)}: {link} is absent")
with tempfile.TemporaryDirectory() as folder:
    made = pathlib.Path(folder, "seeds.md")
    kept = source / "docs/results/seeds.json"
    subprocess.run([sys.executable, source / "tests/bench/seeds.py", *[kept][: kept.exists()], made], check=True)
    if made.read_text(encoding="utf-8") != (source / "docs/results/seeds.md").read_text(encoding="utf-8"):
        wrong.append("docs/results/seeds.md is not what tests/bench/seeds.py makes")
if wrong or n_links < 100:
    sys.exit("\n".join(wrong) or f"only {n_links} links")
print(f"pages: {n_links} links")
