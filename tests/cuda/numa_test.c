/* The bridge's threads and pinned memory are next to their GPU, without any setting: two GPUs on a system that seems to
 * have two NUMA nodes. */
/* variant: standin TESELA_CUDA_LIBRARY={build}/tests/libcuda-standin.so TESELA_MEMBERS=cuda TESELA_VENDORS={build}/vendors-none STANDIN_DEVICES=2 */
#include "cuda_env.h"
#include "fake_nodes.h"

#include <dirent.h>

#define SIZE ((size_t)64 << 20) /* goes through the pipeline */

static struct fake_nodes nodes;

static bool is_named(const char *thread, const char *name)
{
    char path[300], text[32] = "";
    FILE *file;

    snprintf(path, sizeof path, "/proc/self/task/%s/comm", thread);
    file = fopen(path, "re");
    if (!file)
        return false;
    if (!fgets(text, sizeof text, file))
        text[0] = 0;
    fclose(file);
    text[strcspn(text, "\n")] = 0;
    return !strcmp(text, name);
}

/* Threads of the name: how many there are, and how many of them stay on the processor. */
static void count_threads(const char *name, int processor, unsigned *n, unsigned *n_there)
{
    DIR *folder = opendir("/proc/self/task");

    *n = *n_there = 0;
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (!is_named(entry->d_name, name))
            continue;
        ++*n;
        *n_there += stays_on((pid_t)strtol(entry->d_name, NULL, 10), processor);
    }
    closedir(folder);
}

static void use(struct tsl_member *of)
{
    struct tsl_lane *l;
    struct tsl_mem *mem;
    struct tsl_fence *fence;
    struct tsl_copy copy;
    unsigned char *data = calloc(1, SIZE);
    struct told told = {0};

    assert_int_equal(driver->lane_create(of, false, &l), CL_SUCCESS);
    assert_int_equal(driver->mem_alloc(of, SIZE, 0, NULL, &mem), CL_SUCCESS);
    copy = linear(mem, NULL, 0, NULL, data, 0, SIZE);
    assert_int_equal(driver->copy(l, &copy, NULL, &fence), CL_SUCCESS);
    assert_int_equal(driver->fence_notify(fence, tell_test, &told), CL_SUCCESS);
    wait_until_told(&told);
    tsl_fence_unref(fence);
    driver->mem_free(mem);
    driver->lane_free(l);
    free(data);
}

static void threads_are_next_to_their_gpu(void **state)
{
    static const char *const names[] = {"tesela-cuda", "tesela-copy"};
    unsigned n[2], n_there;

    (void)state;
    assert_int_equal(tsl_path_numa_node(members[0]->path), 1);
    assert_int_equal(tsl_path_numa_node(members[1]->path), 0);
    use(members[0]);
    for (int i = 0; i < 2; i++) {
        count_threads(names[i], nodes.processors[1], &n[i], &n_there);
        assert_true(n[i] > 0);
        assert_int_equal(n_there, n[i]);
    }
    use(members[1]);
    for (int i = 0; i < 2 && nodes.processors[0] != nodes.processors[1]; i++) {
        unsigned all;

        count_threads(names[i], nodes.processors[0], &all, &n_there);
        assert_int_equal(all, 2 * n[i]);
        assert_int_equal(n_there, n[i]);
    }
}

/* Node 0 is one that the system really has: its policy holds while memory is pinned, and no longer. */
static void pinned_memory_is_next_to_its_gpu(void **state)
{
    void *host;
    struct tsl_mem *mem;

    (void)state;
    assert_int_equal(driver->host_alloc(members[1], 8 << 20, &host, &mem), CL_SUCCESS);
    if (standin.pin_policy() != STANDIN_NO_POLICY)
        assert_int_equal(standin.pin_policy(), 1);
    driver->mem_free(mem);
}

static int open_near(void **state)
{
    make_fake_nodes(&nodes);
    return open_member(state);
}

static int close_near(void **state)
{
    close_member(state);
    remove_fake_nodes(&nodes);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_are_next_to_their_gpu),
        cmocka_unit_test(pinned_memory_is_next_to_its_gpu),
    };

    return cmocka_run_group_tests_name("numa", tests, open_near, close_near);
}
