"""One picture of all experiments: a row for each size, a dot for each way, by its time against the vendor's own OpenCL."""
import html
import math

from measuring import tables

WIDTH, LEFT, RIGHT, STEP, TOP, BOTTOM = 780, 250, 20, 22, 30, 56
INK, LINE = '#7a828c', '#c4c9d0'  # seen on light and dark grounds
# (what the legend says, colour, how the record is found among those of a size)
WAYS = (
    ('overlapped by hand', '#d98e2b', lambda group: tables.least(group, 'asynchronous')),
    ('best cut by hand', '#3f9b4f', lambda group: tables.least(group, 'cut')),
    ('Tesela, best device alone', '#7db4ea', lambda group: tables.least(filter_alone(group, True), 'tesela', order='async')),
    ('Tesela, best of several', '#1f5fb0', lambda group: tables.least(filter_alone(group, False), 'tesela', order='async')),
)


def filter_alone(group, alone):
    return [r for r in group if r['kind'] == 'tesela' and tables.is_alone(r) == alone]


def rows(records):
    """[(name, [ratio or None for each way])] of the sizes that have a native time."""
    found = []
    for (experiment, series, value), group in tables.grouped(records).items():
        native = tables.least(group, 'native')
        if native:
            name = f'{experiment}, {value}' if series in ('sizes', 'blocks', 'pictures') else f'{experiment}, {series} {value}'
            found.append((name, [tables.over(find(group), native) for _, _, find in WAYS]))
    return found


def position(ratio, low, high):
    share = (math.log(ratio) - math.log(low)) / (math.log(high) - math.log(low))
    return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)


NAMESPACE = ' xmlns="http://www.w3.org/2000/svg"'  # a document of its own needs it, a part of a page doesn't


def picture(records):
    """An SVG document; '' where nothing ran natively."""
    found = rows(records)
    ratios = [r for _, of in found for r in of if r]
    if not ratios:
        return ''
    low, high = min([0.5, *ratios]) / 1.1, max([1, *ratios]) * 1.15
    bottom = TOP + STEP * len(found)
    height = bottom + BOTTOM
    parts = []
    for mark in (m for m in (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 5, 10) if low <= m <= high):
        x = position(mark, low, high)
        parts.append(f'<line x1="{x}" x2="{x}" y1="{TOP - 8}" y2="{bottom}" stroke="{INK if mark == 1 else LINE}"/>'
                     f'<text x="{x}" y="{TOP - 14}" text-anchor="middle">{mark:g}</text>')
    for i, (name, of) in enumerate(found):
        y = TOP + STEP * i + 10
        parts.append(f'<text x="{LEFT - 12}" y="{y + 4}" text-anchor="end">{html.escape(name)}</text>')
        parts += [f'<circle cx="{position(ratio, low, high)}" cy="{y}" r="5.5" fill="{paint}"><title>{html.escape(name)}: {what}, '
                  f'{ratio:.2f}</title></circle>' for (what, paint, _), ratio in zip(WAYS, of) if ratio]
    for i, (what, paint, _) in enumerate(WAYS):
        x = 14 + i * (WIDTH - 20) // len(WAYS)
        parts.append(f'<circle cx="{x}" cy="{height - 14}" r="5.5" fill="{paint}"/><text x="{x + 10}" y="{height - 10}">{what}</text>')
    parts.append(f'<text x="{LEFT}" y="{height - 34}">time against the vendor\'s own OpenCL on one device (logarithmic; left is faster)</text>')
    return (f'<svg{NAMESPACE} role="img" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}">'
            f'<style>text {{ fill: {INK}; font: 12px system-ui, sans-serif }}</style>{"".join(parts)}</svg>')
