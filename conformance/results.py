"""Results: one run of a sub-test, the book of all results, the comparing table, and expected differences."""
import collections
import datetime
import fnmatch
import json
import os
import pathlib
import re
import signal
import subprocess
import threading
import time

import identity
from platforms import Problem

PASS, FAIL, SKIP, CRASH, TIMEOUT = 'pass', 'fail', 'skip', 'crash', 'timeout'


def chosen(options, name):
    """Do --tests and --without select a sub-test of this name?"""
    left_out = filter(None, options.without.split(','))
    return fnmatch.fnmatch(name, options.tests) and not any(fnmatch.fnmatch(name, glob) for glob in left_out)


class Result:
    """state: one of the above; seconds: its duration; tail: the end of its output if it didn't pass. The book adds the rest,
    which is None in old results: who: the identity (identity.py) of the platform; words: the program's arguments; at: the
    time of its end, UTC, in ISO 8601. launches: how many were cut, by rung, and ran whole, by reason, where Tesela tells it."""

    def __init__(self, state, seconds=0.0, tail='', who=None, words=None, at=None, launches=None):
        self.state, self.seconds, self.tail = state, seconds, tail
        self.who, self.words, self.at = who, words, at
        self.launches = launches or {}


CUT = re.compile(r'(\d+) (?:were )?cut (exactly)|(\d+) in a (domain)|(\d+) by (merge|reduce)')


def launches_in(text):
    """What TESELA_LOG=place:info tells at the end of each process: {'exactly': 12, 'why few-groups': 3}."""
    found = collections.Counter()
    for line in re.findall(r'launches that might be cut: (.*)', text):
        for groups in CUT.findall(line):
            number, way = filter(None, groups)
            found[way] += int(number)
    for line in re.findall(r'why launches ran whole: (.*)', text):
        for number, why in re.findall(r'(\d+) ([\w-]+)', line):
            found[f'why {why}'] += int(number)
    return dict(+found)


running = set()  # processes of call(), each in a process group of its own
stopping = threading.Event()


