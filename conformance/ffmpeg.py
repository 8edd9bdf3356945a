"""ffmpeg's OpenCL filters, which use images: each must give the same as ffmpeg's filter of that name on the CPU."""
import pathlib
import shutil
import subprocess
import tempfile

import results
from platforms import Problem

WIDTH, HEIGHT, FRAMES = 320, 240, 3
BORDER = 6  # pixels at the edges, where the two read different neighbours
SHARPEN = "'0 -1 0 -1 5 -1 0 -1 0'"
BYTES = {'yuv420p': 1, 'rgba': 4}  # of a pixel, in the first plane
PLANES = {'yuv420p': 1.5, 'rgba': 1}  # the size of all planes relative to the first
BOTH = ('yuv420p', 'rgba')

# Filter, options, formats in which both implementations do the same, and the allowed difference of a value.
FILTERS = [
    ('sobel', '', BOTH, 2),
    ('prewitt', '', BOTH, 2),
    ('roberts', '', BOTH, 2),
    ('unsharp', 'lx=5:ly=5:la=1:cx=5:cy=5:ca=1', ('yuv420p',), 12),  # the CPU's computes in integers
    ('avgblur', 'sizeX=3', BOTH, 2),
    ('boxblur', 'lr=2:lp=1:cr=2:cp=1', BOTH, 2),
    ('convolution', ':'.join(f'{plane}m={SHARPEN}' for plane in range(4)), BOTH, 0),
    ('erosion', '', ('yuv420p',), 0),
    ('dilation', '', ('yuv420p',), 0),
    ('transpose', 'dir=clock', BOTH, 0),
    ('pad', 'w=400:h=300:x=40:y=30', BOTH, 0),
]
SIZES = {'transpose': (HEIGHT, WIDTH), 'pad': (400, 300)}


def command(program, before, chain, pixels, path):
    source = f'testsrc2=size={WIDTH}x{HEIGHT}:rate=5:duration=1'
    return [program, '-hide_banner', '-nostdin', '-v', 'error', *before, '-f', 'lavfi', '-i', source, '-vf', chain,
            '-frames:v', str(FRAMES), '-pix_fmt', pixels, '-f', 'rawvideo', '-y', str(path)]


class Test:
    """One filter in one format."""

    def __init__(self, program, entry, pixels):
        self.program, self.pixels = program, pixels
        self.filter, self.options, _, self.tolerance = entry
        self.suite, self.name = 'ffmpeg', f'{self.filter} {pixels}'
        self.key, self.words = (self.suite, self.name), ''

    def run(self, column, seconds):
        with tempfile.TemporaryDirectory(prefix='tesela-ffmpeg-') as scratch:
            ours, theirs = pathlib.Path(scratch) / 'opencl', pathlib.Path(scratch) / 'cpu'
            chain = f'format={self.pixels},hwupload,{self.filter}_opencl={self.options},hwdownload,format={self.pixels}'
            device = ['-init_hw_device', 'opencl=ocl:0.0', '-filter_hw_device', 'ocl']
            done = results.call(command(self.program, device, chain, self.pixels, ours), column.environ(), seconds)
            if done.state != results.PASS:
                return done
            plain = command(self.program, [], f'format={self.pixels},{self.filter}={self.options}', self.pixels, theirs)
            reference = results.call(plain, column.environ(), seconds)
            if reference.state != results.PASS:
                return results.Result(reference.state, done.seconds, f'the filter on the CPU: {reference.tail}')
            wrong = self.compare(ours.read_bytes(), theirs.read_bytes())
            return results.Result(results.FAIL, done.seconds, f'{done.tail}\n{wrong}') if wrong else done

    def compare(self, ours, theirs):
        """A sentence about the difference, or nothing. Only the inside of the first plane is compared value by value."""
        width, height = SIZES.get(self.filter, (WIDTH, HEIGHT))
        row = width * BYTES[self.pixels]
        size = int(row * height * PLANES[self.pixels]) * FRAMES
        if len(ours) != size or len(theirs) != size:
            return f'{len(ours)} bytes, and {len(theirs)} of the filter on the CPU, instead of {size}'
        for frame in range(0, len(ours), len(ours) // FRAMES):
            for y in range(BORDER, height - BORDER):
                start, end = frame + y * row + BORDER * BYTES[self.pixels], frame + (y + 1) * row - BORDER * BYTES[self.pixels]
                worst = max(abs(a - b) for a, b in zip(ours[start:end], theirs[start:end]))
                if worst > self.tolerance:
                    return f'row {y} of frame {frame * FRAMES // len(ours)} differs by {worst} of 255'
        return self.compare_all(ours, theirs)

    def compare_all(self, ours, theirs):
        """Compares all planes, edges included."""
        apart = sum(abs(a - b) > self.tolerance for a, b in zip(ours, theirs))
        return f'{apart} of {len(ours)} values differ' if apart > len(ours) // 50 else None


def tests(options):
    program = shutil.which('ffmpeg')
    if not program:
        raise Problem('ffmpeg is missing: install the Debian package ffmpeg')
    listed = subprocess.run([program, '-hide_banner', '-v', 'error', '-filters'], stdin=subprocess.DEVNULL, text=True,
                            stdout=subprocess.PIPE, check=False).stdout
    lacking = [entry[0] for entry in FILTERS if f' {entry[0]}_opencl ' not in listed]
    if lacking:
        raise Problem(f"{program} has no OpenCL filters ({', '.join(lacking)}): use one that was built with them, as Debian's is")
    found = [Test(program, entry, pixels) for entry in FILTERS for pixels in entry[2]]
    return [test for test in found if results.chosen(options, test.name)]
