"""What programs cost their authors: lines, tokens and cyclomatic complexity as lizard counts them, and Halstead's effort."""
import math
import pathlib
import re

FOLDERS = {'plain': '', 'overlapped by hand': 'asynchronous', 'cut by hand': 'cut'}
# Comments and spaces; strings and characters; names; numbers; operators, the long ones first.
TOKEN = re.compile(r'''(?P<skip>\s+|//[^\n]*|/\*.*?\*/|\\\n)|(?P<operand>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\d[\w.]*)'''
                   r'''|(?P<name>[A-Za-z_]\w*)|(?P<operator><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[^\w\s])''',
                   re.DOTALL)
WORDS = set('auto break case char const continue default do double else enum extern float for goto if inline int long register '
            'restrict return short signed sizeof static struct switch typedef union unsigned void volatile while bool'.split())
CLOSING = {')', ']', '}'}  # counted with what opens


def halstead(text):
    """Halstead's effort: difficulty times volume, of operators (words of C and punctuation) and operands (the rest)."""
    operators, operands = {}, {}
    for found in TOKEN.finditer(text):
        token = found.group()
        if found.lastgroup == 'skip' or token in CLOSING:
            continue
        into = operators if found.lastgroup == 'operator' or token in WORDS else operands
        into[token] = into.get(token, 0) + 1
    n_operators, n_operands = sum(operators.values()), sum(operands.values())
    if not operators or not operands:
        return 0
    volume = (n_operators + n_operands) * math.log2(len(operators) + len(operands))
    return round(len(operators) / 2 * n_operands / len(operands) * volume)


def own_headers(source, path, folder):
    """The headers of forms by hand that such a form's file includes, and those that they include."""
    found = []
    by_hand = tuple(f'{f}/' for f in FOLDERS.values() if f)
    for name in re.findall(r'^#include "([^"]+)"', path.read_text(), re.MULTILINE):
        header = source / name
        if folder and name.startswith(by_hand) and header not in found:
            found += [header, *own_headers(source, header, folder)]
    return list(dict.fromkeys(found))


def measure(lizard, paths):
    files = [lizard.analyze_file(str(path)) for path in paths]
    return {'lines': sum(f.nloc for f in files), 'tokens': sum(f.token_count for f in files),
            'complexity': sum(g.cyclomatic_complexity for f in files for g in f.function_list),
            'halstead': halstead(''.join(path.read_text() for path in paths))}


def count(source):
    """[{program, form, lines, tokens, complexity, halstead, alone}] of all programs of the folder `source` that exist in
    more than one form, or None where lizard isn't installed. What all forms share (kernels, data, checks, options) isn't
    counted; what only the forms by hand need is, for each; alone: the same without that."""
    try:
        import lizard  # pylint: disable=import-outside-toplevel
    except ImportError:
        return None
    rows = []
    by_hand = sorted({p.stem for folder in ('asynchronous', 'cut') for p in (source / folder).glob('*.c')})
    for program in by_hand:
        for form, folder in FOLDERS.items():
            path = pathlib.Path(source, folder, f'{program}.c')
            if path.exists():
                rows.append({'program': program, 'form': form, 'alone': measure(lizard, [path]),
                             **measure(lizard, [path, *own_headers(source, path, folder)])})
    return rows


def text(rows):
    head = f"{'program':20} {'form':20} {'lines':>11} {'tokens':>13} {'complexity':>11} {'Halstead':>23}"

    def both(row, name):
        whole, alone = row[name], row['alone'][name]
        return f'{whole:,}' if whole == alone else f'{whole:,} ({alone:,})'
    return '\n'.join([head] + [f"{r['program']:20} {r['form']:20} {both(r, 'lines'):>11} {both(r, 'tokens'):>13} "
                               f"{both(r, 'complexity'):>11} {both(r, 'halstead'):>23}" for r in rows] +
                     ['In brackets: without the headers that only forms by hand need.']) + '\n'
