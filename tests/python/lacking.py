# SPDX-License-Identifier: Apache-2.0
"""What a machine lacks: a test leaves out what cannot run without it, and ends as one that was skipped, with the reasons."""
import os
import sys

reasons = []


def lacks(reason):
    reasons.append(reason)


def has_tool(binaries, tool, why=""):
    """Whether the tool was built; if not, the test ends as skipped."""
    if os.path.exists(os.path.join(binaries, tool)):
        return True
    lacks(f"{tool} was not built{why}")
    return False


def terminal():
    """Both ends of a pseudo-terminal, or None."""
    try:
        return os.openpty()
    except OSError as error:
        lacks(f"no pseudo-terminal ({error.strerror}; devpts is not mounted?)")
        return None


def end(said):
    if reasons:
        print("skipped in part:", "; ".join(dict.fromkeys(reasons)))
        sys.exit(77)
    print(said)
