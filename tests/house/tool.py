"""What the tests of the tool's commands share: runs of the tool, and timelines made by hand."""
import json
import os
import random
import subprocess
import sys

BUILD = sys.argv[1]
TOOL = f'{BUILD}/tesela'


def run(*words, expect=0, env=None, limit=120, **more):
    """Runs the tool and returns (standard output, standard error)."""
    done = subprocess.run([TOOL, *words], capture_output=True, text=True, timeout=limit, check=False,
                          env={**os.environ, **(env or {})}, **more)
    if done.returncode != expect:
        sys.exit(f'tesela {" ".join(words)} ended with {done.returncode}, not {expect}:\n{done.stdout}{done.stderr}')
    return done.stdout, done.stderr


def check(good, what):
    if not good:
        sys.exit(f'failed: {what}')


def says(text, *parts):
    for part in parts:
        check(part in text, f'"{part}" is missing in:\n{text}')


class Trace:
    """A timeline as TESELA_TRACE writes it. Times are in microseconds."""

    def __init__(self, program='program'):
        self.events = [{'ph': 'M', 'name': 'process_name', 'pid': 1, 'tid': 0, 'args': {'name': program}}]
        self.tids = {}

    def tid(self, lane):
        if lane not in self.tids:
            self.tids[lane] = 8 * (len(self.tids) + 1)
            self.events.append({'ph': 'M', 'name': 'thread_name', 'pid': 1, 'tid': self.tids[lane], 'args': {'name': lane}})
        return self.tids[lane]

    def span(self, lane, category, name, start, length, **args):
        tid = self.tid(lane)
        self.events.append({'ph': 'X', 'name': name, 'pid': 1, 'tid': tid, 'cat': category, 'ts': start, 'dur': length,
                            'args': args})

    def kernel(self, member, name, start, length, command, items=1000, of=None, **more):
        self.span(f'{member} device', 'kernel', name, start, length, command=command, member=member, items=items, of=of or items,
                  **{'share': 0, 'shares': 1, 'rung': 'whole', **more})

    def move(self, member, up, start, length, command, size):
        lane = f'{"to" if up else "from"} {member} device'
        self.span(lane, 'transfer', 'move', start, length, command=command, member=member, bytes=size,
                  **{'from': 'host' if up else member, 'to': member if up else 'host'})

    def command(self, name, start, length, command, **more):
        self.span('queue 1', 'command', name, start, length, command=command, queue=1, **more)

    def text(self):
        return '[\n' + ',\n'.join(json.dumps(event, separators=(',', ':')) for event in self.events) + '\n]\n'

    def write(self, path):
        with open(path, 'w', encoding='utf-8') as file:
            file.write(self.text())
        return path


def small_trace():
    """One millisecond of two members: a launch cut 3 to 1, a wait for data, a launch that stayed whole, one that failed."""
    t = Trace('small <program> & "co"')
    t.span('host', 'verdict', 'scatter', 0, 0, why='writes-unknown', sentence='argument 1 (out) is written at random')
    t.kernel('opencl:0.0', 'add', 0, 300, 1, items=750, of=1000, share=0, shares=2, rung='exact', expected_ns=250000)
    t.kernel('cpu', 'add', 0, 200, 1, items=250, of=1000, share=1, shares=2, rung='exact')
    t.move('cpu', True, 250, 100, 2, 400000)
    t.kernel('cpu', 'scatter', 400, 400, 2, why='writes-unknown')
    t.kernel('opencl:0.0', 'scatter', 900, 100, 3, why='writes-unknown', error='-5')
    t.command('add', 0, 300, 1)
    t.command('scatter', 250, 550, 2)
    t.command('scatter', 850, 150, 3, error='-5')
    return t


def large_trace(n):
    """n commands on two members: many are cut, half of them wait for data, some fail."""
    t, chance, now = Trace('large'), random.Random(1), 1e6
    for c in range(1, n + 1):
        name, start, length = f'kernel_{chance.randrange(5)}', now, chance.uniform(5, 60)
        failed = {'error': '-5'} if c % 9973 == 0 else {}
        if chance.random() < .5:
            size = chance.randrange(1 << 12, 1 << 20)
            t.move(f'opencl:0.{chance.randrange(2)}', chance.random() < .5, now, size / 5e3, c, size)
            now += size / 5e3
        if name != 'kernel_1' and chance.random() < .6:
            for share, part in ((0, .6), (1, .4)):
                t.kernel(f'opencl:0.{share}', name, now, length * part, c, items=int(part * 1e6), of=1000000, share=share, shares=2,
                         rung='exact', expected_ns=int(length * part * 950), **failed)
        else:
            t.kernel(f'opencl:0.{chance.randrange(2)}', name, now, length, c, items=1000000, why='small', **failed)
        now += length
        t.command(name, start, now - start, c, **failed)
        now += chance.uniform(0, 8)
    return t
