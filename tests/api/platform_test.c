/* The platform: its queries, the loader's ways to it, and that finding it loads no vendor. */
/* variant: ours TESELA_VENDORS={build}/vendors-pocl-oclgrind */

#include "begin.h"
#include "build_folder.h"

#include <dirent.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void is_found_once(void **state)
{
    cl_platform_id platforms[8];
    cl_uint n = 0;
    (void)state;

    assert_int_equal(clGetPlatformIDs(0, NULL, &n), CL_SUCCESS);
    assert_int_equal(n, 1);
    assert_int_equal(clGetPlatformIDs(8, platforms, NULL), CL_SUCCESS);
    assert_ptr_equal(platforms[0], our_platform());
}

static void check_text(cl_platform_info param, const char *expected)
{
    char text[200];
    size_t size = 0;

    assert_int_equal(clGetPlatformInfo(our_platform(), param, 0, NULL, &size), CL_SUCCESS);
    assert_int_equal(size, strlen(expected) + 1);
    assert_int_equal(clGetPlatformInfo(our_platform(), param, sizeof text, text, NULL), CL_SUCCESS);
    assert_string_equal(text, expected);
    /* Too little room: nothing is written. */
    text[0] = '?';
    assert_int_equal(clGetPlatformInfo(our_platform(), param, size - 1, text, NULL), CL_INVALID_VALUE);
    assert_int_equal(text[0], '?');
}

static void says_who_it_is(void **state)
{
    cl_name_version extensions[4];
    cl_version version;
    cl_ulong resolution;
    char text[100];
    size_t size;
    (void)state;

    check_text(CL_PLATFORM_NAME, "Tesela");
    check_text(CL_PLATFORM_VENDOR, "Tesela");
    check_text(CL_PLATFORM_PROFILE, "FULL_PROFILE");
    check_text(CL_PLATFORM_ICD_SUFFIX_KHR, "TSL");
    check_text(CL_PLATFORM_EXTENSIONS, "cl_khr_icd cl_khr_extended_versioning");
    assert_int_equal(clGetPlatformInfo(our_platform(), CL_PLATFORM_VERSION, sizeof text, text, NULL), CL_SUCCESS);
    assert_memory_equal(text, "OpenCL 3.0 Tesela ", 18);
    assert_int_equal(clGetPlatformInfo(our_platform(), CL_PLATFORM_NUMERIC_VERSION, sizeof version, &version, NULL),
                     CL_SUCCESS);
    assert_int_equal(version, CL_MAKE_VERSION(3, 0, 0));
    assert_int_equal(
        clGetPlatformInfo(our_platform(), CL_PLATFORM_EXTENSIONS_WITH_VERSION, sizeof extensions, extensions, &size),
        CL_SUCCESS);
    assert_int_equal(size, 2 * sizeof *extensions);
    assert_string_equal(extensions[0].name, "cl_khr_icd");
    assert_int_equal(
        clGetPlatformInfo(our_platform(), CL_PLATFORM_HOST_TIMER_RESOLUTION, sizeof resolution, &resolution, NULL),
        CL_SUCCESS);
    assert_int_equal(resolution, 1);
}

static void refuses_nonsense(void **state)
{
    cl_platform_id platform = our_platform();
    char text[100];
    (void)state;

    assert_int_equal(clGetPlatformInfo(platform, 0x7777, sizeof text, text, NULL), CL_INVALID_VALUE);
    assert_int_equal(clGetPlatformInfo((cl_platform_id)our_device(), CL_PLATFORM_NAME, sizeof text, text, NULL),
                     CL_INVALID_PLATFORM);
    assert_int_equal(clUnloadPlatformCompiler((cl_platform_id)our_device()), CL_INVALID_PLATFORM);
    assert_int_equal(clUnloadPlatformCompiler(platform), CL_SUCCESS);
}

static void gives_extension_functions(void **state)
{
    cl_platform_id platform = our_platform();
    (void)state;

    assert_non_null(clGetExtensionFunctionAddressForPlatform(platform, "clGetKernelSuggestedLocalWorkSizeKHR"));
    assert_null(clGetExtensionFunctionAddressForPlatform(platform, "clCreateFromNowhereTSL"));
}

static void makes_queues_by_the_older_name(void **state)
{
    static const cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
    cl_command_queue(CL_API_CALL * make)(cl_context, cl_device_id, const cl_queue_properties *, cl_int *);
    void *function = clGetExtensionFunctionAddressForPlatform(our_platform(), "clCreateCommandQueueWithPropertiesKHR");
    cl_context context = make_context();
    cl_command_queue queue;
    cl_int error;
    (void)state;

    assert_non_null(function);
    memcpy(&make, &function, sizeof make);
    queue = make(context, our_device(), properties, &error);
    assert_int_equal(error, CL_SUCCESS);
    assert_int_equal(clReleaseCommandQueue(queue), CL_SUCCESS);
    assert_int_equal(clReleaseContext(context), CL_SUCCESS);
}

static void has_a_clock(void **state)
{
    cl_device_id device = our_device();
    cl_ulong before, on_device, on_host, after;
    (void)state;

    assert_int_equal(clGetHostTimer(device, &before), CL_SUCCESS);
    assert_int_equal(clGetDeviceAndHostTimer(device, &on_device, &on_host), CL_SUCCESS);
    assert_int_equal(clGetHostTimer(device, &after), CL_SUCCESS);
    assert_true(before <= on_host && on_host <= after);
    assert_true(before <= on_device && on_device <= after);
    assert_int_equal(clGetHostTimer(device, NULL), CL_INVALID_VALUE);
    assert_int_equal(clGetDeviceAndHostTimer(device, NULL, &on_host), CL_INVALID_VALUE);
    assert_int_equal(clGetDeviceAndHostTimer(device, &on_device, NULL), CL_INVALID_VALUE);
}

