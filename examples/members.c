/*
 * Tells from the timeline which member of Tesela did what in a run of the Mandelbrot example, and colours each block of
 * the picture by the member that computed it.
 *
 *     members TRACE.json [PICTURE.png COLOURED.png]
 *
 * Fails if fewer than two members computed, or no two of them at the same time.
 */
#include <png.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { max_lanes = 512, max_members = 16, max_spans = 4096 };

/* A row of the timeline: its number, and the member whose kernels it shows (by the lane's name). */
struct lane {
    unsigned long tid;
    char name[256];
};

struct span {
    unsigned member;       /* index in members */
    unsigned long command; /* Tesela's number of the command: counts up in the order of the calls */
    double start, end;     /* microseconds */
};

struct member {
    char name[256];
    unsigned n_kernels;
    double busy; /* microseconds in which a kernel ran */
};

static struct lane lanes[max_lanes];
static struct member members[max_members];
static struct span spans[max_spans];
static unsigned n_lanes, n_members, n_spans, n_transfers;
static double moved; /* bytes */

static const png_byte tints[][3] = {{255, 120, 60}, {70, 150, 255}, {90, 220, 110}, {230, 90, 220}, {240, 220, 70}};

static void die(const char *what, const char *why)
{
    fprintf(stderr, "members: %s: %s\n", what, why);
    exit(1);
}

/* The text behind "key": in the line. Within a JSON string quotes are escaped, so only keys match. */
static const char *value_of(const char *line, const char *key)
{
    char pattern[64];
    const char *at;

    snprintf(pattern, sizeof pattern, "\"%s\":", key);
    at = strstr(line, pattern);
    return at ? at + strlen(pattern) : NULL;
}

static double number_of(const char *line, const char *key)
{
    const char *value = value_of(line, key);

    return value ? strtod(value, NULL) : 0;
}

/* Copies the string behind the last "key": of the line, with its escapes; a missing one is empty. */
static void string_of(const char *line, const char *key, char *out, size_t size)
{
    const char *value = value_of(line, key);
    const char *next;

    while (value && (next = value_of(value, key)))
        value = next;
    out[0] = '\0';
    if (value && *value == '"')
        snprintf(out, size, "%.*s", (int)strcspn(value + 1, "\""), value + 1);
}

static bool is(const char *line, const char *key, const char *expected)
{
    const char *value = value_of(line, key);
    size_t length = strlen(expected);

    return value && value[0] == '"' && strncmp(value + 1, expected, length) == 0 && value[1 + length] == '"';
}

static unsigned member_named(const char *name)
{
    for (unsigned i = 0; i < n_members; i++)
        if (strcmp(members[i].name, name) == 0)
            return i;
    if (n_members == max_members)
        die(name, "too many members");
    strcpy(members[n_members].name, name);
    return n_members++;
}

static const char *lane_of(unsigned long tid)
{
    for (unsigned i = 0; i < n_lanes; i++)
        if (lanes[i].tid == tid)
            return lanes[i].name;
    return "?";
}

static void take_lane(const char *line)
{
    if (n_lanes == max_lanes)
        die("the timeline", "too many lanes");
    lanes[n_lanes].tid = (unsigned long)number_of(line, "tid");
    string_of(line, "name", lanes[n_lanes].name, sizeof lanes[n_lanes].name);
    n_lanes++;
}

static void take_kernel(const char *line)
{
    struct span *span = &spans[n_spans];

    if (n_spans == max_spans)
        die("the timeline", "too many kernels");
    span->member = member_named(lane_of((unsigned long)number_of(line, "tid")));
    span->command = (unsigned long)number_of(line, "command");
    span->start = number_of(line, "ts");
    span->end = span->start + number_of(line, "dur");
    members[span->member].n_kernels++;
    n_spans++;
}

