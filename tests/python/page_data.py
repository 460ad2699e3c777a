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
