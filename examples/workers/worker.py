#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A worker for `kerf tune --protocol worker`, as small as possible: it compresses a text in chunks, and kerf finds
the fastest chunk. docs/workers.md is the manual of what it reads and writes.

    kerf tune --param block=8..256:x2 --protocol worker -- python3 worker.py
"""
import json
import sys
import time
import zlib

text = b"What takes long is done once, before the worker is ready. " * 4000


def measure(block, limit_s):
    """The seconds that it took, or None where the limit stopped it."""
    start = time.monotonic()
    size = block * 1024
    for at in range(0, len(text), size):
        if limit_s is not None and time.monotonic() - start > limit_s:
            return None
        zlib.compress(text[at : at + size])
    return time.monotonic() - start


def answer(request):
    limit_s = request.get("limit_s")
    try:
        seconds = measure(request["setting"]["block"], limit_s)
    except MemoryError as error:
        return {"error": str(error) or "out of memory", "kind": "memory"}
    except Exception as error:  # this setting cannot be measured; the worker goes on
        return {"error": f"{type(error).__name__}: {error}", "kind": "other"}
    return {"censored": limit_s} if seconds is None else {"value": seconds}


print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:  # the end of its input ends it
    request = json.loads(line)
    print(json.dumps({"id": request["id"], **answer(request)}), flush=True)
