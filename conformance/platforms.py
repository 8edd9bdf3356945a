"""The columns of the table: a vendor's own OpenCL, Tesela over it, and Tesela over several vendors at once."""
import json
import os
import pathlib
import subprocess
import tempfile


class Problem(Exception):
    """A sentence for the user."""


class Column:
    """A platform to run on: its name, what the environment must say so that programs see it alone, and, of Tesela, the
    names of the columns that it is compared with: what passes on each of them must pass."""

    def __init__(self, name, environment, natives=()):
        self.name = name
        self.environment = environment
        self.natives = natives

    def environ(self):
        clean = {k: v for k, v in os.environ.items() if not k.startswith(('OCL_ICD', 'OPENCL_LAYERS'))}
        return clean | self.environment


def vendor_folder(build, vendor):
    """A folder with the .icd files of one vendor, or of several joined by +."""
    if pathlib.Path(vendor).is_dir():
        return pathlib.Path(vendor).resolve()
    for name in ('-'.join(['vendors', *vendor.split('+')]), f'vendors-{vendor}'):
        if (build / name).is_dir() and any((build / name).iterdir()):
            return (build / name).resolve()
    return joined_folder(build, vendor.split('+'))


def joined_folder(build, vendors):
    folder = pathlib.Path(tempfile.mkdtemp(prefix='tesela-vendors-'))
    for vendor in vendors:
        icds = list((build / f'vendors-{vendor}').glob('*.icd'))
        if not icds:
            raise Problem(f"no .icd file of '{vendor}' in {build}: install the vendor and build Tesela again, "
                          'or name a folder with its .icd file')
        for icd in icds:
            (folder / icd.name).write_text(icd.read_text())
    return folder


def vendors_of(build, vendors):
    """Each vendor of a folder, or of names joined by +, by itself: (name, folder)."""
    if not pathlib.Path(vendors).is_dir():
        return [(name, vendor_folder(build, name)) for name in vendors.split('+')]
    found = []
    for icd in sorted(pathlib.Path(vendors).glob('*.icd')):
        alone = pathlib.Path(tempfile.mkdtemp(prefix='tesela-vendors-'))
        (alone / icd.name).write_text(icd.read_text())
        found.append((icd.stem, alone))
    return found


def tesela_environment(build, folder):
    icd = build / 'icd'
    if not (icd / 'tesela.icd').exists():
        raise Problem(f'{icd}/tesela.icd is missing: build Tesela first, or name its build with --build')
    return {'OCL_ICD_VENDORS': str(icd.resolve()), 'TESELA_VENDORS': str(folder)}


def require_several(options, environment):
    """In turns on one member would be a column that says nothing."""
    told = subprocess.run([options.build / 'tesela', 'info', '--json'], env=os.environ | environment, text=True,
                          stdout=subprocess.PIPE, check=False).stdout
    try:
        members = [m['path'] for m in json.loads(told)['members']]
    except (ValueError, KeyError):
        members = []
    if len(members) < 2:
        raise Problem(f'--mixed {options.mixed} has {len(members)} member(s), and needs two: see {options.build}/tesela info')


def columns(options):
    if options.cpu:
        nothing = tempfile.mkdtemp(prefix='tesela-vendors-')
        alone = tesela_environment(options.build, nothing) | {'TESELA_MEMBERS': 'cpu'}
        return [Column('the built-in CPU', alone)]
    folder = vendor_folder(options.build, options.native)
    label = pathlib.Path(options.native).name
    native = Column(f'native {label}', {'OCL_ICD_VENDORS': str(folder)})
    found = [native, Column(f'Tesela on {label}', tesela_environment(options.build, folder), (native.name,))]
    return found + mixed_columns(options, native) if options.mixed else found


def mixed_columns(options, native):
    """Tesela on all vendors of --mixed, and before it each of these by itself, where that isn't there yet."""
    alone = [Column(f'native {name}', {'OCL_ICD_VENDORS': str(folder)})
             for name, folder in vendors_of(options.build, options.mixed) if f'native {name}' != native.name]
    mixed = tesela_environment(options.build, vendor_folder(options.build, options.mixed))
    mixed['TESELA_POLICY'] = 'round-robin'
    # Named, as else several paths to one processor would be one member.
    mixed['TESELA_MEMBERS'] = os.environ.get('TESELA_MEMBERS', 'opencl')
    mixed['POCL_DEVICES'] = os.environ.get('POCL_DEVICES', 'basic pthread')
    require_several(options, mixed)
    return [*alone, Column(f'Tesela on {pathlib.Path(options.mixed).name}, in turns', mixed,
                           (native.name, *(c.name for c in alone)))]
