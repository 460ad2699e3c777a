# SPDX-License-Identifier: Apache-2.0
"""The programs of the family, and their reports."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from typing import Any

from ._h5 import Path


class ToolError(RuntimeError):
    """A program that failed: its exit code (2 usage, 3 bad input, 4 system, 5 not converged), and its last message."""

    def __init__(self, tool: str, exit_code: int, message: str) -> None:
        super().__init__(message or f"{tool}: exit code {exit_code}")
        self.tool, self.exit_code, self.message = tool, exit_code, message


def _find(tool: str) -> str:
    """In the folder that MODALTOOLS_BIN names, or on PATH."""
    folder = os.environ.get("MODALTOOLS_BIN")
    found = shutil.which(tool, path=folder) if folder else shutil.which(tool)
    if not found:
        raise FileNotFoundError(f"{tool}: not in {'MODALTOOLS_BIN, ' + folder if folder else 'PATH (MODALTOOLS_BIN names a folder)'}")
    return found


def _words(options: dict[str, Any]) -> list[str]:
    words: list[str] = []
    for name, value in options.items():
        flag = "--" + name.rstrip("_").replace("_", "-")
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is None or one is False:
                continue
            words += [flag] if one is True else [f"{flag}={one!r}" if isinstance(one, float) else f"{flag}={os.fspath(one) if hasattr(one, '__fspath__') else one}"]
    return words


def _call(tool: str, words: list[str]) -> "subprocess.CompletedProcess[str]":
    got = subprocess.run([_find(tool), *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="surrogateescape")
    if got.returncode != 0:
        lines = got.stderr.strip().split("\n")
        raise ToolError(tool, got.returncode, lines[-1] if lines else "")
    return got


def run(tool: str, *operands: Path, **options: Any) -> dict[str, Any]:
    """Runs `tool` ("modalpack") with its operands and options, and returns its report (--report) as a dict, with what it
    printed as "stdout". An option is a keyword: modes=20 is --modes=20, damping_ratio=0.01 is --damping-ratio=0.01, force=True is
    --force, fixed=["a", "b"] is --fixed=a --fixed=b; None and False leave it out. ToolError: it failed."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        got = _call(tool, [*_words(options), f"--report={report}", "--", *(os.fspath(o) for o in operands)])
        with open(report, encoding="utf-8") as file:
            result: dict[str, Any] = json.load(file)
    result["stdout"] = got.stdout
    return result


def info(path: Path, **options: Any) -> dict[str, Any]:
    """What modalinfo --json says of a file."""
    result: dict[str, Any] = json.loads(_call("modalinfo", [*_words(options), "--json", "--", os.fspath(path)]).stdout)
    return result
