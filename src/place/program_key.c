#include "place/program_key.h"

#include "base/bytes.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define LONGEST 4096

/* The first argument behind the program's own name; its length, 0: there is none. */
static size_t first_argument(char *text, size_t size)
{
    int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t n = file < 0 ? 0 : read(file, text, size);
    size_t begin, end;

    if (file >= 0)
        close(file);
    if (n <= 0)
        return 0;
    begin = strnlen(text, (size_t)n) + 1;
    if (begin >= (size_t)n)
        return 0;
    end = begin + strnlen(text + begin, (size_t)n - begin);
    memmove(text, text + begin, end - begin);
    return end - begin;
}

uint64_t tsl_program_key(void)
{
    char path[LONGEST], argument[LONGEST];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path));
    const uint64_t sums[] = {tsl_bytes_sum("program", 7), tsl_bytes_sum(path, n > 0 ? (size_t)n : 0),
                             tsl_bytes_sum(argument, first_argument(argument, sizeof(argument)))};

    return tsl_bytes_sum(sums, sizeof(sums));
}
