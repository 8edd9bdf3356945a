"""The columns of the table: a vendor's own OpenCL, Tesela over it, and Tesela over several vendors at once."""
import atexit
import os
import pathlib
import shutil
import tempfile


class Problem(Exception):
    """A sentence for the user."""


class Column:
    """A platform to run on: its name, and the environment (None: unset) in which programs see this platform alone.
    For Tesela also its build, the names of the columns that it is compared with (what passes on each of them must pass),
    and its least number of members."""

    def __init__(self, name, environment, build=None, natives=(), least=1):
        self.name = name
        self.environment = environment
        self.build = build
        self.natives = natives
        self.least = least

    def environ(self):
        clean = {k: v for k, v in os.environ.items() if not k.startswith(('OCL_ICD', 'OPENCL_LAYERS'))}
        return {k: v for k, v in (clean | self.environment).items() if v is not None}


def new_folder():
    """A temporary folder for .icd files, deleted at exit."""
    folder = tempfile.mkdtemp(prefix='tesela-vendors-')
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return pathlib.Path(folder)


def vendor_folder(build, vendor):
    """A folder with the .icd files of one vendor, or of several joined by +."""
    if pathlib.Path(vendor).is_dir():
        return pathlib.Path(vendor).resolve()
    for name in ('-'.join(['vendors', *vendor.split('+')]), f'vendors-{vendor}'):
        if (build / name).is_dir() and any((build / name).iterdir()):
            return (build / name).resolve()
    return joined_folder(build, vendor.split('+'))


def joined_folder(build, vendors):
    folder = new_folder()
    for vendor in vendors:
        icds = list((build / f'vendors-{vendor}').glob('*.icd'))
        if not icds:
            raise Problem(f"no .icd file of '{vendor}' in {build}: install the vendor and build Tesela again, "
                          'or name a folder with its .icd file')
        for icd in icds:
            (folder / icd.name).write_text(icd.read_text())
    return folder


def vendors_of(build, vendors):
    """The vendors of a folder, or of names joined by +, one by one: (name, folder)."""
    if not pathlib.Path(vendors).is_dir():
        return [(name, vendor_folder(build, name)) for name in vendors.split('+')]
    found = []
    for icd in sorted(pathlib.Path(vendors).glob('*.icd')):
        alone = new_folder()
        (alone / icd.name).write_text(icd.read_text())
        found.append((icd.stem, alone))
    return found


def folder_of_icds(folder):
    """The folder with a slash, as every loader accepts it: without one, some (NVIDIA's, of CUDA 13) fail to find its files."""
    return f'{folder}/'


def tesela_environment(build, folder):
    """Writes a new .icd file: the build's own has the path where it was built, from which it may have been moved."""
    library = (build / 'libtesela.so').resolve()
    if not library.exists():
        raise Problem(f'{library} is missing: build Tesela first, or name its build with --build')
    icd = new_folder() / 'icd'
    icd.mkdir()
    (icd / 'tesela.icd').write_text(f'{library}\n')
    # A vendor for processors is what a column is of, not the built-in CPU in its place.
    return {'OCL_ICD_VENDORS': folder_of_icds(icd), 'TESELA_VENDORS': str(folder), 'TESELA_CPU': 'opencl'}


def cpu_column(options):
    alone = tesela_environment(options.build, new_folder()) | {'TESELA_MEMBERS': 'cpu'}
    return Column('the built-in CPU', alone, options.build)


def columns(options):
    if options.cpu:
        return [cpu_column(options)]
    if options.split:
        return cut_columns(options)
    folder = vendor_folder(options.build, options.native)
    label = pathlib.Path(options.native).name
    native = Column(f'native {label}', {'OCL_ICD_VENDORS': folder_of_icds(folder)})
    ours = tesela_environment(options.build, folder)
    if not options.mixed:
        return [native, Column(f'Tesela on {label}', ours, options.build, (native.name,))]
    # TESELA_MEMBERS is only for the column in which members work in turns.
    ours['TESELA_MEMBERS'] = None
    return [native, Column(f'Tesela on {label}', ours, options.build, (native.name,)), *mixed_columns(options, native)]


def mixed_environment(options):
    """Tesela on several members. They are set explicitly: otherwise several paths to one processor would be one member."""
    mixed = tesela_environment(options.build, vendor_folder(options.build, options.mixed))
    mixed['TESELA_MEMBERS'] = os.environ.get('TESELA_MEMBERS', 'opencl')
    mixed['POCL_DEVICES'] = os.environ.get('POCL_DEVICES', 'basic pthread')
    return mixed


def cut_columns(options):
    """Tesela on the vendors of --mixed, all launches whole, then with launches cut in each way of --split. What passes whole must pass cut."""
    mixed, label = mixed_environment(options), f'Tesela on {pathlib.Path(options.mixed).name}'
    whole = Column(f'{label}, whole', mixed | {'TESELA_SPLIT': 'off'}, options.build, least=2)
    return [whole, *(Column(f'{label}, {split}', mixed | {'TESELA_SPLIT': split, 'TESELA_LOG': 'error,place:info'}, options.build,
                            (whole.name,), least=2) for split in options.split.split(','))]


def mixed_columns(options, native):
    """Tesela on all vendors of --mixed, preceded by each of these alone if it has no column yet; likewise the built-in CPU
    if TESELA_MEMBERS names it."""
    alone = [Column(f'native {name}', {'OCL_ICD_VENDORS': folder_of_icds(folder)})
             for name, folder in vendors_of(options.build, options.mixed) if f'native {name}' != native.name]
    mixed = mixed_environment(options)
    mixed['TESELA_POLICY'] = 'round-robin'
    if 'cpu' in mixed['TESELA_MEMBERS'].split(','):
        alone.append(cpu_column(options))
    # With one member a column in turns would say nothing.
    return [*alone, Column(f'Tesela on {pathlib.Path(options.mixed).name}, in turns', mixed, options.build,
                           (native.name, *(c.name for c in alone)), least=2)]
