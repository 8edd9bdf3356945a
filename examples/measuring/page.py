"""Results as one HTML page that needs nothing else: plots as the papers have them, tables, ratios, effort."""
import html
import math

from measuring import overview, tables

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 360, 70, 16, 14, 44
# Colours by form, in shades for several of one kind; dashes for what runs one after the other.
HUES = {'native': (0, 0), 'asynchronous': (28, 85), 'cut': (130, 55), 'socl': (330, 60), 'tesela': (212, 80)}
STYLE = """
:root { color-scheme: light dark; --text: #1c1e21; --back: #fff; --line: #d5d9de; --soft: #5d6570; --bad: #b3261e }
@media (prefers-color-scheme: dark) { :root { --text: #e6e8eb; --back: #16181c; --line: #383d44; --soft: #9aa3ad; --bad: #ff8a80 } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back); margin: 2rem auto; max-width: 76rem; padding: 0 1rem }
h1, h2, h3 { line-height: 1.25 } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line) }
table { border-collapse: collapse; font-size: 13px; margin: .5rem 0 1.5rem } th, td { padding: .2rem .7rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap }
th:first-child, td:first-child, td.words { text-align: left } td.words { white-space: normal } .bad { color: var(--bad) }
.scroll { overflow-x: auto } p.soft, .soft { color: var(--soft) } .plot { display: flex; flex-wrap: wrap; gap: 1.5rem; align-items: flex-start }
svg text { fill: var(--text); font: 12px system-ui, sans-serif } svg .grid { stroke: var(--line); stroke-width: 1 } ul.legend { list-style: none; padding: 0; margin: .5rem 0; font-size: 13px }
.legend svg { vertical-align: middle; margin-right: .5rem } @media print { body { max-width: none } }
"""


def escape(value):
    return html.escape(str(value))


def colour(kind, i, n):
    hue, saturation = HUES[kind]
    return f'hsl({hue} {saturation}% {52 if n == 1 else round(38 + 34 * i / (n - 1))}%)'


def lines_of(records):
    """[(label, kind, dashed, [(value, seconds)])] of a series: one line for each form."""
    lines = {}
    for r in records:
        if r['state'] == 'right' and r['seconds']:
            lines.setdefault((r['kind'], r['label'], r['order'] == 'sync'), []).append((r['value'], r['seconds']))
    return [(label, kind, dashed, points) for (kind, label, dashed), points in lines.items()]


def with_colours(lines):
    kinds = [kind for _, kind, _, _ in lines]
    seen = {}
    for label, kind, dashed, points in lines:
        i = seen[kind] = seen.get(kind, -1) + 1
        yield label, kind, dashed, points, colour(kind, i, kinds.count(kind))


