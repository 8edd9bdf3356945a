#!/usr/bin/env python3
"""Where the instructions of a small kernel's enqueue go: natively, and on Tesela over the same vendor.

10 000 kernels in order (tests/bench/bench.c), counted by callgrind in the thread that enqueues, function by function.
Usage: tests/bench/account.py [BUILD [VENDORS]]; defaults: build, BUILD/vendors-pocl. Needs valgrind.
"""
import collections
import os
import re
import subprocess
import sys
import tempfile

KERNELS = 20000  # bench --counted enqueues them twice
# What a function of Tesela's is for, by the folder or file of its source; the first that fits.
PARTS = [
    ("entry and checks of arguments", r"/(icd|src/api)/"),
    ("objects, arguments' snapshot", r"/src/(object|handle|program|device|base)/"),
    ("tiles", r"/src/tile/"),
    ("graph: scheduling and edges",
     r"/src/graph/(schedule|enqueue|command|queue|op|edge|progress|dependences|join|memory_|deferred|coalesce)\w*\."),
    ("graph: plans and claims",
     r"/src/graph/(plan|runs|claim|fetch|move|touch|valid|mapped|undo|evict|residency|member_memory|data|host_copy)\w*\."),
    ("graph: placement", r"/src/(graph/choose|place/)"),
    ("graph: submission", r"/src/graph/(submit|driver_call|lane|port|make_room)\w*\."),
    ("graph: completion and reports", r"/src/graph/"),
    ("the vendor driver", r"/src/(opencl|driver)/"),
]


def names(cell, table):
    """callgrind's "(12) name", or "(12)" for one that was told before."""
    number, _, name = cell.partition(" ")
    if name:
        table[number] = name
    return table.get(number, cell)


def count(path):
    """Own instructions of each (object, file, function)."""
    objects, files, functions = {}, {}, {}
    ob = fl = fn = "?"
    inclusive = False
    own = collections.Counter()
    for line in open(path, errors="replace"):
        line = line.rstrip("\n")
        key, is_key, value = line.partition("=")
        if is_key and key in ("ob", "fl", "fi", "fe", "fn", "cob", "cfi", "cfl", "cfn", "calls"):
            if key == "ob":
                ob = names(value, objects)
            elif key in ("fl", "fi", "fe"):
                fl = names(value, files)
            elif key == "fn":
                fn = names(value, functions)
            elif key == "cob":
                names(value, objects)
            elif key in ("cfi", "cfl"):
                names(value, files)
            elif key == "cfn":
                names(value, functions)
            inclusive = key == "calls"
        elif re.match(r"[+*-]?\d* ?[+*-]?\d", line):
            if not inclusive:
                own[(ob, fl, fn)] += int(line.split()[1])
            inclusive = False
    return own


def measure(bench, build, vendors, tesela):
    environment = dict(os.environ, OCL_ICD_VENDORS=os.path.join(build, "icd", "") if tesela else vendors)
    if tesela:
        environment["TESELA_VENDORS"] = vendors
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            ["valgrind", "--tool=callgrind", "--separate-threads=yes", "--toggle-collect=bench_counted",
             "--compress-pos=no", "--callgrind-out-file=" + os.path.join(folder, "out"), bench, "--counted"],
            env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        total = collections.Counter()
        for name in os.listdir(folder):
            total += count(os.path.join(folder, name))
    return total


def part(ob, fl, fn):
    name = os.path.basename(ob)
    if "libtesela" in name:
        return next((what for what, pattern in PARTS if re.search(pattern, fl)), "Tesela, elsewhere")
    if re.match(r"libOpenCL", name):
        return "the loader"
    if re.match(r"(libc|ld-linux|libpthread)[.-]", name):
        if re.search(r"alloc|free|calloc", fn):
            return "the C library: memory"
        return "the C library: locks" if re.search(r"mutex|lll_|cond_", fn) else "the C library: else"
    return "the program" if name == "bench" else "the vendor"


def main():
    build = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build")
    vendors = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else os.path.join(build, "vendors-pocl")
    sides = []
    for tesela in (False, True):
        parts = collections.Counter()
        for key, n in measure(os.path.join(build, "tests", "bench"), build, vendors, tesela).items():
            parts[part(*key)] += n
        sides.append(parts)
    native, ours = sides
    difference = sum(ours.values()) - sum(native.values())
    print("%-36s %8s %8s %8s %6s" % ("instructions for each kernel", "native", "Tesela", "more", "share"))
    for name in sorted(native | ours, key=lambda name: native[name] - ours[name]):
        more = ours[name] - native[name]
        print("%-36s %8.0f %8.0f %8.0f %5.1f%%"
              % (name, native[name] / KERNELS, ours[name] / KERNELS, more / KERNELS, 100 * more / difference))
    print("%-36s %8.0f %8.0f %8.0f" % ("all", sum(native.values()) / KERNELS, sum(ours.values()) / KERNELS,
                                       difference / KERNELS))


main()
