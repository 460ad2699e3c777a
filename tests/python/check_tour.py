# SPDX-License-Identifier: Apache-2.0
"""The commands of a page, in their order, in one folder, as they are written: those of README.md, of docs/tour.md. Each ends with exit code 0, and a
motion that they make is called ok, or the page says that it would be suspect. --short: of pictures and of stress every fortieth frame.
usage: check_tour.py BIN_FOLDER REPOSITORY PAGE [--short]"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

# what is not a command of the tools: the set-up, and what clients/ and cli.package test
LEFT_OUT = ("./run ", "export ", "pip ", "cmake ", "ctest ")


def commands(page):
    lines, python = [], False
    for line in page:
        python = python != line.startswith("```")
        if not python and line.startswith("    ") and line[4:5].strip(" |[─┌└│")[:1].isalpha():
            if line.endswith("\\"):
                sys.exit(f"a command of more than one line: {line}")
            lines.append(line.strip())
    return [line for line in lines if not line.startswith(LEFT_OUT)]


def shorter(command):
    if "--frames" in command:
        return re.sub(r"--frames ::\d+", "--frames ::40", command)
    if re.match(r"modalrender (?!.*--pick)|modaldeform .*--fields .*von_mises", command):
        return re.sub(r"^(\w+ \S+)", r"\1 --frames ::40", command)
    return command


def main():
    binaries, repository = map(os.path.abspath, sys.argv[1:3])
    with open(os.path.join(repository, sys.argv[3]), encoding="utf-8") as f:
        found = commands(f.read().splitlines())
    if sys.argv[4:] == ["--short"]:
        found = [shorter(command) for command in found]
    absent = [name for name in ("modalview", "ffmpeg") if not (shutil.which(name) or os.path.exists(f"{binaries}/{name}"))]
    environment = {**os.environ, "PATH": f"{binaries}:{os.environ['PATH']}"}
    left = []
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(f"{repository}/data", f"{folder}/data")
        for command in found:
            if any(re.search(rf"\b{name}\b", command) for name in absent) or ("modalview" in absent and ".html" in command):
                left.append(command)
                continue
            got = subprocess.run(["bash", "-eo", "pipefail", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
            if got.returncode != 0:
                sys.exit(f"{sys.argv[3]}: {command}: exit code {got.returncode}\n{got.stderr[-2000:]}")
            if re.search(r"motion is (suspect|invalid)", got.stderr):
                sys.exit(f"{sys.argv[3]}: {command}: what the page shows is not ok\n{got.stderr[-2000:]}")
    if len(found) < 5:
        sys.exit(f"{sys.argv[3]}: only {len(found)} commands were found")
    if left:
        print(f"skipped: {', '.join(absent)} is absent: {len(left)} of {len(found)} commands were not run")
        sys.exit(77)
    print(f"{sys.argv[3]}: {len(found)} commands")


main()