def marks(low, high):
    """Marks of a logarithmic axis: 1, 2 and 5 times the powers of ten, or powers alone where those are many."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if len(decades) <= 3 else (1,)
    return [s * 10.0 ** d for d in decades for s in steps if low <= s * 10.0 ** d <= high]


class Scale:
    """A logarithmic axis."""

    def __init__(self, values, begin, end):
        self.low, self.high = min(values) / 1.15, max(values) * 1.15
        self.begin, self.end = begin, end

    def __call__(self, value):
        share = (math.log(value) - math.log(self.low)) / (math.log(self.high) - math.log(self.low))
        return round(self.begin + share * (self.end - self.begin), 1)


def axes(x, y, values, what):
    parts = []
    for mark in marks(y.low, y.high):
        at = y(mark)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at}" y2="{at}"/>'
                     f'<text x="{LEFT - 8}" y="{at + 4}" text-anchor="end">{f"{mark:g} s" if mark >= 0.1 else f"{mark * 1e3:g} ms"}</text>')
    for value in values:
        parts.append(f'<line class="grid" x1="{x(value)}" x2="{x(value)}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>'
                     f'<text x="{x(value)}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{value}</text>')
    parts.append(f'<text x="{(WIDTH + LEFT) / 2}" y="{HEIGHT - 6}" text-anchor="middle">{escape(what)}</text>')
    return ''.join(parts)


def line_plot(lines, what):
    values = sorted({v for _, _, _, points, _ in lines for v, _ in points})
    x = Scale(values, LEFT, WIDTH - RIGHT)
    y = Scale([s for _, _, _, points, _ in lines for _, s in points], HEIGHT - BOTTOM, TOP)
    parts = [axes(x, y, values, what)]
    for label, _, dashed, points, paint in lines:
        path = ' '.join(f'{x(v)},{y(s)}' for v, s in sorted(points))
        parts.append(f'<polyline points="{path}" fill="none" stroke="{paint}" stroke-width="2"'
                     f'{" stroke-dasharray=&quot;5 4&quot;" if dashed else ""}/>'.replace('&quot;', '"'))
        parts += [f'<circle cx="{x(v)}" cy="{y(s)}" r="3.5" fill="{paint}"><title>{escape(label)}: {v}, {tables.seconds(s)}'
                  '</title></circle>' for v, s in points]
    return f'<svg role="img" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}">{"".join(parts)}</svg>'


def bar_plot(lines):
    most = max(points[0][1] for _, _, _, points, _ in lines)
    parts, step = [], 24
    for i, (label, kind, dashed, points, paint) in enumerate(lines):
        size = max(1, round(300 * points[0][1] / most))
        parts.append(f'<text x="290" y="{i * step + 16}" text-anchor="end">{escape((tables.KINDS[kind] + label)[:48])}</text>'
                     f'<rect x="298" y="{i * step + 4}" width="{size}" height="16" fill="{paint}"'
                     f'{" fill-opacity=&quot;.55&quot;" if dashed else ""}/>'.replace('&quot;', '"') +
                     f'<text x="{304 + size}" y="{i * step + 16}">{tables.seconds(points[0][1])}</text>')
    height = step * len(lines) + 8
    return f'<svg role="img" width="700" height="{height}" viewBox="0 0 700 {height}">{"".join(parts)}</svg>'


def plot(records):
    lines = list(with_colours(lines_of(records)))
    if not lines:
        return ''
    if len({r['value'] for r in records}) == 1:
        return bar_plot(lines)
    legend = ''.join(f'<li><svg width="26" height="10"><line x1="0" x2="26" y1="5" y2="5" stroke="{paint}" stroke-width="3"'
                     f'{" stroke-dasharray=" + chr(34) + "5 4" + chr(34) if dashed else ""}/></svg>'
                     f'{escape(tables.KINDS[kind] + label)}</li>' for label, kind, dashed, _, paint in lines)
    return f'<div class="plot">{line_plot(lines, records[0]["varied"])}<ul class="legend">{legend}</ul></div>'


def table(head, rows):
    cells = ''.join(f'<th>{escape(h)}</th>' for h in head)
    return f'<div class="scroll"><table><tr>{cells}</tr>{"".join("<tr>" + r + "</tr>" for r in rows)}</table></div>'


def result_row(r):
    if r['state'] != 'right':
        return (f'<td>{escape(tables.name_of(r))}</td><td>{r["value"]}</td>'
                f'<td class="bad words" colspan="8">{escape(r["state"])}: {escape(r["words"])}</td>')
    words = '; '.join(r['why_whole'])
    return (f'<td>{escape(tables.name_of(r))}</td><td>{r["value"]}</td><td>{tables.seconds(r["seconds"])}</td>'
            f'<td>{tables.seconds(r["deviation"])}</td><td>{tables.seconds(r["processor_seconds"])}</td><td>{tables.seconds(r["kernels_seconds"])}</td>'
            f'<td>{tables.seconds(r["first_seconds"])}</td><td>{r["n"]} - {r["n_dropped"]}</td>'
            f'<td class="words" title="{escape(words)}">{escape(tables.cuts(r))}</td><td class="words">{escape(tables.busiest(r))}</td>')


def experiment_section(experiment, records):
    parts = [f'<h2 id="{experiment.program}">{escape(experiment.title)}</h2><p class="soft">{escape(experiment.about)}</p>']
    for series in dict.fromkeys(r['series'] for r in records):
        mine = [r for r in records if r['series'] == series]
        fixed = ', '.join(f'{k} {v}' for k, v in mine[0]['options'].items() if k != mine[0]['varied'])
        parts.append(f'<h3>{escape(series)}{": " + escape(fixed) if fixed else ""}</h3>{plot(mine)}')
        parts.append(table(['form', mine[0]['varied'], 'mean', 'spread', 'processor', 'kernels', 'first', 'times - dropped', 'launches cut', 'busiest unit'],
                           [result_row(r) for r in mine]))
        reasons = dict.fromkeys(w for r in mine for w in r['why_whole'])
        if reasons:
            parts.append('<p class="soft">' + '<br>'.join(escape(w) for w in reasons) + '</p>')
    return ''.join(parts)


def ratio_table(records):
    rows = tables.comparisons(records)
    if not rows:
        return ''
    names = list(rows[0])[3:]
    return table(['experiment', *names], [
        f'<td><a href="#{row["experiment"]}">{escape(row["experiment"])}</a>, {escape(row["series"])} {row["value"]}</td>' +
        ''.join(f'<td>{"-" if row[n] is None else format(row[n], ".3f")}</td>' for n in names) for row in rows])


def effort_table(effort):
    if not effort:
        return ''
    names = ('lines', 'tokens', 'complexity', 'halstead')
    head = ['program', 'form', 'lines', 'tokens', 'cyclomatic complexity', "Halstead's effort"]
    rows = [f'<td>{escape(e["program"])}</td><td>{escape(e["form"])}</td>' +
            ''.join(f'<td>{e[n]:,}' + ('' if e[n] == e['alone'][n] else f' ({e["alone"][n]:,})') + '</td>' for n in names)
            for e in effort]
    return ('<h2>Effort</h2><p class="soft">Kernels, data, checks and options, which all forms share, are not counted; the '
            'headers that only forms by hand need are, for each (in brackets: without them). The plain program is all that its '
            f'author writes for Tesela.</p>{table(head, rows)}')


def page(about, experiments, records, effort, drawn=''):
    sections = ''.join(experiment_section(e, [r for r in records if r['experiment'] == e.program])
                       for e in experiments if any(r['experiment'] == e.program for r in records))
    facts = table(['', ''], [f'<td>{escape(k)}</td><td class="words">{escape(v)}</td>' for k, v in about.items()])
    return ('<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
            f'<title>Experiments</title><style>{STYLE}</style><h1>Experiments</h1>{facts}'
            '<p>Each time is the mean of several, without those beyond the mean by more than one and a half times the distance '
            'between the quartiles. The first time of each process stands apart: it builds, allocates and learns.</p>'
            f'{drawn.replace(overview.NAMESPACE, "")}<h2>Ratios of times</h2><p class="soft">{escape(tables.RATIOS).strip().replace(chr(10), "<br>")}</p>{ratio_table(records)}'
            f'{sections}{effort_table(effort)}</html>\n')
