"""Runs the tests that have no result yet, several at once, with a progress line."""
import concurrent.futures
import sys
import time

import results


class Progress:
    """Progress: one line on a terminal, else a line for each percent."""

    def __init__(self, total):
        self.total, self.done, self.bad, self.start = total, 0, 0, time.monotonic()
        self.terminal = sys.stdout.isatty()
        self.told = -1

    def step(self, column, test, result):
        self.done += 1
        self.bad += result.state in (results.FAIL, results.CRASH, results.TIMEOUT)
        left = (time.monotonic() - self.start) / self.done * (self.total - self.done)
        line = (f'{self.done}/{self.total}  {self.bad} not passed  about {int(left) // 60} min {int(left) % 60} s left  '
                f'{column}: {test.suite} {test.name} {result.state}')
        if self.terminal:
            print(f'\r\033[K{line[:150]}', end='', flush=True)
        elif self.done * 100 // self.total != self.told:
            self.told = self.done * 100 // self.total
            print(line, flush=True)

    def end(self):
        if self.terminal and self.done:
            print()


def work(column, test, seconds):
    try:
        return test.run(column, seconds)
    except OSError as error:
        return results.Result(results.CRASH, 0, str(error))


def again_alone(options, book, column, test):
    """Repeats a test that failed only on Tesela, perhaps for lack of time beside others, by itself and with more time."""
    if book.loses(column.name, test.key):
        book.add(column.name, test, work(column, test, options.seconds * 2))


def run(options, columns, tests, book):
    # Each test runs on all columns before the next one, so that the results of a stopped run can be compared.
    todo = [(c, t) for t in tests for c in columns if not book.get(c.name, t.key)]
    if not todo:
        return
    print(f'{len(todo)} to run ({len(tests)} sub-tests on {len(columns)} platforms), {options.jobs} at once, '
          f'at most {options.seconds} s each')
    progress = Progress(len(todo))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        futures = {pool.submit(work, c, t, options.seconds): (c, t) for c, t in todo}
        try:
            for future in concurrent.futures.as_completed(futures):
                column, test = futures[future]
                result = future.result()
                book.add(column.name, test, result)
                progress.step(column.name, test, result)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            results.stop()
            raise
    progress.end()
    for column, test in todo:
        again_alone(options, book, column, test)