/* ---- Enumeration is free ---- */

static bool is_mapped(const char *library)
{
    char line[4096];
    FILE *maps = fopen("/proc/self/maps", "r");
    bool found = false;

    assert_non_null(maps);
    while (!found && fgets(line, sizeof line, maps))
        found = strstr(line, library) != NULL;
    fclose(maps);
    return found;
}

/* In a process of its own, as vendors stay loaded once they are. */
static int enumerate_only(void)
{
    cl_device_id device = our_device();
    cl_bool available;
    char text[200];

    assert_int_equal(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof text, text, NULL), CL_SUCCESS);
    assert_int_equal(clGetDeviceInfo(device, CL_DEVICE_VENDOR, sizeof text, text, NULL), CL_SUCCESS);
    assert_true(is_mapped("libtesela"));
    if (is_mapped("libpocl") || is_mapped("liboclgrind"))
        return 1;
    /* The other way round: this does need the members, so the test above looks for the right names. */
    assert_int_equal(clGetDeviceInfo(device, CL_DEVICE_AVAILABLE, sizeof available, &available, NULL), CL_SUCCESS);
    assert_true(available);
    return is_mapped("libpocl") && is_mapped("liboclgrind") ? 0 : 2;
}

/* Starts this program again with one argument; what is left of `folder` is OCL_ICD_VENDORS. */
static int run_again(const char *what, const char *folder)
{
    int status;
    pid_t child = fork();

    if (child == 0) {
        if (folder)
            setenv("OCL_ICD_VENDORS", folder, 1);
        execl("/proc/self/exe", "platform_test", what, (char *)NULL);
        _exit(127);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void enumeration_touches_no_vendor(void **state)
{
    (void)state;
    assert_int_equal(run_again("enumerate", NULL), 0);
}

/* ---- Several threads, and vendors beside us ---- */

#define N_THREADS 3 /* while one enumerates the others spin in the loader */

static pthread_barrier_t start;

/* Everybody's first call; then one that opens the members, for which the vendors' libraries are loaded. */
static void *first_calls(void *arg)
{
    cl_platform_id platforms[16];
    cl_device_id device;
    cl_uint n, units;

    (void)arg;
    pthread_barrier_wait(&start);
    if (clGetPlatformIDs(16, platforms, &n))
        return "clGetPlatformIDs failed";
    for (cl_uint i = 0; i < n; i++) {
        char name[64];

        if (clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL))
            return "clGetPlatformInfo failed";
        if (strcmp(name, "Tesela") != 0)
            continue;
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_GPU, 1, &device, NULL))
            return "clGetDeviceIDs failed";
        if (clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL) || units == 0)
            return "clGetDeviceInfo failed";
        return NULL;
    }
    return "Tesela is not there";
}

static int begin_on_threads(void)
{
    pthread_t threads[N_THREADS];
    int failures = 0;

    pthread_barrier_init(&start, NULL, N_THREADS);
    for (int i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, first_calls, NULL), 0);
    for (int i = 0; i < N_THREADS; i++) {
        void *complaint;

        pthread_join(threads[i], &complaint);
        if (complaint) {
            fprintf(stderr, "thread %d: %s\n", i, (char *)complaint);
            failures++;
        }
    }
    return failures;
}

static void threads_may_begin_at_once(void **state)
{
    (void)state;
    assert_int_equal(run_again("threads", NULL), 0);
}

static void link_all(const char *from, const char *to)
{
    DIR *folder = opendir(from);
    struct dirent *entry;

    assert_non_null(folder);
    while ((entry = readdir(folder))) {
        char source[1024], target[1024];

        if (entry->d_name[0] == '.')
            continue;
        snprintf(source, sizeof source, "%s/%s", from, entry->d_name);
        snprintf(target, sizeof target, "%s/%s", to, entry->d_name);
        assert_int_equal(symlink(source, target), 0);
    }
    closedir(folder);
}

static void remove_folder(const char *path)
{
    DIR *folder = opendir(path);
    struct dirent *entry;

    while ((entry = readdir(folder)))
        unlinkat(dirfd(folder), entry->d_name, 0);
    closedir(folder);
    assert_int_equal(rmdir(path), 0);
}

/* As installed: the application's loader finds the same vendors that are our members, and us among them. */
static void threads_may_begin_beside_vendors(void **state)
{
    char folder[] = "/tmp/tesela-platform-test-XXXXXX", ours[1024], vendors[1024];
    (void)state;

    assert_non_null(mkdtemp(folder));
    snprintf(ours, sizeof ours, "%s/icd", build_folder());
    snprintf(vendors, sizeof vendors, "%s/vendors", build_folder());
    link_all(ours, folder);
    link_all(vendors, folder);
    assert_int_equal(run_again("threads", folder), 0);
    remove_folder(folder);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_found_once),
        cmocka_unit_test(says_who_it_is),
        cmocka_unit_test(refuses_nonsense),
        cmocka_unit_test(gives_extension_functions),
        cmocka_unit_test(makes_queues_by_the_older_name),
        cmocka_unit_test(has_a_clock),
        cmocka_unit_test(enumeration_touches_no_vendor),
        cmocka_unit_test(threads_may_begin_at_once),
        cmocka_unit_test(threads_may_begin_beside_vendors),
    };

    if (argc > 1)
        return strcmp(argv[1], "threads") == 0 ? begin_on_threads() : enumerate_only();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
