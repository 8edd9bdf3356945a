"""What this machine has: the loader, vendors, devices, Tesela's members; and the environment that chooses among them."""
import ctypes.util
import glob
import os
import pathlib
import re
import subprocess

# Where drivers that no .icd file names may lie.
LIBRARIES = {'nvidia': 'libnvidia-opencl.so.1', 'socl': 'libsocl-1.3.so.0'}
FOLDERS = ('/usr/local/nvidia/lib64', '/usr/local/nvidia/lib', '/usr/lib/x86_64-linux-gnu', '/usr/lib64',
           '/usr/local/cuda/lib64')
# oclgrind simulates a device, a thousand times slower; Clover and rusticl have no devices on most machines; SOCL is a
# form of its own.
LEFT_OUT = ('oclgrind', 'mesa', 'rusticl', 'socl', 'tesela')
FOREIGN = re.compile(r'TESELA_|OCL_ICD_|OPENCL_LAYER|OPENCL_LAYERS')


class Missing(Exception):
    """What the runner can't do without, in a sentence for its user."""


def found_library(name):
    """A driver's library, as its file or, where the linker knows it, its name; None if it isn't here."""
    for folder in FOLDERS:
        if os.path.exists(f'{folder}/{name}'):
            return f'{folder}/{name}'
    stem = re.sub(r'^lib(.*?)\.so.*', r'\1', name)
    return name if ctypes.util.find_library(stem) == name else None


def find_vendors():
    """All vendors here by name, from .icd files and known places."""
    vendors = {}
    for path in sorted(glob.glob('/etc/OpenCL/vendors/*.icd')):
        library = pathlib.Path(path).read_text().split('\n')[0].strip()
        if library:
            vendors[pathlib.Path(path).stem] = library
    for name, library in LIBRARIES.items():
        if name not in vendors and found_library(library):
            vendors[name] = found_library(library)
    return vendors


class Machine:
    """scratch: a folder of the runner's own for .icd files and caches."""

    def __init__(self, build, scratch, vendors, socl):
        self.build, self.scratch = pathlib.Path(build), pathlib.Path(scratch)
        self.vendors, self.socl = vendors, socl
        self.base = {k: v for k, v in os.environ.items() if not FOREIGN.match(k)}
        self.icd('tesela', {'tesela': str(self.build / 'libtesela.so')})
        self.icd('all', vendors)
        for name, library in vendors.items():
            self.icd(f'only-{name}', {name: library})
        if socl:
            self.icd('socl', {**vendors, 'socl': socl})

    def icd(self, folder, vendors):
        """A folder of .icd files for loaders. CUDA's loader needs the slash at the end of its name."""
        path = self.scratch / 'icd' / folder
        path.mkdir(parents=True, exist_ok=True)
        for name, library in vendors.items():
            (path / f'{name}.icd').write_text(library + '\n')

    def shown(self, folder):
        return {**self.base, 'OCL_ICD_VENDORS': f'{self.scratch}/icd/{folder}/'}

    def native(self, vendor=None):
        """The environment in which programs see a vendor, or all vendors, without Tesela."""
        return self.shown(f'only-{vendor}' if vendor else 'all')

    def tesela(self, members, order='async'):
        # All members are opened at the start, as programs by hand open all devices: by default a program of less than a
        # second, as most are here, stays on one.
        return {**self.shown('tesela'), 'TESELA_VENDORS': f'{self.scratch}/icd/all', 'TESELA_MEMBERS': members,
                'TESELA_OPEN': 'all', 'TESELA_ORDER': order, 'TESELA_LOG': 'place:info', 'TESELA_CACHE': f'{self.scratch}/cache'}

    def socl_environment(self):
        """SOCL beside the vendors that it drives. StarPU's own processor workers run no OpenCL; its OpenCL ones leave out
        processors unless they are told."""
        return {**self.shown('socl'), 'STARPU_HOME': str(self.scratch), 'STARPU_SILENT': '1', 'STARPU_NCPU': '0',
                'STARPU_OPENCL_ON_CPUS': '1'}

    def program(self, folder, name):
        return str(self.build / 'examples' / folder / name)

    def devices(self, vendor=None):
        """[(number, type, platform, name)] as the programs' --list shows them, natively."""
        try:
            done = subprocess.run([self.program('', 'hotspot'), '--list'], env=self.native(vendor), text=True,
                                  capture_output=True, timeout=60, errors='replace')
        except OSError as error:
            raise Missing(f"{self.build}/examples/hotspot can't be run ({error}): build the target experiments") from None
        except subprocess.TimeoutExpired:
            return []
        if 'libOpenCL' in done.stderr:
            raise Missing(f"no loader of OpenCL is here ({done.stderr.strip()}); a folder that has libOpenCL.so.1 can be "
                          'named in LD_LIBRARY_PATH')
        rows = [line.split('\t') for line in done.stdout.splitlines()]
        return [(int(r[0]), *r[1:]) for r in rows if len(r) == 4]

    def members(self, cpu='built-in'):
        """[(id, name, is it used by default)] as `tesela info` tells them with TESELA_CPU=cpu."""
        env = {**self.shown('tesela'), 'TESELA_VENDORS': f'{self.scratch}/icd/all', 'TESELA_CPU': cpu}
        try:
            text = subprocess.run([str(self.build / 'tesela'), 'info'], env=env, text=True, capture_output=True,
                                  timeout=120, errors='replace').stdout
        except OSError as error:
            raise Missing(f"{self.build}/tesela can't be run ({error}): build the target experiments") from None
        found, section = [], ''
        for line in text.splitlines():
            if line and not line.startswith(' '):
                section = line.split(':')[0]
            row = re.match(r' {2,4}(?:\d+ )?((?:opencl|cuda|cpu)[:.\d]*) +(\S.*)$', line)
            if row and section.startswith(('Members', 'Left out')):
                found.append((row[1], row[2], section.startswith('Members')))
        return found


def member_sets(members, with_vendors):
    """The sets of members that are measured unless others are asked for: each alone, GPUs in twos and fours, all that
    Tesela uses by itself, and these with the vendor's OpenCL that would have the processors (with_vendors: members as
    they are with TESELA_CPU=opencl)."""
    used = [m for m, _, default in members if default]
    more = used + [m for m, _, default in with_vendors if default and m not in used]
    gpus = [m for m in used if m.startswith('cuda')]
    alone = [[m] for m in more if not m.startswith('cuda')]
    sets = [gpus[:n] for n in (1, 2, 4) if n <= len(gpus)] + alone + [used, more]
    return list(dict.fromkeys(','.join(s) for s in sets if s))