def kill(process):
    """Kills a process and all that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def stop():
    """Kills all running processes, so that each call() returns: this program then ends at once and leaves nothing behind."""
    stopping.set()
    for process in list(running):
        kill(process)


def call(command, environment, seconds, cwd=None):
    """Runs a program, and kills it with all that it started when the time is up. The exit status says pass or fail. The
    program has a process group of its own, but stays in this session, whose priority (/proc/self/autogroup) it shares."""
    start = time.monotonic()
    with subprocess.Popen(command, env=environment, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, process_group=0) as process:
        running.add(process)
        if stopping.is_set():
            kill(process)
        try:
            output, _ = process.communicate(timeout=seconds)
            late = False
        except subprocess.TimeoutExpired:
            late = True
            kill(process)
            output, _ = process.communicate()
        except BaseException:
            kill(process)
            raise
        finally:
            running.discard(process)
    took = time.monotonic() - start
    text = output.decode(errors='replace')
    tail, launches = text[-2000:], launches_in(text)
    if late:
        return Result(TIMEOUT, took, tail, launches=launches)
    if process.returncode < 0 or process.returncode > 128:
        return Result(CRASH, took, f'{tail}\n[status {process.returncode}]', launches=launches)
    return Result(PASS if process.returncode == 0 else FAIL, took, tail, launches=launches)


class Book:
    """All results so far, by (column, suite, test). Each new one is appended to the file with the identity of its column, so
    that files can be concatenated; the last result counts. here: the present identities by column; empty if nothing runs."""

    def __init__(self, path, columns, here):
        self.path = path
        self.here = here
        self.natives = {c.name: c.natives for c in columns}
        self.entries = {}
        text = path.read_text() if path.exists() else ''
        for number, line in enumerate(text.splitlines(), 1):
            self.read(number, line)
        self.cut_off = text and not text.endswith('\n')

    def read(self, number, line):
        try:
            e = json.loads(line)
            self.entries[e['on'], e['suite'], e['test']] = Result(e['state'], e['seconds'], e.get('tail', ''), e.get('who'),
                                                                  e.get('words'), e.get('at'), e.get('launches'))
        except (ValueError, KeyError, TypeError):
            print(f'{self.path}:{number}: not a result, left out (an earlier run was cut off here?)')

    def of(self, column):
        """The results of a column by identity: pairs of an identity, or None, and a list. The present identity comes first,
        even without results."""
        found = {json.dumps(self.here[column], sort_keys=True): []} if column in self.here else {}
        for (on, _, _), result in self.entries.items():
            if on == column:
                found.setdefault(json.dumps(result.who, sort_keys=True), []).append(result)
        return [(json.loads(who), of_it) for who, of_it in found.items()]

    def check(self, tests, other_devices):
        """Refuses results that don't belong into one table: a column of two drivers (or devices, unless these may differ),
        Tesela over another driver than it is compared with, and a test that ran with other arguments than now."""
        for column in self.here:
            for test in tests:
                done = self.get(column, test.key)
                if done and done.words not in (None, test.words):
                    raise Problem(f"{self.path} has {' '.join(test.key)} on {column}, given '{done.words}', and not "
                                  f"'{test.words}' as now: such results can't stand in one table. Name another file with --results.")
        for column in self.natives:
            known = [who for who, _ in self.of(column) if who]
            for what in (identity.drivers, identity.names)[:1 if other_devices else 2]:
                for who in known[1:]:
                    if what(who) != what(known[0]):
                        self.refuse(column, known[0], who, what == identity.names)
            for native in self.natives[column]:
                for theirs, _ in self.of(native):
                    for ours in known if theirs else []:
                        self.compare(column, ours, native, theirs)

    def refuse(self, column, one, other, devices):
        ways = ['name a new file with --results']
        if column in self.here:
            ways.append('have the old results made again with --again driver')
        if devices:
            ways.append('let them stand side by side with --other-devices')
        ways = f"{', '.join(ways[:-1])}, or {ways[-1]}" if ways[1:] else ways[0]
        raise Problem(f"{column} would be of two {'devices' if devices else 'drivers'} in {self.path}: of {identity.sentence(one)}"
                      f"{' (here)' if column in self.here else ''}, and of {identity.sentence(other)}. You can {ways}.")

    def compare(self, column, ours, native, theirs):
        """Do members have the driver of their native platform?"""
        drivers = {platform: driver for platform, _, driver in identity.drivers(theirs)}
        for platform, _, driver in identity.drivers(ours):
            if drivers.get(platform, driver) != driver:
                raise Problem(f"{self.path} can't be compared: {column} is of {platform}, driver {driver}, and {native} of driver "
                              f'{drivers[platform]}')

    def get(self, column, key):
        return self.entries.get((column, *key))

    def natively(self, column, key):
        """The native result that a column is compared with: a pass if the test passes on all of its native columns; else the
        first other result, or one that equals the column's. None if one of them has no result."""
        told = [self.get(native, key) for native in self.natives[column]]
        if not told or None in told:
            return None
        ours = self.get(column, key)
        others = [r for r in told if r.state != PASS]
        alike = [r for r in others if ours and r.state == ours.state]
        return (alike or others or told)[0]

    def loses(self, column, key):
        """Does the test fail on this column but pass natively?"""
        ours, native = self.get(column, key), self.natively(column, key)
        return bool(ours and native) and native.state == PASS != ours.state

    def add(self, column, test, result):
        result.who, result.words = self.here[column], test.words
        result.at = datetime.datetime.now(datetime.timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ')
        self.entries[(column, *test.key)] = result
        entry = {'on': column, 'suite': test.key[0], 'test': test.key[1], 'state': result.state,
                 'seconds': round(result.seconds, 2)}
        if result.state != PASS:
            entry['tail'] = result.tail
        if result.launches:
            entry['launches'] = result.launches
        entry |= {'words': result.words, 'at': result.at, 'who': result.who}
        with self.path.open('a') as file:
            file.write(('\n' if self.cut_off else '') + json.dumps(entry) + '\n')
        self.cut_off = False

    def keys(self):
        return list(dict.fromkeys((s, t) for _, s, t in self.entries))

    def forget(self, what):
        """Drops results that are to be repeated. Those of columns that aren't here stay."""
        wanted = set(filter(None, what.split(',')))
        unknown = wanted - {FAIL, CRASH, TIMEOUT, 'lost', 'older', 'unknown', 'driver', 'all'}
        if unknown:
            raise Problem(f"--again doesn't know {', '.join(sorted(unknown))}: see conformance/run --help")
        gone = [entry for entry, result in self.entries.items() if wanted & {'all', *self.traits(entry, result)}]
        for entry in gone:
            del self.entries[entry]

    def traits(self, entry, result):
        """The words of --again that match a result."""
        column, here = entry[0], self.here.get(entry[0])
        yield result.state
        if column in self.natives and self.loses(column, entry[1:]):
            yield 'lost'
        if not result.who:
            yield 'unknown'
        elif here:
            if any(what(result.who) != what(here) for what in (identity.drivers, identity.names)):
                yield 'driver'
            if result.who.get('tesela') != here.get('tesela'):
                yield 'older'


def matches(pattern, name):
    return re.fullmatch('.*'.join(map(re.escape, pattern.split('*'))), name)


class Expected:
    """Known differences: expected/*.json, lists of {"on", "suite", "test", "reason"}; "*" matches any text."""

    def __init__(self, folder):
        self.entries = []
        for path in sorted(pathlib.Path(folder).glob('*.json')):
            try:
                entries = json.loads(path.read_text())
            except ValueError as error:
                raise Problem(f'{path} is no JSON: {error}') from error
            for entry in entries:
                if not entry.get('reason'):
                    raise Problem(f'{path}: {entry} gives no reason')
                self.entries.append(entry)

    def reason(self, column, key):
        names = {'on': column, 'suite': key[0], 'test': key[1]}
        for e in self.entries:
            if all(matches(e[which], name) for which, name in names.items()):
                return e['reason']
        return None


def times(results):
    """The times of the first and the last result, or nothing."""
    found = sorted(r.at for r in results if r.at)
    return f'{found[0]} to {found[-1]}' if found else ''


Row = collections.namedtuple('Row', 'suite test native on state kind reason tail launches')


class Table:
    """Each sub-test on each of Tesela's columns beside the native ones. kind: same; lost (passes natively: never excused);
    gained; expected (differs otherwise, with a reason); differs (without one). Without native columns, the only column."""

    def __init__(self, book, expected):
        self.book, self.expected = book, expected
        compared = [c for c, natives in book.natives.items() if natives]
        if compared:
            self.rows = [self.row(c, k) for k in book.keys() for c in compared if book.get(c, k) and book.natively(c, k)]
        else:
            [alone] = book.natives
            self.rows = [self.single(alone, k) for k in book.keys() if book.get(alone, k)]

    def single(self, column, key):
        """The kind in the only column: everything but pass and skip is bad."""
        ours = self.book.get(column, key)
        reason = self.expected.reason(column, key)
        kind = 'same' if ours.state in (PASS, SKIP) else 'expected' if reason else 'differs'
        return Row(*key, '-', column, ours.state, kind, reason, ours.tail, ours.launches)

    def row(self, column, key):
        native, ours = self.book.natively(column, key), self.book.get(column, key)
        reason = self.expected.reason(column, key)
        if native.state == ours.state:
            kind = 'same'
        elif native.state == PASS:
            kind = 'lost'
        elif ours.state == PASS:
            kind = 'gained'
        else:
            kind = 'expected' if reason else 'differs'
        return Row(*key, native.state, column, ours.state, kind, reason if kind in ('expected', 'lost') else None, ours.tail,
                   ours.launches)

    def of(self):
        """What each column's results were obtained on: (column, sentence, sentence on Tesela itself, how many, when)."""
        return [(column, identity.sentence(who), identity.built(who), len(of_it), times(of_it))
                for column in self.book.natives for who, of_it in self.book.of(column) if of_it]

    def bad(self):
        return [r for r in self.rows if r.kind in ('lost', 'differs')]
