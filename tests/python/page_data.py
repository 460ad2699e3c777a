# SPDX-License-Identifier: Apache-2.0
"""The data inside a page of modalview, read as formats/viewer_data.md says."""
import gzip
import json
import re
import sys

import numpy as np


class Data:
    def __init__(self, page):
        text = open(page, encoding="utf-8").read()
        part = dict(re.findall(r'<script id="(header|data)"[^>]*>(.*?)</script>', text, re.S))
        if "<" in part["header"]:
            sys.exit("a < in the header, which may end its script or open a comment there")
        self.header = json.loads(part["header"])
        codes = np.frombuffer(part["data"].encode("utf-32-le"), "<u4")
        if np.isin(codes, (0, 13, 60)).any() or not np.isin(codes[codes > 127], (256, 269, 316)).all():
            sys.exit("characters that a page cannot have")
        bits = np.unpackbits((codes & 127).astype("u1")[:, None], axis=1)[:, 1:].ravel()
        self.bytes = gzip.decompress(np.packbits(bits[:len(bits) // 8 * 8]).tobytes())
        self.at = 0

    def planes(self, n, dtype):
        width = np.dtype(dtype).itemsize
        block = np.frombuffer(self.bytes, np.uint8, n * width, self.at).reshape(width, n)
        self.at += n * width
        return np.ascontiguousarray(block.T).view(dtype)[:, 0]

    def differences(self, n):
        return np.cumsum(unzigzag(self.planes(n, "<u4")), dtype=np.int64)


def unzigzag(coded):
    coded = coded.astype(np.int64)
    return (coded >> 1) ^ -(coded & 1)


def predict(v, triangles, faces, x):
    terms = []
    pairs = []
    for f in faces[v]:
        t = list(triangles[f])
        k = t.index(v)
        pairs.append((t[(k + 1) % 3], t[(k + 2) % 3]))
    for a, b in pairs:
        if a < v and b < v:
            for f in faces[a]:
                t = triangles[f]
                if b in t:
                    c = next(w for w in t if w not in (a, b))
                    if c < v:
                        terms.append(x[a] + x[b] - x[c])
    if not terms:
        terms = [x[w] for pair in pairs for w in pair if w < v]
    if not terms and v > 0:
        terms = [x[v - 1]]
    return np.floor(np.sum(terms, axis=0) / len(terms)).astype(np.int64) if terms else 0


def read_shape(data, about):
    n, r = about["vertices"], about["modes"]
    triangles = data.differences(3 * about["triangles"]).reshape(-1, 3).tolist()
    user = data.differences(n)
    faces = [[] for _ in range(n)]
    for f, t in enumerate(triangles):
        for v in t:
            faces[v].append(f)
    columns = [unzigzag(data.planes(n, "<u4")) for _ in range(3)]
    for _ in range(r):
        columns += list(unzigzag(data.planes(3 * n, "<u2")).reshape(3, n))
    residuals = np.array(columns).T
    values = np.zeros((n, 3 + 3 * r), np.int64)
    for v in range(n):
        values[v] = predict(v, triangles, faces, values) + residuals[v]
        modes = values[v, 3:]
        values[v, 3:] = (modes + 32768) % 65536 - 32768
    X = np.array(about["origin"]) + about["position_step"] * values[:, :3]
    U = values[:, 3:].reshape(n, r, 3) * np.array(about["mode_steps"])[None, :, None]
    return triangles, user, X, U
