"""Results as text: one block for each experiment and series, and what follows from them."""


# How tables name the kinds of forms; Tesela's and SOCL's labels name themselves.
KINDS = {'native': 'native: ', 'asynchronous': 'overlapped by hand: ', 'cut': 'cut by hand: ', 'socl': '', 'tesela': ''}


def name_of(record):
    return KINDS[record['kind']] + record['label']


def seconds(value):
    if value is None:
        return '-'
    return f'{value * 1e3:.3f} ms' if value < 0.1 else f'{value:.3f} s'


def ratio(value, base):
    return f'{value / base:.2f}' if value and base else '-'


def cuts(record):
    """How many launches of a process were cut, and how; the mean of its processes."""
    if not record['cuts']:
        return ''
    ways = list(dict.fromkeys(how for c in record['cuts'] for how in c))
    means = {how: round(sum(c.get(how, 0) for c in record['cuts']) / len(record['cuts'])) for how in ways}
    return ', '.join(f'{n} {how}' for how, n in means.items() if n) or 'not asked'


def busiest(record):
    """The unit that was busy longest, and for which share of the time; '' where that wasn't measured."""
    units = record['meters'].get('units', [])
    most = max(units, key=lambda u: u['busy'], default=None)
    return f"{most['unit']} {100 * most['busy']:.1f} %" if most else ''


def notes(record):
    """What the table says behind the times."""
    return '; busiest: '.join(filter(None, (cuts(record), busiest(record))))


def grouped(records):
    """{(experiment, series, value): records}, in order."""
    groups = {}
    for record in records:
        groups.setdefault((record['experiment'], record['series'], record['value']), []).append(record)
    return groups


def least(records, *kinds, **wanted):
    """The record of one of the kinds with the least time, among those that are right."""
    right = [r for r in records if r['kind'] in kinds and r['state'] == 'right' and r['seconds'] and
             all(r[k] == v for k, v in wanted.items())]
    return min(right, key=lambda r: r['seconds'], default=None)


def is_alone(record):
    """Is its set of members one device? A set without a comma may be several: cuda."""
    return record['kind'] == 'tesela' and bool(record['device'])


def over(a, b):
    return a['seconds'] / b['seconds'] if a and b else None


def same_device(tesela, others):
    """Tesela with one member over a form on the same device by another way: the fastest device of those that have both."""
    best = None
    for other in others:
        alone = least([r for r in tesela if is_alone(r) and r['device'] == other['device']], 'tesela', order='async')
        if alone and other['state'] == 'right' and other['seconds'] and (not best or other['seconds'] < best[1]['seconds']):
            best = alone, other
    return over(*best) if best else None


def comparisons(records):
    """What the papers compare, for each size: a list of rows of named ratios; None where a form isn't there."""
    rows = []
    for (experiment, series, value), group in grouped(records).items():
        tesela = [r for r in group if r['kind'] == 'tesela']
        best = least(group, 'tesela', order='async')
        best_sync = least([r for r in tesela if best and r['members'] == best['members']], 'tesela', order='sync')
        several = least([r for r in tesela if not is_alone(r)], 'tesela', order='async')
        alone = least([r for r in tesela if is_alone(r)] + [r for r in group if r['kind'] == 'native'], 'tesela', 'native')
        rows.append({'experiment': experiment, 'series': series, 'value': value,
                     'async / sync': over(best, best_sync),
                     'one / native': same_device(tesela, [r for r in group if r['kind'] == 'native']),
                     'one / overlapped by hand': same_device(tesela, [r for r in group if r['kind'] == 'asynchronous']),
                     'several / best alone': over(several, alone),
                     'best / cut by hand': over(best, least(group, 'cut')),
                     'best / SOCL': over(best, least(group, 'socl'))})
    return rows


# What the columns compare.
RATIOS = """Ratios of times; less than 1: the first is faster.
  async / sync: the best set of members, against TESELA_ORDER=sync on it.
  one / native, one / overlapped by hand: Tesela with one member against the vendor's own OpenCL on the same device.
  several / best alone: the best set of several members against the best device alone, on Tesela or natively.
  best / cut by hand, best / SOCL: the best set of members against the best form by hand, and SOCL.
"""


def text(records):
    lines = []
    for (experiment, series, value), group in grouped(records).items():
        base = least(group, 'native') or least(group, 'tesela')
        lines.append(f"\n{experiment}, {series}: {group[0]['varied']} {value}")
        lines.append(f"  {'':52} {'mean':>11} {'spread':>11} {'processor':>11} {'first':>11} {'ratio':>6}  n-dropped  launches cut")
        for r in group:
            if r['state'] != 'right':
                lines.append(f"  {name_of(r)[:52]:52} {r['state']}: {r['words']}")
                continue
            lines.append(f"  {name_of(r)[:52]:52} {seconds(r['seconds']):>11} {seconds(r['deviation']):>11} "
                         f"{seconds(r['processor_seconds']):>11} {seconds(r['first_seconds']):>11} {ratio(r['seconds'], base and base['seconds']):>6}  "
                         f"{r['n']:>2}-{r['n_dropped']:<6}  {notes(r)}".rstrip())
    lines.append('\n' + RATIOS)
    rows = comparisons(records)
    names = list(rows[0])[3:] if rows else []
    lines.append(f"{'':44} " + ' '.join(f'{n:>24}' for n in names))
    for row in rows:
        what = f"{row['experiment']}, {row['series']} {row['value']}"
        lines.append(f'{what[:44]:44} ' + ' '.join(f"{'-' if row[n] is None else format(row[n], '.3f'):>24}" for n in names))
    return '\n'.join(lines) + '\n'
