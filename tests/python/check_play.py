# SPDX-License-Identifier: Apache-2.0
"""How fast a motion is shown, and its sound: --slow-motion of modaldeform and modalview, modalview --sound.
usage: check_play.py BIN SOURCE [--browser]: with it pages play in headless Chromium; 77 where that is absent."""
import json
import os
import shutil
import struct
import sys
import tempfile
import time

import h5py
import numpy as np

from browser import Browser, find_program
from page_data import Data, unzigzag
from tool_run import must, run

source = os.path.abspath(sys.argv[2])


def refused(*words, code, says):
    before = sorted(os.listdir("."))
    got = run(*words, code=code, says=says)
    must(got.stderr.count("\n") == 1 and sorted(os.listdir(".")) == before, words, got.stderr)


def make_inputs():
    run("modalpack", f"{source}/data/tuning_fork.msh", "fork.h5", "--modes", 4, "--young", 2.06e11, "--poisson", 0.29,
        "--density", 7850, "--fixed", "stem_end", "-q")
    run("modalsim", "fork.h5", "q.h5", "--duration", 1, "--fps", 2000, "--initial", "3=1e-3", "--initial", "0=2e-4", "-q")
    run("modaldeform", "q.h5", "out", "--format", "wav,glb", "--listen", "0.1,0.1,0.1", "--listen", "-0.1,0.1,0.1", "--gain", 3,
        "-q")


def wanted_auto():
    """The least of 1, 2, 5, 10 ... by which the motion swings at most twice a second."""
    with h5py.File("q.h5") as f:
        q, times = f["q"][:], f["times"][:]
    rate = np.sum((np.diff(q, axis=0) / np.diff(times)[:, None]) ** 2)
    frequency = np.sqrt(rate / np.sum((q - q.mean(axis=0)) ** 2)) / (2 * np.pi)
    return min(f for e in range(9) for f in (10 ** e, 2 * 10 ** e, 5 * 10 ** e) if frequency / f <= 2)


def glb_times(path):
    data = open(path, "rb").read()
    length = struct.unpack("<I", data[12:16])[0]
    about = json.loads(data[20:20 + length])
    accessor = about["accessors"][about["animations"][0]["samplers"][0]["input"]]
    at = 28 + length + about["bufferViews"][accessor["bufferView"]]["byteOffset"]
    return np.frombuffer(data, "<f4", accessor["count"], at), about["extras"]


def slow_files():
    with h5py.File("q.h5") as f:
        times = f["times"][:]
    auto = wanted_auto()
    must(auto >= 50, auto)
    for text, factor in (("auto", auto), ("12.5", 12.5), ("0.5", 0.5)):
        run("modaldeform", "q.h5", "slow", "--format", "glb,mdd", "--slow-motion", text, "--force", "-q")
        shown, extras = glb_times("slow/sequence.glb")
        must(np.array_equal(shown, (times * factor).astype("f4")) and extras["slow_motion"] == factor, text, shown, extras)
        count, = struct.unpack(">i", open("slow/sequence.mdd", "rb").read(4))
        mdd = np.frombuffer(open("slow/sequence.mdd", "rb").read(), ">f4", count, 8)
        must(np.array_equal(mdd, shown), text, "mdd", mdd)
        must(json.load(open("slow/manifest.json"))["slow_motion"] == factor, "manifest")
    shown, extras = glb_times("out/sequence.glb")
    must(np.array_equal(shown, times.astype("f4")) and "slow_motion" not in extras, extras)
    must("slow_motion" not in json.load(open("out/manifest.json")), "manifest")
    refused("modaldeform", "q.h5", "no", "--slow-motion", "5", code=2, says="--slow-motion: only with --format glb and mdd, vtkhdf")
    refused("modaldeform", "q.h5", "no", "--format", "csv", "--probe", 1, "--slow-motion", "auto", code=2, says="mdd, csv")
    run("modaldeform", "q.h5", "both", "--format", "glb,csv", "--probe", 1, "--slow-motion", "auto", says="--slow-motion: left out of csv")
    refused("modaldeform", "q.h5", "no", "--format", "pc2", "--slow-motion", "auto", code=2, says="mdd, pc2 (which has no times)")
    for text in ("0", "-3", "nan", "fast"):
        refused("modaldeform", "q.h5", "no", "--format", "glb", "--slow-motion", text, code=2, says="--slow-motion: ")