static void read_timeline(const char *path)
{
    FILE *in = fopen(path, "r");
    char *line = NULL;
    size_t capacity = 0;

    if (!in)
        die(path, "can't be read");
    while (getline(&line, &capacity, in) > 0) {
        if (is(line, "ph", "M") && is(line, "name", "thread_name"))
            take_lane(line);
        else if (is(line, "ph", "X") && is(line, "cat", "kernel") && is(line, "name", "mandelbrot"))
            take_kernel(line);
        else if (is(line, "ph", "X") && is(line, "cat", "transfer")) {
            n_transfers++;
            moved += number_of(line, "bytes");
        }
    }
    free(line);
    fclose(in);
}

static int by_command(const void *a, const void *b)
{
    const struct span *one = a, *other = b;

    return (one->command > other->command) - (one->command < other->command);
}

static int by_time(const void *a, const void *b)
{
    double one = *(const double *)a, other = *(const double *)b;

    return (one > other) - (one < other);
}

/* The members at work between two neighbouring times, one bit each. */
static unsigned working(double from, double to)
{
    unsigned set = 0;

    for (unsigned i = 0; i < n_spans; i++)
        if (spans[i].start <= from && spans[i].end >= to)
            set |= 1u << spans[i].member;
    return set;
}

/* Adds up how long each member was busy; returns for how long several were busy at once, in microseconds. */
static double measure(void)
{
    static double times[2 * max_spans];
    double shared = 0;

    for (unsigned i = 0; i < n_spans; i++) {
        times[2 * i] = spans[i].start;
        times[2 * i + 1] = spans[i].end;
    }
    qsort(times, 2 * n_spans, sizeof *times, by_time);
    for (unsigned i = 1; i < 2 * n_spans; i++) {
        unsigned set = working(times[i - 1], times[i]);

        for (unsigned m = 0; m < n_members; m++)
            if (set & 1u << m)
                members[m].busy += times[i] - times[i - 1];
        if (set & (set - 1))
            shared += times[i] - times[i - 1];
    }
    return shared;
}

static void tint(png_byte *rgb, size_t n_pixels, const png_byte *with)
{
    for (size_t i = 0; i < n_pixels; i++)
        for (unsigned c = 0; c < 3; c++)
            rgb[3 * i + c] = (png_byte)((2 * rgb[3 * i + c] + 3 * with[c]) / 5);
}

/* The kernels in the order of their commands are the blocks from top to bottom. */
static void colour_blocks(const char *from, const char *to)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    size_t block_size;
    png_byte *rgb;

    if (!png_image_begin_read_from_file(&image, from))
        die(from, image.message);
    image.format = PNG_FORMAT_RGB;
    rgb = malloc(PNG_IMAGE_SIZE(image));
    if (!rgb || !png_image_finish_read(&image, NULL, rgb, 0, NULL))
        die(from, rgb ? image.message : "not enough memory");
    block_size = (size_t)image.width * (image.height / n_spans);
    for (unsigned i = 0; i < n_spans; i++)
        tint(rgb + 3 * block_size * i, block_size, tints[spans[i].member % (sizeof tints / sizeof *tints)]);
    if (!png_image_write_to_file(&image, to, 0, rgb, 0, NULL))
        die(to, image.message);
    free(rgb);
}

static void print_members(double shared)
{
    for (unsigned i = 0; i < n_members; i++) {
        printf("%-60.60s %3u blocks, %6.0f ms:", members[i].name, members[i].n_kernels, members[i].busy / 1000);
        for (unsigned j = 0; j < n_spans; j++)
            if (spans[j].member == i)
                printf(" %u", j);
        printf("\n");
    }
    printf("%u transfers, %.1f MB; different members computed at the same time for %.0f ms\n", n_transfers, moved / 1e6,
           shared / 1000);
}

int main(int argc, char **argv)
{
    double shared;

    if (argc != 2 && argc != 4)
        die("usage", "members TRACE.json [PICTURE.png COLOURED.png]");
    read_timeline(argv[1]);
    qsort(spans, n_spans, sizeof *spans, by_command);
    shared = measure();
    print_members(shared);
    if (argc == 4 && n_spans)
        colour_blocks(argv[2], argv[3]);
    if (n_members < 2 || shared <= 0) {
        fprintf(stderr, "members: %s\n", n_members < 2 ? "fewer than two members computed" : "one after the other");
        return 1;
    }
    return 0;
}
