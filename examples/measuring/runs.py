"""One form of one experiment: how it is started, what it says, and what becomes of its times."""
import dataclasses
import json
import os
import re
import statistics
import subprocess

# "... 3 were cut exactly, 0 in a domain, 2 by merge, 0 by reduce, 1 ran whole": each number has its words.
CUT_LINE = re.compile(r'launches that might be cut: (.*)')
CUT_PART = re.compile(r'(\d+) (?:were cut |ran )?([a-z ]+)')
WHY_LINE = re.compile(r'tesela: place: info: (launches of .* run whole.*)')


@dataclasses.dataclass
class Form:
    kind: str     # native, asynchronous, cut, socl, tesela
    label: str
    command: list  # the program and the options that choose devices
    env: dict
    members: str = ''
    order: str = ''
    device: str = ''   # its name, where it is one
    given_up: str = ''  # why it runs no more


@dataclasses.dataclass
class Result:
    experiment: str
    series: str
    varied: str
    value: int
    kind: str
    label: str
    members: str
    order: str
    device: str
    options: dict
    times: list = dataclasses.field(default_factory=list)    # without the first of each process
    processor: list = dataclasses.field(default_factory=list)
    kernels: list = dataclasses.field(default_factory=list)
    first: list = dataclasses.field(default_factory=list)
    cuts: list = dataclasses.field(default_factory=list)     # of each process: {how: launches}
    why_whole: list = dataclasses.field(default_factory=list)
    meters: dict = dataclasses.field(default_factory=dict)     # what `tesela meters --json` says of one more process
    state: str = 'right'                                       # or what went wrong
    words: str = ''

    def summary(self):
        """The record for JSON and tables. The rule for outliers is the papers': times beyond the mean by more than one
        and a half times the distance between the quartiles are dropped, and the mean of the others is the result."""
        kept = without_outliers(self.times)
        record = dataclasses.asdict(self)
        record.update(n=len(self.times), n_dropped=len(self.times) - len(kept),
                      seconds=statistics.fmean(kept) if kept else None,
                      deviation=statistics.stdev(kept) if len(kept) > 1 else None,
                      median=statistics.median(self.times) if self.times else None,
                      processor_seconds=statistics.median(self.processor) if self.processor else None,
                      kernels_seconds=statistics.fmean(without_outliers(self.kernels)) if self.kernels else None,
                      first_seconds=statistics.fmean(self.first) if self.first else None)
        return record


def read_results(path):
    """(results, commands) that earlier sessions left in results.json; nothing where there is none."""
    if not path.exists():
        return [], []
    document = json.loads(path.read_text())
    fields = {f.name for f in dataclasses.fields(Result)}
    results = [Result(**{name: value for name, value in record.items() if name in fields}) for record in document['results']]
    return results, [document['about']['command']]


def without_outliers(times):
    """One far time can draw the mean so far that the rule leaves nothing: then that time goes first."""
    if len(times) < 4:
        return list(times)
    low, middle, high = statistics.quantiles(times, n=4, method='inclusive')
    mean, reach = statistics.fmean(times), 1.5 * (high - low)
    kept = [t for t in times if abs(t - mean) <= reach + 1e-9]
    if kept:
        return kept
    farthest = max(times, key=lambda t: abs(t - middle))
    rest = list(times)
    rest.remove(farthest)
    return without_outliers(rest)


def read_times(text):
    """[(repetition, seconds, processor time, seconds of kernels or None)] of a program's lines."""
    found = []
    for line in text.splitlines():
        if line.startswith('time: '):
            values = dict(word.split('=', 1) for word in line.split()[1:] if '=' in word)
            found.append((int(values['repetition']), float(values['seconds']),
                          float(values.get('processor', 0)), float(values['kernels']) if 'kernels' in values else None))
    return found


def read_cuts(text):
    """How many launches a process that ran on Tesela cut, and how: {'exactly': 3, ... 'whole': 1}; {}: it didn't ask."""
    told = CUT_LINE.search(text)
    return {how.strip(): int(n) for n, how in CUT_PART.findall(told[1])} if told else {}


def command_of(form, options, repetitions, longest):
    command = [*form.command, '--repetitions', str(repetitions), '--seconds', str(longest)]
    for name, value in options.items():
        command += [f'--{name}', str(value)]
    return command


def measure(form, result, options, tool, trace, longest, seconds):
    """Runs a form on Tesela once more with a timeline, and adds how busy each unit was to the result. Times don't count. What
    goes wrong leaves the result without."""
    try:
        subprocess.run(command_of(form, options, 3, longest), env={**form.env, 'TESELA_TRACE': trace}, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=seconds, check=True)
        told = subprocess.run([tool, 'meters', '--json', trace], text=True, capture_output=True, timeout=seconds, check=True)
        result.meters = json.loads(told.stdout)
        os.unlink(trace)
    except (OSError, subprocess.SubprocessError, ValueError):
        result.meters = {}


def run(form, result, options, repetitions, longest, seconds):
    """Runs the form's program once, with one repetition more than counts but only one after `longest` seconds, and adds what it
    says to the result."""
    command = command_of(form, options, repetitions + 1, longest)
    try:
        done = subprocess.run(command, env=form.env, text=True, capture_output=True, timeout=seconds, errors='replace')
    except subprocess.TimeoutExpired:
        result.state, result.words = 'too slow', f'took longer than {seconds} s'
        return
    except OSError as error:
        result.state, result.words = 'missing', str(error)
        return
    for repetition, total, processor, kernels in read_times(done.stdout):
        if repetition == 0:
            result.first.append(total)
            continue
        result.times.append(total)
        result.processor.append(processor)
        if kernels is not None:
            result.kernels.append(kernels)
    if form.kind == 'tesela':
        result.cuts.append(read_cuts(done.stderr))
        result.why_whole = sorted({*result.why_whole, *WHY_LINE.findall(done.stderr)})
    if 'answer: WRONG' in done.stdout:
        result.state, result.words = 'wrong', 'its answer is wrong'
    elif done.returncode or 'answer: right' not in done.stdout:
        lines = [line for line in done.stderr.splitlines() if not line.startswith('tesela: place: info:')]
        how = f'ended by signal {-done.returncode}' if done.returncode < 0 else f'ended with {done.returncode}'
        result.state, result.words = 'failed', '; '.join([how, *lines[-2:]])