def page_data():
    for words, factor in (([], wanted_auto()), (["--slow-motion", 1], 1), (["--slow-motion", 250], 250), (["--slow-motion", "auto"], wanted_auto())):
        run("modalview", "q.h5", "page.html", "--force", "-q", *words)
        header = Data("page.html").header
        must(header["slow_motion"] == factor and "sound" not in header, words, header)
    # colours by speed only of frames that follow the motion
    for fps, follows in ((1e5, True), (100, False)):
        run("modalsim", "fork.h5", "few.h5", "--duration", 10 / fps, "--fps", fps, "--initial", "0=1e-4", "--initial", "3=1e-4", "-f", "-q")
        got = run("modalview", "few.h5", "few.html", "-f")
        must(("speeds" in Data("few.html").header) != follows and ("no colours by speed: object 0, mode 3: moves at" in got.stderr) != follows, fps, got.stderr)
    run("modalview", "q.h5", "page.html", "--force", "-q", "--sound", "out/sound.wav")
    data = Data("page.html")
    must(data.header["slow_motion"] == 1, "sound has its own rate")
    about = data.header["sound"]
    wav = np.frombuffer(open("out/sound.wav", "rb").read(), "<f4", offset=122)
    must((about["rate"], about["channels"], about["samples"]) == (48000, 2, len(wav) // 2), about)
    # GLB, page and sound of one run take the same time
    seconds, shown = (about["samples"] - 1) / about["rate"], glb_times("out/sequence.glb")[0]
    must(abs(shown[-1] - shown[0] - seconds) < 1e-6 and data.header["frames"] == len(shown), seconds, shown)
    data.at = len(data.bytes) - 2 * len(wav)
    values = unzigzag(data.planes(len(wav), "<u2")) * about["step"]
    must(data.at == len(data.bytes) and np.abs(values - wav).max() <= 0.5001 * about["step"] and
         about["step"] <= np.abs(wav).max() / 32766, "samples", np.abs(values - wav).max())
    good = open("out/sound.wav", "rb").read()
    for name, data, says in (("cut.wav", good[:-4], "its head says"), ("longer.wav", good + bytes(8), "its head says"),
                             ("none.wav", b"RIFF", "no sound.wav"), ("short.wav", good[:122 + 8 * 24000], "its head says"),
                             ("integers.wav", good[:20] + b"\1" + good[21:], "no sound.wav of modaldeform"),
                             ("nan.wav", good[:134] + b"\0\0\xc0\x7f" + good[138:], "sample 1: not finite")):
        open(name, "wb").write(data)
        refused("modalview", "q.h5", "no.html", "--sound", name, code=3, says=says)
    refused("modalview", "q.h5", "no.html", "--sound", "absent.wav", code=3, says="absent.wav: ")
    run("modaldeform", "q.h5", "half", "--format", "wav", "--listen", "1,1,1", "--frames", ":1000", "-q")
    refused("modalview", "q.h5", "no.html", "--sound", "half/sound.wav", code=3, says="s of sound, the trajectory takes 1 s")
    # as long, of another motion
    shutil.copy("q.h5", "twice.h5")
    with h5py.File("twice.h5", "r+") as f:
        f["q"][...] *= 2
    refused("modalview", "twice.h5", "no.html", "--sound", "out/sound.wav", code=3, says="out/sound.wav: the sound of another trajectory, hash ")
    refused("modalview", "fork.h5", "no.html", "--sound", "out/sound.wav", code=2, says="--sound: goes with a trajectory")
    refused("modalview", "fork.h5", "no.html", "--slow-motion", "3", code=2, says="--slow-motion: goes with a trajectory")


def in_browser():
    program = find_program()
    if not program:
        print("chromium is absent: no page is played")
        sys.exit(77)
    browser = Browser(program, os.getcwd())
    try:
        run("modalview", "q.h5", "page.html", "--sound", "out/sound.wav", "-q")
        browser.open("page.html")
        value = browser.js
        must(value("document.getElementById('rate-value').textContent") == "its own", "own rate")
        # a tenth of a second is a tenth of a second; 100 times slower a thousandth
        for slow in (1, 100):
            value(f"modalview.setPlaying(false), modalview.setFrame(200), modalview.setRate({slow}), modalview.player.advance(0.1)")
            got = value("[modalview.player.time, modalview.player.frame]")
            must(abs(got[0] - 0.1 - 0.1 / slow) < 1e-9 and got[1] == int(200 + 200 / slow + 1e-6), slow, got)
        must(value("document.getElementById('rate-value').textContent") == "100 × slower", "100 times slower")
        browser.key("1")
        must(value("modalview.player.slow === 1"), "the key 1")
        value("modalview.setFrame(2000), modalview.player.advance(0.0006)")
        must(value("modalview.player.frame") == 0, "it loops after its last frame")
        # sound: what the file has, at the time that is shown
        must(not value("document.getElementById('sound').hidden"), "no button")
        value("modalview.setRate(50), modalview.setFrame(0), modalview.setPlaying(true)")
        browser.click_on("sound")
        browser.wait("modalview.sound.on && modalview.sound.context.state === 'running' && modalview.player.time > 0", "sound")
        must(value("modalview.player.slow === 1"), "sound at another rate")
        heard = np.array([value(f"Array.from(modalview.sound.buffer.getChannelData({c}))") for c in range(2)]).T
        wav = np.frombuffer(open("out/sound.wav", "rb").read(), "<f4", offset=122).reshape(-1, 2)
        must(heard.shape == wav.shape and np.abs(heard - wav).max() <= np.abs(wav).max() / 60000, "samples")
        apart = []
        for _ in range(8): # a busy machine draws late at times
            time.sleep(0.15)
            shown, now = value("new Promise((d) => requestAnimationFrame(() => requestAnimationFrame(() => "
                               "d([modalview.player.time, modalview.sound.now(true)]))))")
            apart.append(abs((now - shown + 0.5) % 1 - 0.5))
        must(np.median(apart) < 0.15, "the page and its sound are apart by", apart)
        browser.click_on("play")
        must(value("modalview.sound.source === null && !modalview.ui.playing"), "a pause is silent")
        now = value("modalview.setFrame(500), modalview.setPlaying(true), modalview.sound.now(true)")
        must(0.24 < now < 0.35, "it goes on from the frame", now)
        browser.key("l")
        browser.wait("!modalview.ui.playing", "the end")
        must(value("modalview.player.frame") == 2000, "the last frame")
        value("modalview.setRate(20)")
        must(not value("modalview.sound.on"), "slow motion is silent")
        browser.check_quiet()
        run("modalview", "q.h5", "slow.html", "--slow-motion", 200, "-q")
        browser.open("slow.html")
        must(value("modalview.player.slow") == 200 and value("document.getElementById('sound').hidden") and
             value("document.getElementById('rate-value').textContent") == "200 × slower", "--slow-motion")
        browser.check_quiet()
    finally:
        browser.end()


with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder: # Chromium may still write there
    os.chdir(folder)
    make_inputs()
    if "--browser" in sys.argv:
        in_browser()
    else:
        slow_files()
        page_data()
    os.chdir("/")
print("ok")
