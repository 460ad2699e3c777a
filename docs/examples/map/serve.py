#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Serves a folder on this machine with range requests, which python3 -m http.server does not know: serve.py FOLDER [PORT]."""
import http.server
import os
import re
import sys


def handler(folder):
    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=folder)

        def log_message(self, *arguments):
            pass

        def do_GET(self):
            wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
            path = self.translate_path(self.path)
            if not wanted or not os.path.isfile(path):
                return super().do_GET()
            first, last, size = int(wanted[1]), int(wanted[2]), os.path.getsize(path)
            if first > last or last >= size:
                return self.send_error(416)
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
            self.send_header("Content-Length", str(last - first + 1))
            self.end_headers()
            with open(path, "rb") as file:
                file.seek(first)
                self.wfile.write(file.read(last - first + 1))
            return None
    return Handler


if __name__ == "__main__":
    port = int(sys.argv[2]) if len(sys.argv) > 2 else 8000
    print(f"http://localhost:{port}/")
    http.server.ThreadingHTTPServer(("127.0.0.1", port), handler(sys.argv[1])).serve_forever()
