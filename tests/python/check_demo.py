# SPDX-License-Identifier: Apache-2.0
"""What ./run demo runs: every motion is called ok, and the page has every part with its commands, and names no file that is absent.
usage: check_demo.py BIN_FOLDER REPOSITORY"""
import html
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from tool_run import must

binaries, repository = map(os.path.abspath, sys.argv[1:3])
with tempfile.TemporaryDirectory() as folder:
    got = subprocess.run([sys.executable, f"{repository}/data/demo.py", folder, "--tools", binaries], capture_output=True, text=True)
    must(got.returncode == 0 and got.stderr.count("processor seconds") == 4, "the demo", got.stderr)
    page = html.unescape(pathlib.Path(folder, "index.html").read_text(encoding="utf-8"))
    named = re.findall(r'(?:src|href)="([^"#]+)', page)
    must(len(named) > 6, "files on the page", named)
    for name in named:
        must(os.path.getsize(os.path.join(folder, name)) > 0, name)
    commands = "\n".join(re.findall(r"<pre>(.*?)</pre>", page, re.S))
    for tool in ("modalmesh", "modalpack", "modalsim", "modaldeform", "modaltled", "modalcurv", "modalrender", "modaltex build", "modaltex paint"):
        must(tool in commands, tool, commands)
    must(("modalview " in commands) == os.path.exists(f"{binaries}/modalview"), "pages", commands)
    must(page.count("the motion is ok") >= 6 and not re.search("the motion is (suspect|invalid|not judged)", page), "verdicts", page)
print(f"demo: {len(named)} files")
