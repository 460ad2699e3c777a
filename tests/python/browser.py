# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium, over its debugging pipe, for the tests of pages and for pictures of them.
usage: browser.py PAGE.html[#frame=N] PICTURE.png [WIDTH HEIGHT]
Exits with 77 where Chromium is absent, with 1 where the page's view is empty."""
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

from tool_run import must


def find_program():
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for path in map(shutil.which, names) if path), None)


# Of the canvas's pixels in a picture, those that differ from its upper left corner.
SHARE_DRAWN = """(async () => {
    const bytes = Uint8Array.from(atob('%s'), (c) => c.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes])), scale = image.width / innerWidth;
    const b = document.getElementById('view').getBoundingClientRect();
    const g = new OffscreenCanvas(image.width, image.height).getContext('2d');
    g.drawImage(image, 0, 0);
    const d = g.getImageData((b.x + 2) * scale, (b.y + 2) * scale, (b.width - 4) * scale, 0.7 * b.height * scale).data;
    let n = 0;
    for (let i = 0; i < d.length; i += 4)
      n += Math.abs(d[i] - d[0]) + Math.abs(d[i + 1] - d[1]) + Math.abs(d[i + 2] - d[2]) > 24;
    return 4 * n / d.length; })()"""


class Browser:
    def __init__(self, program, folder, width=1200, height=800):
        to_child, ours_out = os.pipe()
        ours_in, from_child = os.pipe()

        def connect():
            a, b = os.dup(to_child), os.dup(from_child)
            for fd, target in ((a, 3), (b, 4)):
                os.dup2(fd, target)
                os.set_inheritable(target, True)

        self.process = subprocess.Popen(
            [program, "--headless=new", *(["--no-sandbox"] if os.geteuid() == 0 else []), "--remote-debugging-pipe", "--use-angle=swiftshader",
             "--enable-unsafe-swiftshader", "--disable-dev-shm-usage", f"--user-data-dir={folder}/chromium",
             f"--window-size={width},{height}", "about:blank"],
            preexec_fn=connect, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.write_to, self.read_from, self.buffer, self.count = ours_out, ours_in, b"", 0
        self.events = []
        os.close(to_child)
        os.close(from_child)
        pages = [t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page"]
        self.session = self.call("Target.attachToTarget", targetId=pages[0]["targetId"], flatten=True)["sessionId"]
        for part in ("Page", "Runtime", "Network", "Log"):
            self(f"{part}.enable")

    def call(self, method, session=None, **parameters):
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.write_to, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.buffer:
                more = os.read(self.read_from, 1 << 20)
                must(more, "Chromium has ended")
                self.buffer += more
            one, self.buffer = self.buffer.split(b"\0", 1)
            answer = json.loads(one)
            if answer.get("id") == self.count:
                must("error" not in answer, method, answer)
                return answer["result"]
            self.events.append(answer)

    def __call__(self, method, **parameters):
        return self.call(method, self.session, **parameters)

    def js(self, expression):
        got = self("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        must("exceptionDetails" not in got, expression, got)
        return got["result"].get("value")

    def wait(self, expression, what):
        for _ in range(200):
            if self.js(expression):
                return
            time.sleep(0.1)
        must(False, "waited in vain for", what, self.problems())

    def open(self, page):
        self.events.clear()
        self("Page.navigate", url="file://" + os.path.abspath(page))
        self.wait("document.body && document.body.classList.contains('ready')", page)

    def problems(self):
        kinds = ("Runtime.exceptionThrown", "Log.entryAdded")
        return [e for e in self.events if e["method"] in kinds
                and e["params"].get("entry", {}).get("level") != "verbose"]

    def check_quiet(self):
        """No error, and nothing fetched but the page itself."""
        bad = [e for e in self.problems() if "GPU stall" not in str(e) and "ReadPixels" not in str(e)]
        must(not bad, bad)
        urls = [e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"]
        must(urls and all(u.startswith(("file:", "data:", "blob:")) for u in urls)
              and sum(u.startswith("file:") for u in urls) == 1, urls)

    def click(self, x, y):
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="none" if kind == "mouseMoved" else "left",
                 clickCount=0 if kind == "mouseMoved" else 1)

    def click_on(self, element):
        box = self.js(f"(b => [b.x + b.width / 2, b.y + b.height / 2])(document.getElementById('{element}')"
                      ".getBoundingClientRect())")
        self.click(*box)

    def key(self, key):
        code = {" ": "Space"}.get(key, key)
        text = {"text": key} if len(key) == 1 else {}
        self("Input.dispatchKeyEvent", type="keyDown", key=key, code=code, **text)
        self("Input.dispatchKeyEvent", type="keyUp", key=key, code=code)

    def picture(self, path=None):
        """A picture of the page; what it shows in the canvas must be more than background."""
        for wait in (0, 0.5, 1, 2):  # a frame that was drawn is not on the screen at once
            time.sleep(wait)
            data = self("Page.captureScreenshot")["data"]
            share = self.js(SHARE_DRAWN % data)
            if share > 0.005:
                break
        if path:
            open(path, "wb").write(base64.b64decode(data))
        must(share > 0.005, path, "the view is empty, its share", share)
        return share

    def end(self):
        self.process.kill()
        self.process.wait()


def main():
    page, picture = sys.argv[1:3]
    size = tuple(map(int, sys.argv[3:5])) or (1000, 640)
    program = find_program()
    if not program:
        print("browser.py: Chromium is absent")
        sys.exit(77)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(program, folder, *size)
        try:
            # The window has a frame of its own: the page gets the whole size.
            browser("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1, mobile=False)
            browser.open(page)
            browser.picture(picture)
        finally:
            browser.end()


if __name__ == "__main__":
    main()
