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
    n = len(record['cuts'])
    exact, domain, whole = (round(sum(c[i] for c in record['cuts']) / n) for i in range(3))
    return f'{exact} exactly, {domain} in a domain, {whole} whole' if exact or domain or whole else 'not asked'


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
    return record['kind'] == 'tesela' and ',' not in record['members']


def comparisons(records):
    """What the papers compare, for each size: a list of rows of named ratios; None where a form isn't there."""
    rows = []
    for (experiment, series, value), group in grouped(records).items():
        tesela = [r for r in group if r['kind'] == 'tesela' and r['state'] == 'right' and r['seconds']]
        asynchronous, native, hand = least(group, 'tesela', order='async'), least(group, 'native'), least(group, 'asynchronous')
        several = least([r for r in tesela if not is_alone(r)], 'tesela', order='async')
        alone = least([r for r in tesela if is_alone(r)] + ([native] if native else []), 'tesela', 'native')
        same = [r for r in tesela if asynchronous and r['order'] == 'sync' and r['members'] == asynchronous['members']]

        def over(a, b):
            return a['seconds'] / b['seconds'] if a and b else None
        rows.append({'experiment': experiment, 'series': series, 'value': value,
                     'async / sync': over(asynchronous, same[0] if same else None),
                     'Tesela / best native': over(asynchronous, native),
                     'Tesela / overlapped by hand': over(asynchronous, hand),
                     'several / best alone': over(several, alone),
                     'Tesela / cut by hand': over(asynchronous, least(group, 'cut')),
                     'Tesela / SOCL': over(asynchronous, least(group, 'socl'))})
    return rows


def text(records):
    lines = []
    for (experiment, series, value), group in grouped(records).items():
        base = least(group, 'native') or least(group, 'tesela')
        lines.append(f"\n{experiment}, {series}: {group[0]['varied']} {value}")
        lines.append(f"  {'':52} {'mean':>11} {'spread':>11} {'first':>11} {'ratio':>6}  n-dropped  launches cut")
        for r in group:
            if r['state'] != 'right':
                lines.append(f"  {name_of(r)[:52]:52} {r['state']}: {r['words']}")
                continue
            lines.append(f"  {name_of(r)[:52]:52} {seconds(r['seconds']):>11} {seconds(r['deviation']):>11} "
                         f"{seconds(r['first_seconds']):>11} {ratio(r['seconds'], base and base['seconds']):>6}  "
                         f"{r['n']:>2}-{r['n_dropped']:<6}  {cuts(r)}".rstrip())
    lines.append('\nRatios of times (less than 1: the first is faster)')
    rows = comparisons(records)
    names = list(rows[0])[3:] if rows else []
    lines.append(f"{'':44} " + ' '.join(f'{n:>28}' for n in names))
    for row in rows:
        what = f"{row['experiment']}, {row['series']} {row['value']}"
        lines.append(f'{what[:44]:44} ' + ' '.join(f"{'-' if row[n] is None else format(row[n], '.3f'):>28}" for n in names))
    return '\n'.join(lines) + '\n'
