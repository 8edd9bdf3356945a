"""The Khronos test suite: its sub-tests, how to run one, and how to read its result.

Supports harnesses from 2023 on: they list their sub-tests, and write a JSON file with the result.
"""
import json
import os
import pathlib
import re
import subprocess
import tempfile

import results
from platforms import Problem

# Suites whose program isn't SUITE/test_SUITE, and the arguments from the suite's own quick list.
PROGRAMS = {
    'multiple_device_context': 'multiple_device_context/test_multiples',
    'math_brute_force': 'math_brute_force/test_bruteforce',
    'half': 'half/test_half',
    'svm': 'SVM/test_svm',
    'images_info': 'images/clGetInfo/test_cl_get_info',
    'images_fill': 'images/clFillImage/test_cl_fill_images',
    'images_copy': 'images/clCopyImage/test_cl_copy_images',
    'images_read_write': 'images/clReadWriteImage/test_cl_read_write_images',
    'images_kernel': 'images/kernel_read_write/test_image_streams',
    'images_methods': 'images/kernel_image_methods/test_kernel_image_methods',
    'images_samplerless': 'images/samplerlessReads/test_samplerless_reads',
}
ARGUMENTS = {'images_kernel': ['CL_FILTER_NEAREST']}
QUICKER = {'images_kernel': ['small_images'], 'allocations': ['10%']}  # in quick mode; otherwise they take longer than a sub-test may
ASKED = {'select': ['-h']}  # the word that lists sub-tests, if another one would run them; else names() tries several
WIMPY = ('math_brute_force', 'half', 'conversions', 'select')  # suites that know -w in old harnesses
ORDER = ['api', 'basic', 'buffers', 'events', 'allocations', 'compiler', 'computeinfo', 'commonfns', 'geometrics',
         'integer_ops', 'relationals', 'select', 'conversions', 'math_brute_force', 'vectors', 'thread_dimensions',
         'printf', 'profiling', 'atomics', 'c11_atomics', 'multiple_device_context', 'mem_host_flags',
         'device_partition', 'half', 'workgroups', 'contractions', 'device_timer', 'generic_address_space',
         'non_uniform_work_group', 'svm', 'spirv_new', 'images_info', 'images_fill', 'images_copy', 'images_read_write',
         'images_kernel', 'images_methods', 'images_samplerless']
STATES = {'pass': results.PASS, 'skip': results.SKIP, 'fail': results.FAIL}


class Test:
    """One sub-test, identified by its key; the runner runs it in a process of its own."""

    def __init__(self, suite, name, program, arguments):
        self.suite, self.name, self.program, self.arguments = suite, name, program, arguments
        self.key, self.words = (suite, name), ' '.join(arguments)

    def run(self, column, seconds):
        with tempfile.TemporaryDirectory(prefix='tesela-cts-') as scratch:
            answer = pathlib.Path(scratch) / 'result.json'
            environment = column.environ() | {'CL_CONFORMANCE_RESULTS_FILENAME': str(answer)}
            # Suites look for their files in the folder of the program, and leave some in the current one.
            done = results.call([self.program, self.name, *self.arguments], environment, seconds,
                                cwd=self.program.parent)
            if done.state in (results.PASS, results.FAIL):
                done.state = self.answer(answer, done.state)
            return done

    def answer(self, path, state):
        """The harness's own result file, if there is one; a failed process never counts as a pass."""
        try:
            told = json.loads(path.read_text())['results']
        except (OSError, ValueError, KeyError):
            return state
        states = {STATES.get(v, results.FAIL) for v in told.values()}
        if state == results.FAIL and results.PASS in states:
            return results.FAIL
        for worst in (results.FAIL, results.PASS, results.SKIP):
            if worst in states:
                return worst
        return state


def find_program(root, suite):
    path = root / PROGRAMS.get(suite, f'{suite}/test_{suite}')
    return path.resolve() if os.access(path, os.X_OK) else None


def listed_in(text):
    """The names under a heading, which all harnesses have in some form: indented lines of one word."""
    lines = text.splitlines()
    starts = [i for i, line in enumerate(lines) if re.search(r'(test ?|function )names\b', line, re.IGNORECASE)]
    found = [line.strip() for line in lines[starts[-1] + 1:] if line.startswith('\t')] if starts else []
    return [n for n in found if re.fullmatch(r'\w[\w-]*', n)]


def said(program, word, column):
    """The output of a suite's program for this word; empty if it can't be run."""
    try:
        return subprocess.run([program, word], env=column.environ(), cwd=program.parent, timeout=60, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ''


def listed_new(program, column):
    """The names that a new harness lists with --list, under a heading or, since 2025, alone; none for an old harness."""
    text = said(program, '--list', column)
    lines = text.splitlines()
    if lines and all(re.fullmatch(r'\t[\w-]+', n) for n in lines):
        return [n.strip() for n in lines]
    return [] if 'unknown flag' in text else listed_in(text)


def is_new(root, column):
    """Are these programs of a harness in which every suite knows --list and -w? Only one suite is asked, as some old ones
    would run their tests at that word."""
    programs = (find_program(root, s) for s in ORDER if s not in ASKED)
    program = next((p for p in programs if p), None)
    return bool(program and listed_new(program, column))


def names(suite, program, column, new):
    """The names of a suite's sub-tests. Old harnesses list them for one of several words, which are tried in turn."""
    if new:
        return listed_new(program, column)
    if suite == 'conversions':
        return conversions()
    found = (listed_in(said(program, word, column)) for word in ASKED.get(suite, ['--list', '-list', '-h', '-p']))
    return next((f for f in found if f), [])


def conversions():
    """The sub-tests of the old suite, which lists none: every destination, saturated or not, each rounding, every source."""
    integers = [sign + n for n in ('char', 'short', 'int', 'long') for sign in ('u', '')]
    types = [*integers, 'float', 'double']
    return [f'{to}{sat}{rounding}_{source}' for to in types for sat in ('', '_sat') for source in types
            for rounding in ('', '_rte', '_rtp', '_rtn', '_rtz') if to in integers or not sat]


def quick_names(listed):
    """The suite's own quick list: of sub-tests with a quick form, only that form."""
    return [n for n in listed if f'quick_{n}' not in listed and f"quick_{n.removeprefix('full_')}" not in listed]


def tests(options, columns):
    root = options.cts
    if (root / 'test_conformance').is_dir():
        root = root / 'test_conformance'
    chosen = options.suites.split(',') if options.suites else [s for s in ORDER if find_program(root, s)]
    if not chosen:
        raise Problem(f'no suite of an OpenCL-CTS was found in {root}: name the folder that holds api/test_api')
    new = is_new(root, columns[0])
    found = []
    for suite in chosen:
        program = find_program(root, suite)
        if not program:
            raise Problem(f"{root / PROGRAMS.get(suite, f'{suite}/test_{suite}')} is missing: build that suite, leave it out of --suites, or name the folder with --cts that holds api/test_api")
        listed = names(suite, program, columns[0], new)
        quick = not options.full and (new or suite in WIMPY)
        arguments = options.arguments.split() + ARGUMENTS.get(suite, []) + (['-w'] if quick else [])
        if not options.full:
            listed = quick_names(listed)
            arguments += QUICKER.get(suite, [])
        if not listed:
            raise Problem(f'{program} lists no sub-tests: is it a program of OpenCL-CTS, and are its libraries here?')
        found += [Test(suite, n, program, arguments) for n in listed if results.chosen(options, n)]
    return found
