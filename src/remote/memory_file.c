#include "remote/memory_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

void tsl_put_memory_file(struct tsl_writer *writer, const struct tsl_memory_file *is)
{
    tsl_write_u32(writer, is->pid);
    tsl_write_u32(writer, is->file);
    tsl_write_raw(writer, is->token, sizeof(is->token));
}

void tsl_get_memory_file(struct tsl_reader *reader, struct tsl_memory_file *is)
{
    is->pid = tsl_read_u32(reader);
    is->file = tsl_read_u32(reader);
    for (unsigned i = 0; i < sizeof(is->token); i++)
        is->token[i] = tsl_read_u8(reader);
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

static bool set_up(int file, size_t size, struct tsl_memory_file *is)
{
    is->pid = (uint32_t)getpid();
    is->file = (uint32_t)file;
    return !ftruncate(file, (off_t)size) && !fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) &&
           getrandom(is->token, sizeof(is->token), 0) == sizeof(is->token);
}

void *tsl_memory_file_make(const char *name, size_t size, struct tsl_memory_file *is)
{
    int file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    void *bytes = MAP_FAILED;

    if (file >= 0 && set_up(file, size, is))
        bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (bytes == MAP_FAILED) {
        if (file >= 0)
            close(file);
        return NULL;
    }
    memcpy(bytes, is->token, sizeof(is->token));
    return bytes;
}

/* ---- Mapping ----------------------------------------------------------------------------------------------------- */

/* To open another file, which has the number elsewhere, might wait or do something: its name is looked at before. */
static int open_file(const char *name, const struct tsl_memory_file *is)
{
    char path[64], link[256] = "", wanted[256];

    snprintf(path, sizeof(path), "/proc/%u/fd/%u", is->pid, is->file);
    snprintf(wanted, sizeof(wanted), "/memfd:%s", name);
    if (readlink(path, link, sizeof(link) - 1) <= 0 || strncmp(link, wanted, strlen(wanted)) != 0)
        return -1;
    return open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

/* Nobody can make it shorter while it is mapped. */
static bool has_size(int file, size_t size)
{
    struct stat about;
    int seals = fcntl(file, F_GET_SEALS);

    return seals >= 0 && (seals & F_SEAL_SHRINK) && !fstat(file, &about) && about.st_size == (off_t)size;
}

void *tsl_memory_file_map(const char *name, size_t size, const struct tsl_memory_file *is)
{
    int file = open_file(name, is);
    void *bytes = MAP_FAILED;

    if (file >= 0 && has_size(file, size))
        bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0)
        close(file);
    if (bytes == MAP_FAILED)
        return NULL;
    if (memcmp(bytes, is->token, sizeof(is->token)) == 0)
        return bytes;
    munmap(bytes, size);
    return NULL;
}
