"""Which experiments there are, with which sizes, and in which forms each exists."""
import dataclasses

PRESETS = ('tiny', 'small', 'short', 'paper')


@dataclasses.dataclass(frozen=True)
class Series:
    """One plot: an option of the program is varied, others stay."""
    name: str
    varied: str
    tiny: tuple      # of values, and of a dict of the other options
    small: tuple
    paper: tuple
    short: tuple = ()  # those of the papers' values that are enough where time is short

    def values(self, preset):
        return self.short if preset == 'short' else getattr(self, preset)[0]

    def fixed(self, preset):
        return getattr(self, 'paper' if preset == 'short' else preset)[1]


@dataclasses.dataclass(frozen=True)
class Experiment:
    program: str
    title: str
    about: str
    series: tuple
    asynchronous: bool = False  # there is a form that is overlapped by hand
    cut: str = ''               # how it is cut by hand: "blocks" (block and cyclic), "weights", or not at all

    def named(self, words):
        return not words or self.program in words


EXPERIMENTS = (
    Experiment('hotspot', 'Hotspot', 'heat over a grid, four steps a launch, each result copied away on the host', (
        Series('sizes', 'size', ([64], {'iterations': 9}), ([200, 400, 800], {'iterations': 60}),
               ([1000, 2500, 5000, 10000, 15000], {'iterations': 300}), (1000, 5000, 10000)),
        Series('iterations', 'iterations', ([], {}), ([20, 40, 80], {'size': 300}),
               ([100, 200, 300, 400, 500, 600], {'size': 2500}))), asynchronous=True),
    Experiment('matrix_pow', 'Matrix Pow', 'powers of a matrix, each normalised on the host', (
        Series('sizes', 'size', ([64], {'iterations': 3}), ([128, 256, 512], {'iterations': 10}),
               ([1024, 2048, 4096, 8192], {'iterations': 40}), (1024, 4096, 8192)),
        Series('iterations', 'iterations', ([], {}), ([5, 10, 20], {'size': 256}),
               ([20, 40, 60, 80, 100, 120], {'size': 2048}))), asynchronous=True),
    Experiment('sobel', 'Sobel', 'edges in frames of three planes; from and to files and memory', tuple(
        Series(mode, 'frames', ([3], {'width': 64, 'height': 32, 'mode': mode}),
               ([10, 20], {'width': 960, 'height': 540, 'mode': mode}),
               ([20, 40, 60, 80, 100], {'width': 1920, 'height': 1080, 'mode': mode}), (20, 100))
        for mode in ('FTF', 'FTM', 'MTF', 'MTM')), asynchronous=True),
    Experiment('chain', 'Chain of products', 'four products after one another, generation and norm, many times', (
        Series('sizes', 'size', ([64], {'chains': 3}), ([128, 256, 512], {'chains': 8}),
               ([1024, 2048, 4096, 8192], {'chains': 16}), (1024, 2048, 8192)),), asynchronous=True, cut='blocks'),
    Experiment('mandelbrot_zoom', 'Mandelbrot zoom', 'pictures in a loop, each counted and stored on the host', (
        Series('pictures', 'pictures', ([3], {'width': 64, 'height': 48, 'limit': 100}),
               ([8, 16], {'width': 512, 'height': 384, 'limit': 1000}),
               ([32, 64, 128], {'width': 1920, 'height': 1080, 'limit': 10000}), (128,)),), asynchronous=True),
    Experiment('mandelbrot_blocks', 'Mandelbrot in blocks', 'blocks of rows of very unequal cost', (
        Series('blocks', 'blocks', ([5], {'width': 64, 'height': 80, 'limit': 100}),
               ([4, 16, 64], {'width': 512, 'height': 604, 'limit': 1000}),
               ([6, 12, 24, 48, 96, 192], {'width': 8192, 'height': 9648, 'limit': 10000}), (6, 24, 96)),
        Series('zoom', 'pictures', ([2], {'width': 64, 'height': 80, 'limit': 100, 'blocks': 5}),
               ([8], {'width': 512, 'height': 604, 'limit': 1000, 'blocks': 16}),
               ([200], {'width': 2048, 'height': 2412, 'limit': 10000, 'blocks': 24}))), cut='blocks'),
    Experiment('product_blocks', 'Product in blocks', 'a long matrix times a square one, a launch for each block of rows', (
        Series('blocks', 'blocks', ([4], {'rows': 200, 'inner': 48}), ([4, 10, 20], {'rows': 4000, 'inner': 256}),
               ([3, 6, 10, 20, 50, 100], {'rows': 100000, 'inner': 1000}), (10, 50)),), cut='blocks'),
    Experiment('matrix_addition', 'Matrix addition', 'one launch with much to move', (
        Series('sizes', 'size', ([64], {}), ([1024, 2048], {}), ([4096, 8192, 16384], {}), (16384,)),), cut='weights'),
    Experiment('product', 'Product', 'one launch', (
        Series('sizes', 'size', ([64], {}), ([256, 512], {}), ([2048, 4096, 8192, 16384], {}), (4096, 8192)),), cut='weights'),
    Experiment('black_scholes', 'Black-Scholes', 'prices of options, one launch and many', (
        Series('once', 'size', ([4096], {'launches': 1}), ([1 << 20], {'launches': 1}),
               ([1 << 22, 1 << 24, 1 << 26], {'launches': 1}), (1 << 26,)),
        Series('many times', 'size', ([4096], {'launches': 4}), ([1 << 18], {'launches': 64}),
               ([1 << 22, 1 << 24], {'launches': 2048}), (1 << 24,))), cut='weights'),
    Experiment('mandelbrot_one', 'Mandelbrot, one launch', 'points that take very long', (
        Series('sizes', 'size', ([64], {'limit': 200}), ([256, 512], {'limit': 6000}),
               ([1024, 2048, 4096], {'limit': 60000}), (2048,)),), cut='weights'),
    Experiment('jacobi', 'Jacobi', 'a plate, one launch a step', (
        Series('sizes', 'size', ([64], {'iterations': 6}), ([500, 1000], {'iterations': 50}),
               ([6000, 20000, 25000], {'iterations': 50}), (20000,)),), cut='weights'),
)
