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


def count(source):
    """[{program, form, lines, tokens, complexity, halstead}] of all programs of the folder `source` that exist in more than
    one form, or None where lizard isn't installed."""
    try:
        import lizard  # pylint: disable=import-outside-toplevel
    except ImportError:
        return None
    rows = []
    by_hand = sorted({p.stem for folder in ('asynchronous', 'cut') for p in (source / folder).glob('*.c')})
    for program in by_hand:
        for form, folder in FOLDERS.items():
            path = pathlib.Path(source, folder, f'{program}.c')
            if not path.exists():
                continue
            counted = lizard.analyze_file(str(path))
            rows.append({'program': program, 'form': form, 'lines': counted.nloc, 'tokens': counted.token_count,
                         'complexity': sum(f.cyclomatic_complexity for f in counted.function_list),
                         'halstead': halstead(path.read_text())})
    return rows


def text(rows):
    head = f"{'program':20} {'form':20} {'lines':>6} {'tokens':>7} {'complexity':>11} {'Halstead':>12}"
    return '\n'.join([head] + [f"{r['program']:20} {r['form']:20} {r['lines']:>6} {r['tokens']:>7} {r['complexity']:>11} "
                               f"{r['halstead']:>12,}" for r in rows]) + '\n'
