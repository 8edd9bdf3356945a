"""PyOpenCL's own tests, from Debian's package python-pyopencl-doc: each test function in a process of its own."""
import pathlib
import re
import subprocess

import results
from platforms import Problem

FOLDER = pathlib.Path('/usr/share/doc/python-pyopencl-doc/examples')
PYTEST = ['/usr/bin/python3', '-B', '-m', 'pytest', '-p', 'no:cacheprovider', '-q']


class Test:
    """A test function with all of its parameters."""

    def __init__(self, path, function):
        self.path, self.function = path, function
        self.suite, self.name = 'pyopencl', f"{path.stem.removeprefix('test_')} {function.removeprefix('test_')}"
        self.key, self.words = (self.suite, self.name), ''

    def run(self, column, seconds):
        done = results.call([*PYTEST, f'{self.path}::{self.function}'], column.environ(), seconds, cwd=FOLDER)
        # It passes if it passes with all parameters; skipped ones, and expected failures, count as passes.
        if done.state == results.PASS and not re.search(r'\b\d+ passed(, \d+ warnings?)? in ', done.tail):
            done.state = results.SKIP
        return done


def functions(path, column):
    """The test functions of one file, in order, as pytest collects them."""
    listed = subprocess.run([*PYTEST, '--collect-only', path], env=column.environ(), cwd=FOLDER, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if listed.returncode:
        raise Problem(f'pytest lists no tests of {path}: {listed.stdout[-500:]}')
    return dict.fromkeys(re.findall(rf'^{path.name}::(\w+)', listed.stdout, re.MULTILINE))


def tests(options, columns):
    for package in ('pyopencl', 'pytest', 'mako'):
        if subprocess.run(['/usr/bin/python3', '-c', f'import {package}'], capture_output=True, check=False).returncode:
            raise Problem(f'{package} is missing: install the Debian package python3-{package}')
    files = sorted(FOLDER.glob('test_*.py'))
    if not files:
        raise Problem(f"{FOLDER} has no tests: install the Debian package python-pyopencl-doc, with its documentation")
    found = [Test(path, function) for path in files for function in functions(path, columns[0])]
    return [test for test in found if results.chosen(options, test.name)]
