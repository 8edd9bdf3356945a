#include "node/bell.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "tesela-bell"
#define SIZE ((size_t)4096)

struct page {
    uint8_t token[64]; /* and the rest of its cache line */
    atomic_uint rests;
};

struct bell {
    struct page *page; /* NULL: none */
    int pipe;          /* its writing end */
};

static struct bell own, others[TSL_REMOTE_MAX_NODES + 1];
static int own_file = -1;
static unsigned n_found;

void bell_put(struct tsl_writer *writer, const struct bell_is *is)
{
    tsl_write_u64(writer, is->host_id);
    tsl_write_u64(writer, is->pipe_id);
    tsl_put_memory_file(writer, &is->memory);
    tsl_write_u32(writer, is->pipe);
}

bool bell_get(const void *data, size_t size, struct bell_is *is)
{
    struct tsl_reader reader = tsl_reader_of(data, size);

    is->host_id = tsl_read_u64(&reader);
    is->pipe_id = tsl_read_u64(&reader);
    tsl_get_memory_file(&reader, &is->memory);
    is->pipe = tsl_read_u32(&reader);
    return tsl_read_end(&reader);
}

bool bell_make(struct bell_is *is)
{
    struct stat about;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
        return false;
    own.page = fstat(ends[1], &about) ? NULL : tsl_memory_file_make(NAME, SIZE, &is->memory);
    if (!own.page) {
        close(ends[0]);
        close(ends[1]);
        return false;
    }
    own_file = ends[0];
    own.pipe = ends[1];
    is->host_id = tsl_remote_host_id();
    is->pipe = (uint32_t)ends[1];
    is->pipe_id = about.st_ino;
    return true;
}

/* The process is the right one, as its memory was found. For reading as well, so that to ring for one that has ended is
 * no signal that ends this process: some MPI survives the end of others. */
static int open_pipe(const struct bell_is *is)
{
    char path[64], link[64] = "", wanted[64];

    snprintf(path, sizeof(path), "/proc/%u/fd/%u", is->memory.pid, is->pipe);
    snprintf(wanted, sizeof(wanted), "pipe:[%llu]", (unsigned long long)is->pipe_id);
    if (readlink(path, link, sizeof(link) - 1) <= 0 || strcmp(link, wanted) != 0)
        return -1;
    return open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
}

void bell_find(int rank, const struct bell_is *is)
{
    struct bell *bell = &others[rank];

    if (bell->page || is->host_id != tsl_remote_host_id())
        return;
    bell->page = tsl_memory_file_map(NAME, SIZE, &is->memory);
    bell->pipe = bell->page ? open_pipe(is) : -1;
    if (bell->pipe < 0)
        bell->page = NULL; /* The mapping stays: this happens once at most. */
    n_found += bell->page != NULL;
}

unsigned bell_n_found(void)
{
    return own.page ? n_found : 0;
}

/* One of those who ring at the same time says it. In a full pipe it is said already. Sequentially consistent, as the
 * owner's store is: what was sent before is seen by its last look, or it is seen to rest. */
static void ring(const struct bell *bell)
{
    if (bell->page && atomic_load(&bell->page->rests) && atomic_exchange(&bell->page->rests, 0) &&
        write(bell->pipe, "", 1) < 0)
        return;
}

void bell_ring(int rank)
{
    atomic_thread_fence(memory_order_seq_cst);
    ring(&others[rank]);
}

void bell_ring_own(void)
{
    ring(&own);
}

void bell_begin_rest(void)
{
    atomic_store(&own.page->rests, 1);
    atomic_thread_fence(memory_order_seq_cst);
}

int bell_file(void)
{
    return own_file;
}

void bell_end_rest(void)
{
    char bytes[64];

    if (atomic_exchange(&own.page->rests, 0))
        return;
    while (read(own_file, bytes, sizeof(bytes)) == sizeof(bytes))
        ;
}
