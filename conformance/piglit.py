"""Debian's piglit: its OpenCL tests, one process each."""
import os
import pathlib
import re
import shutil
import subprocess

import results
from platforms import Problem


class Test:
    """A program of piglit, or one of its .cl files, run by cl-program-tester. piglit prints its result as JSON."""

    def __init__(self, suite, name, command):
        self.suite, self.name, self.command = suite, name, command
        self.key, self.words = (suite, name), ''

    def run(self, column, seconds):
        done = results.call(self.command, column.environ() | {'PIGLIT_NO_WINDOW': '1'}, seconds)
        told = re.findall(r'PIGLIT: *\{.*?"result" *: *"(\w+)"', done.tail)
        if told and done.state in (results.PASS, results.FAIL):
            # A failed process never counts as a pass.
            done.state = {'pass': done.state, 'skip': results.SKIP}.get(told[-1], results.FAIL)
        return done


def absolute(program, command):
    """piglit's paths are relative to its installation."""
    folder = pathlib.Path(program).resolve().parent
    return [str((folder / word).resolve()) if word.startswith('../') else word for word in command]


def tests(options):
    program = shutil.which('piglit')
    if not program:
        raise Problem('piglit is missing: install the Debian package piglit')
    environment = os.environ | {'PIGLIT_NO_WINDOW': '1'}
    listed = subprocess.run([program, 'print-cmd', 'cl'], env=environment, text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, check=False)
    if listed.returncode:
        raise Problem(f'piglit print-cmd cl failed: {listed.stderr[-500:]}')
    found = []
    for line in listed.stdout.splitlines():
        name, _, command = line.partition(' ::: ')
        if command and results.chosen(options, name):
            found.append(Test('piglit', name, absolute(program, command.split())))
    return found
