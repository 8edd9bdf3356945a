"""The table as an HTML page, as Markdown for the docs, as JSON, and as a summary."""
import collections
import html
import json

KINDS = ('same', 'expected', 'gained', 'differs', 'lost')
STYLE = """
body { font: 15px system-ui, sans-serif; margin: 2em auto; max-width: 70em; color: #222 }
table { border-collapse: collapse; margin: 1em 0 } td, th { padding: .2em .8em; text-align: left }
tr:nth-child(even) { background: #f6f6f6 } th { border-bottom: 2px solid #888 }
.pass { color: #17762a } .fail, .crash, .timeout { color: #b3261e } .skip { color: #777 }
.lost td, .differs td { background: #ffe3e0 } .gained td { background: #e2f5e5 } .expected td { background: #fff6d8 }
pre { margin: 0; max-height: 12em; overflow: auto; background: #fafafa; font-size: 12px }
"""


def by_suite(table):
    """For each (suite, column): the numbers of tests that passed natively and on Tesela, and of each kind."""
    counts = collections.OrderedDict()
    for row in table.rows:
        c = counts.setdefault((row.suite, row.on), collections.Counter())
        c['all'] += 1
        c['native'] += row.native == 'pass'
        c['ours'] += row.state == 'pass'
        c[row.kind] += 1
    return counts


def origins(table):
    """What the results were obtained on: a line for each platform with each driver and each build of Tesela."""
    return ['; '.join(filter(None, (f'{on}: {count} results, {devices}', tesela, when)))
            for on, devices, tesela, count, when in table.of()]


WAYS = ('exactly', 'domain', 'merge', 'reduce')


def launches(table):
    """For each (suite, column) that tells it: launches that were cut, by rung, and why others ran whole."""
    sums = collections.OrderedDict()
    for row in table.rows:
        if row.launches:
            sums.setdefault((row.suite, row.on), collections.Counter()).update(row.launches)
    for (suite, on), n in sums.items():
        yield suite, on, sum(n.values()), [n[way] for way in WAYS], ', '.join(
            f"{met} {why.removeprefix('why ')}" for why, met in n.most_common() if why.startswith('why '))


def summary(table):
    if not table.rows:
        return 'no sub-test has a result on both yet'
    lines = origins(table)
    for (suite, on), c in by_suite(table).items():
        lines.append(f"{suite:24} {on:36} {c['all']:5} sub-tests, {c['native']:5} pass natively, {c['ours']:5} here; "
                     f"lost {c['lost']}, gained {c['gained']}, differ {c['differs']}, expected {c['expected']}")
    for suite, on, n, cut, whole in launches(table):
        lines.append(f"{suite:24} {on:36} {n:5} launches, {sum(cut)} cut ({', '.join(f'{c} {w}' for c, w in zip(cut, WAYS) if c)}); "
                     f"whole: {whole or 'none'}")
    for row in table.bad():
        lines.append(f'{row.kind}: {row.on}: {row.suite} {row.test}: {row.native} natively, {row.state} here')
        if row.kind == 'lost' and row.reason:
            lines[-1] += ' (take it out of expected/: what passes natively must pass)'
        lines += [f'    {line[:200]}' for line in (row.tail or '').strip().splitlines()[-3:]]
    return '\n'.join(lines)


def markdown(table):
    lines = [*(f'- {line}' for line in origins(table)), '',
             '| suite | platform | sub-tests | pass natively | pass | lost | gained | other differences |',
             '| --- | --- | --- | --- | --- | --- | --- | --- |']
    for (suite, on), c in by_suite(table).items():
        lines.append(f"| {suite} | {on} | {c['all']} | {c['native']} | {c['ours']} | {c['lost']} | {c['gained']} | "
                     f"{c['differs'] + c['expected']} |")
    counted = list(launches(table))
    if counted:
        lines += ['', f"| suite | platform | launches | {' | '.join(WAYS)} | cut | whole |", f"| --- | --- |{' --- |' * (len(WAYS) + 3)}"]
    for suite, on, n, cut, whole in counted:
        lines.append(f"| {suite} | {on} | {n} | {' | '.join(map(str, cut))} | {100 * sum(cut) // n} % | {whole} |")
    return '\n'.join(lines) + '\n'


def page(table):
    cells = html.escape
    parts = [f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Conformance</title><style>{STYLE}</style>',
             '<h1>Conformance: native and Tesela</h1>', '<ul>', *(f'<li>{cells(line)}' for line in origins(table)), '</ul>',
             '<table><tr><th>suite<th>platform<th>sub-tests<th>pass natively<th>pass<th>lost<th>gained<th>other</tr>']
    for (suite, on), c in by_suite(table).items():
        kind = 'lost' if c['lost'] else 'differs' if c['differs'] else ''
        parts.append(f"<tr class='{kind}'><td>{cells(suite)}<td>{cells(on)}<td>{c['all']}<td>{c['native']}<td>{c['ours']}<td>{c['lost']}"
                     f"<td>{c['gained']}<td>{c['differs'] + c['expected']}</tr>")
    parts.append('</table><h2>Each sub-test</h2><table><tr><th>suite<th>sub-test<th>native<th>platform<th>result<th></tr>')
    for row in sorted(table.rows, key=lambda r: -KINDS.index(r.kind)):
        note = cells(row.reason or '')
        if row.kind in ('lost', 'differs'):
            note += f'<details><summary>what it said</summary><pre>{cells(row.tail)}</pre></details>'
        parts.append(f"<tr class='{row.kind}'><td>{cells(row.suite)}<td>{cells(row.test)}<td class='{row.native}'>{row.native}"
                     f"<td>{cells(row.on)}<td class='{row.state}'>{row.state}<td>{note}</tr>")
    return '\n'.join(parts) + '</table></html>\n'


def write(prefix, table):
    for suffix, text in (('.html', page(table)), ('.md', markdown(table)),
                         ('.json', json.dumps({'of': [dict(zip(('platform', 'devices', 'tesela', 'results', 'when'), o)) for o in table.of()],
                                              'rows': [r._asdict() for r in table.rows]}, indent=1))):
        with open(prefix + suffix, 'w', encoding='utf-8') as file:
            file.write(text)
