"""The identity of the OpenCL behind a column's results: asked from the column, stored with each result, and compared.

An identity is a dictionary:
  devices   list of {platform, version, device, driver}: natively all that the loader shows; of Tesela its members in their
            order, each with its path and without version
  tesela    of Tesela's columns alone: {version, commit (of the folder that it was built in, + where that was changed since;
            '' if unknown), library (digest of what was built)}
Results of before identities were kept have none.
"""
import collections
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

from platforms import Problem

WHO, WORKS = (pathlib.Path(__file__).resolve().parent / name for name in ('who.py', 'works.py'))
SOURCES = ['CMakeLists.txt', 'cmake', 'cpu_device', 'cuda_bridge', 'icd', 'include', 'src']
SECONDS = 300  # the first query of a device may compile


def told_by(command, environment):
    """The JSON that a program prints, or None."""
    try:
        told = subprocess.run(command, env=environment, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, timeout=SECONDS, check=False).stdout
        return json.loads(told)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None


def git(folder, *words):
    try:
        return subprocess.run(['git', '-C', folder, *words], text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              check=False)
    except OSError:
        return None


def configured(build, name):
    """The value of a CMake variable; '' if it has none or the build has no cache."""
    try:
        found = re.search(rf'^{name}:\w+=(.*)$', (build / 'CMakeCache.txt').read_text(), re.MULTILINE)
    except OSError:
        return ''
    return found[1] if found else ''


def commit(build):
    """The last commit that changed the build's sources. The digest tells whether the build is older."""
    source = configured(build, 'CMAKE_HOME_DIRECTORY')
    found = source and git(source, 'log', '-1', '--format=%h', '--', *SOURCES)
    if not found or found.returncode:
        return ''
    changed = git(source, 'diff', '--quiet', 'HEAD', '--', *SOURCES).returncode
    return found.stdout.strip() + ('+' if changed else '')


def library(build):
    """A digest of the library and the files beside it that it loads."""
    digest = hashlib.sha256()
    for path in [build / 'libtesela.so', build / 'libtesela-team.so', *sorted((build / 'kc').glob('*'))]:
        if path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


def require_work(column, device):
    """Checks that the member works. If it couldn't build (for lack of a header, say), the others would do all work unnoticed."""
    environment = column.environ() | {'TESELA_MEMBERS': device['path']}
    done = subprocess.run([sys.executable, '-B', WORKS], env=environment, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        raise Problem(f"{column.name}: its member {device['path']}, {device['device']}, can't run a kernel: {done.stderr.strip()[-1000:]}")


def require_library(column):
    """Checks that OpenCL's loader finds Tesela: `tesela info` uses no loader. (Python can't load a library with a sanitizer.)"""
    if configured(column.build, 'TESELA_SANITIZE'):
        return
    shown = told_by([sys.executable, '-B', WHO], column.environ()) or []
    if not any(device['platform'] == 'Tesela' for device in shown):
        raise Problem(f'{column.name}: OpenCL\'s loader shows no device of Tesela: can {column.build}/libtesela.so be loaded here?')


def of_tesela(column):
    require_library(column)
    told = told_by([column.build / 'tesela', 'info', '--json'], column.environ()) or {}
    devices = [{'path': m['path'], 'platform': m['platform'], 'device': m['device'], 'driver': m['driver_version']}
               for m in told.get('members', [])]
    if len(devices) < column.least:
        raise Problem(f'{column.name} has {len(devices)} member(s), and needs {column.least}: see {column.build}/tesela info')
    if column.least > 1:
        for device in devices:
            require_work(column, device)
    return {'devices': devices, 'tesela': {'version': told['version'], 'commit': commit(column.build),
                                           'library': library(column.build)}}


def natively(column):
    devices = told_by([sys.executable, '-B', WHO], column.environ())
    if not devices:
        raise Problem(f"{column.name} shows no device: is it installed, and does {column.environment['OCL_ICD_VENDORS']} name it?")
    return {'devices': devices}


def measure(columns):
    """The identity of each column, by its name."""
    return {c.name: of_tesela(c) if c.build else natively(c) for c in columns}


def drivers(identity):
    """The platforms with their drivers: results can be compared only if these are the same."""
    return {(d['platform'], d.get('version', ''), d['driver']) for d in identity['devices']}


def names(identity):
    return sorted(d['device'] for d in identity['devices'])


def sentence(identity):
    """A readable text, without Tesela itself."""
    if not identity:
        return 'driver not recorded'
    found = collections.OrderedDict()
    for d in identity['devices']:
        version = f", {d['version']}" if d.get('version') else ''
        found.setdefault(f"{d['platform']}{version}, driver {d['driver']}", []).append(d['device'])
    return '; '.join(f"{driver}: {', '.join(devices)}" for driver, devices in found.items())


def built(identity):
    """A readable text about Tesela itself."""
    tesela = (identity or {}).get('tesela')
    if not tesela:
        return ''
    return f"Tesela {tesela['version']}, commit {tesela['commit'] or 'unknown'}, library {tesela['library']}"
