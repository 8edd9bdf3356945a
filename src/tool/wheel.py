"""Tesela, one virtual OpenCL device over all real ones, as Python's package installer puts it.

PyOpenCL's wheel finds the library by itself. The command `tesela` is the tool; see `tesela --help`.
"""
import os
import sys

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'pyopencl', '.libs')
TOOL = os.path.join(FOLDER, 'tesela', 'tesela')
ICD = os.path.join(FOLDER, 'tesela', 'icd', 'tesela.icd')
LIBRARY = os.path.join(FOLDER, 'libtesela.so')


def name_library():
    """Loaders want the library's whole path, which is known only here. Where it can't be written, as in a read-only image or
    one that another user installed, the tool names the library itself, which CUDA's loader doesn't follow."""
    line = LIBRARY + '\n'
    try:
        with open(ICD) as file:
            if file.read() == line:
                return
        with open(ICD, 'w') as file:
            file.write(line)
    except OSError:
        pass


def main():
    name_library()
    try:
        os.execv(TOOL, [TOOL] + sys.argv[1:])
    except OSError as error:
        sys.exit(f'tesela: {TOOL} can\'t be run ({error.strerror}): install the package again')
