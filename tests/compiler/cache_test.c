/*
 * What was compiled is kept: found by content and nothing else, whole or not at all, within its bound, and only where
 * nobody else could have put something. The second build of a program starts no compiler.
 */
#include "kc_env.h"

#include "compile_client/cache.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char folder[] = "/tmp/tesela-cache-XXXXXX";

static struct tsl_cache_key key_of(unsigned number)
{
    return (struct tsl_cache_key){{(uint8_t)number, (uint8_t)(number >> 8), 7}};
}

/* The file of an entry. */
static void path_of(const struct tsl_cache_key *key, char path[256])
{
    int n = snprintf(path, 256, "%s/kernels/", folder);

    for (unsigned i = 0; i < TSL_DIGEST_SIZE; i++)
        n += snprintf(path + n, 256 - (size_t)n, "%02x", key->digest[i]);
}

static bool has(unsigned number, const char *text)
{
    struct tsl_cache_key key = key_of(number);
    size_t size;
    char *data = tsl_cache_get(folder, &key, &size);
    bool same = data && size == strlen(text) && memcmp(data, text, size) == 0;

    free(data);
    return same;
}

static void put(unsigned number, const char *text)
{
    struct tsl_cache_key key = key_of(number);

    tsl_cache_put(folder, &key, text, strlen(text), TSL_CACHE_LIMIT);
}

static void digests_are_those_of_the_standard(void **state)
{
    static const uint8_t abc[] = {0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea, 0x41, 0x41, 0x40,
                                  0xde, 0x5d, 0xae, 0x22, 0x23, 0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17,
                                  0x7a, 0x9c, 0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad};
    static const uint8_t two_blocks[] = {0x24, 0x8d, 0x6a, 0x61, 0xd2, 0x06, 0x38, 0xb8, 0xe5, 0xc0, 0x26,
                                         0x93, 0x0c, 0x3e, 0x60, 0x39, 0xa3, 0x3c, 0xe4, 0x59, 0x64, 0xff,
                                         0x21, 0x67, 0xf6, 0xec, 0xed, 0xd4, 0x19, 0xdb, 0x06, 0xc1};
    static const char text[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    uint8_t result[TSL_DIGEST_SIZE];
    struct tsl_digest digest;

    (void)state;
    tsl_digest_begin(&digest);
    tsl_digest_add(&digest, "abc", 3);
    tsl_digest_end(&digest, result);
    assert_memory_equal(result, abc, sizeof(abc));
    tsl_digest_begin(&digest);
    for (size_t i = 0; i < sizeof(text) - 1; i++)
        tsl_digest_add(&digest, text + i, 1);
    tsl_digest_end(&digest, result);
    assert_memory_equal(result, two_blocks, sizeof(two_blocks));
}

static void what_was_put_is_found(void **state)
{
    (void)state;
    assert_false(has(1, "one"));
    put(1, "one");
    assert_true(has(1, "one"));
    assert_false(has(2, "one"));
    put(1, "one");
    put(3, "");
    assert_true(has(3, ""));
}

static void damage_is_noticed(void **state)
{
    struct tsl_cache_key key = key_of(4);
    char path[256];

    (void)state;
    path_of(&key, path);
    for (off_t at = 0; at < 45; at += 4) {
        int file;
        char byte;

        put(4, "hello");
        assert_true(has(4, "hello"));
        file = open(path, O_RDWR);
        assert_int_equal(pread(file, &byte, 1, at), 1);
        byte ^= 1;
        assert_int_equal(pwrite(file, &byte, 1, at), 1);
        close(file);
        assert_false(has(4, "hello"));
    }
    put(4, "hello");
    assert_int_equal(truncate(path, 43), 0);
    assert_false(has(4, "hello"));
    put(4, "hello");
    assert_true(has(4, "hello"));
}

static void what_others_may_have_written_is_left_alone(void **state)
{
    struct tsl_cache_key key = key_of(5);
    char path[256], kernels[256], moved[256];

    (void)state;
    put(5, "five");
    path_of(&key, path);
    assert_int_equal(chmod(path, 0622), 0);
    assert_false(has(5, "five"));
    assert_int_equal(chmod(path, 0600), 0);
    assert_true(has(5, "five"));
    if (geteuid() == 0) {
        assert_int_equal(chown(path, 65534, 65534), 0);
        assert_false(has(5, "five"));
        assert_int_equal(chown(path, 0, 0), 0);
    }
    /* Links lead elsewhere. */
    snprintf(moved, sizeof(moved), "%s/moved", folder);
    assert_int_equal(rename(path, moved), 0);
    assert_int_equal(symlink(moved, path), 0);
    assert_false(has(5, "five"));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rename(moved, path), 0);
    /* And so for the folder. */
    snprintf(kernels, sizeof(kernels), "%s/kernels", folder);
    assert_int_equal(chmod(kernels, 0777), 0);
    assert_false(has(5, "five"));
    put(6, "six");
    assert_int_equal(chmod(kernels, 0700), 0);
    assert_true(has(5, "five"));
    assert_false(has(6, "six"));
    assert_int_equal(rename(kernels, moved), 0);
    assert_int_equal(symlink(moved, kernels), 0);
    assert_false(has(5, "five"));
    assert_int_equal(unlink(kernels), 0);
    assert_int_equal(rename(moved, kernels), 0);
    assert_true(has(5, "five"));
}

static void writers_of_several_processes_do_no_harm(void **state)
{
    char *text = malloc(100001);
    pid_t writers[4];

    (void)state;
    memset(text, 'x', 100000);
    text[100000] = 0;
    for (unsigned w = 0; w < 4; w++) {
        writers[w] = fork();
        if (writers[w] == 0) {
            for (unsigned i = 0; i < 100; i++)
                put(100 + i % 5, text);
            _exit(0);
        }
    }
    for (unsigned i = 0; i < 500; i++) {
        struct tsl_cache_key key = key_of(100 + i % 5);
        size_t size;
        char *data = tsl_cache_get(folder, &key, &size);

        if (data)
            assert_true(size == 100000 && memcmp(data, text, size) == 0);
        free(data);
    }
    for (unsigned w = 0; w < 4; w++)
        waitpid(writers[w], NULL, 0);
    for (unsigned i = 0; i < 5; i++)
        assert_true(has(100 + i, text));
    free(text);
}

static void age(unsigned number, long seconds)
{
    struct tsl_cache_key key = key_of(number);
    struct timespec times[2] = {{.tv_sec = time(NULL) - seconds}, {.tv_sec = time(NULL) - seconds}};
    char path[256];

    path_of(&key, path);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void the_oldest_go_when_it_is_too_much(void **state)
{
    char *text = calloc(1, 10001);

    (void)state;
    memset(text, 'y', 10000);
    for (unsigned i = 0; i < 9; i++) {
        struct tsl_cache_key key = key_of(200 + i);

        tsl_cache_put(folder, &key, text, 10000, UINT64_C(100000000));
        age(200 + i, 1000000 - 1000 * i);
    }
    assert_true(has(200, text)); /* used just now */
    for (unsigned i = 0; i < 6; i++) {
        struct tsl_cache_key key = key_of(300 + i);

        tsl_cache_put(folder, &key, text, 10000, 100000);
    }
    assert_true(has(200, text));
    assert_false(has(201, text));
    assert_false(has(202, text));
    assert_true(has(305, text));
    free(text);
}

/* How often all entries were looked at. */
static unsigned looks;

DIR *fdopendir(int file)
{
    DIR *(*real)(int) = (DIR * (*)(int)) dlsym(RTLD_NEXT, "fdopendir");

    looks++;
    return real(file);
}

static struct tsl_cache_key random_key(unsigned number)
{
    struct tsl_cache_key key;
    struct tsl_digest digest;

    tsl_digest_begin(&digest);
    tsl_digest_add(&digest, &number, sizeof(number));
    tsl_digest_end(&digest, key.digest);
    return key;
}

static uint64_t bytes_of_all(const char *cache)
{
    uint64_t all = 0;
    char path[256];
    DIR *files;

    snprintf(path, sizeof(path), "%s/kernels", cache);
    files = opendir(path);
    assert_non_null(files);
    for (struct dirent *file; (file = readdir(files));) {
        struct stat about;

        if (fstatat(dirfd(files), file->d_name, &about, 0) == 0 && S_ISREG(about.st_mode))
            all += (uint64_t)about.st_size;
    }
    closedir(files);
    return all;
}

/* Twenty thousand entries took each build 50 ms. */
static void entries_are_looked_at_now_and_then_and_stay_within_the_bound(void **state)
{
    const uint64_t limit = 1000000;
    char other[256], text[1000] = "z";
    uint64_t most = 0;

    (void)state;
    snprintf(other, sizeof(other), "%s/bound", folder);
    looks = 0;
    for (unsigned i = 0; i < 4000; i++) {
        struct tsl_cache_key key = random_key(i);

        tsl_cache_put(other, &key, text, sizeof(text), limit);
        if (i % 50 == 0 && bytes_of_all(other) > most)
            most = bytes_of_all(other);
    }
    assert_in_range(looks, 40, 400); /* 128 by and large */
    assert_in_range(most, limit / 2, limit + limit / 8);
}

/* ---- Builds ------------------------------------------------------------------------------------------------------ */

/* How a process of starts_one ends. */
enum { STARTED_NONE = 20, STARTED_ONE };

static int compiler(void)
{
    return tsl_client_process();
}

static void the_second_build_starts_no_compiler(void **state)
{
    static const char source[] = "#warning kept\nkernel void f(global int *x) { x[get_group_id(0)] = 1; }";
    struct tsl_compiled compiled;
    int first;

    (void)state;
    assert_int_equal(kc_build(source, "", &compiled), CL_SUCCESS);
    tsl_compiled_finish(&compiled);
    first = compiler();
    assert_true(first > 0);
    kill(first, 9);
    assert_int_equal(kc_build(source, "", &compiled), CL_SUCCESS);
    kc_assert_log(&compiled, "warning: kept");
    assert_int_equal(compiled.built.n_kernels, 1);
    assert_true(compiled.built.kernels[0].facts.whole_launch);
    tsl_compiled_finish(&compiled);
    assert_int_equal(compiler(), first); /* nobody has noticed that it is dead */
    assert_int_equal(kc_result(source, "-D A"), CL_SUCCESS);
    assert_int_not_equal(compiler(), first);
}

#define N_AT_ONCE 6

struct at_once {
    pthread_t thread;
    const char *source;
    struct tsl_compiled compiled;
    cl_int result;
};

static void *build_at_once(void *arg)
{
    struct at_once *one = arg;

    one->result = kc_build(one->source, "", &one->compiled);
    return NULL;
}

static void build_all_at_once(const char *source, struct at_once ones[N_AT_ONCE])
{
    for (unsigned i = 0; i < N_AT_ONCE; i++) {
        ones[i].source = source;
        assert_int_equal(pthread_create(&ones[i].thread, NULL, build_at_once, &ones[i]), 0);
    }
    for (unsigned i = 0; i < N_AT_ONCE; i++)
        pthread_join(ones[i].thread, NULL);
}

/* One compiles, the others wait for it: each has the result, or the error and its log. */
static void equal_builds_at_once_all_have_the_result(void **state)
{
    struct at_once ones[N_AT_ONCE];

    (void)state;
    build_all_at_once("kernel void at_once(global int *x) { x[get_global_id(0)] = 3; }", ones);
    for (unsigned i = 0; i < N_AT_ONCE; i++) {
        assert_int_equal(ones[i].result, CL_SUCCESS);
        assert_string_equal(ones[i].compiled.built.kernels[0].facts.name, "at_once");
        tsl_compiled_finish(&ones[i].compiled);
    }
    build_all_at_once("kernel void wrong(global int *x) { x[0] = nothing; }", ones);
    for (unsigned i = 0; i < N_AT_ONCE; i++) {
        assert_int_equal(ones[i].result, CL_BUILD_PROGRAM_FAILURE);
        kc_assert_log(&ones[i].compiled, "nothing");
        tsl_compiled_finish(&ones[i].compiled);
    }
}

static void write_header(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void a_changed_header_is_noticed(void **state)
{
    char path[256], options[256];
    static const char source[] = "#include <h.h>\nkernel void NAME(void) {}";
    struct tsl_compiled compiled;
    static const char *const names[] = {"aa", "bb"};

    (void)state;
    snprintf(path, sizeof(path), "%s/h.h", folder);
    snprintf(options, sizeof(options), "-I %s", folder);
    for (unsigned i = 0; i < 4; i++) {
        char text[64];

        snprintf(text, sizeof(text), "#define NAME %s\n", names[i % 2]);
        write_header(path, text);
        assert_int_equal(kc_build(source, options, &compiled), CL_SUCCESS);
        assert_string_equal(compiled.built.kernels[0].facts.name, names[i % 2]);
        tsl_compiled_finish(&compiled);
    }
    unlink(path);
    assert_int_equal(kc_result(source, options), CL_BUILD_PROGRAM_FAILURE);
}

/* The name of the program's kernel. */
static void assert_kernel(const char *source, const char *options, const char *name)
{
    struct tsl_compiled compiled;

    assert_int_equal(kc_build(source, options, &compiled), CL_SUCCESS);
    assert_string_equal(compiled.built.kernels[0].facts.name, name);
    tsl_compiled_finish(&compiled);
}

/* In a header with nothing in it, too. */
static void a_header_that_was_empty_is_read_again(void **state)
{
    char path[256], options[256];
    static const char source[] = "#include <empty.h>\n#ifndef NAME\n#define NAME aa\n#endif\nkernel void NAME(void) {}";
    int before;

    (void)state;
    snprintf(path, sizeof(path), "%s/empty.h", folder);
    snprintf(options, sizeof(options), "-I %s", folder);
    write_header(path, "");
    assert_kernel(source, options, "aa");
    before = compiler();
    kill(before, 9);
    assert_kernel(source, options, "aa");
    assert_int_equal(compiler(), before); /* it was kept: nobody has noticed */
    write_header(path, "#define NAME bb\n");
    assert_kernel(source, options, "bb");
    write_header(path, "");
    assert_kernel(source, options, "aa");
}

/* A header that is found before another of its name, or that was only asked for. */
static void a_header_that_was_not_there_is_found(void **state)
{
    static const char shadowed[] = "#include <one.h>\nkernel void NAME(void) {}";
    static const char asked[] =
        "#if __has_include(<two.h>)\n#define NAME bb\n#else\n#define NAME aa\n#endif\nkernel void NAME(void) {}";
    char first[256], second[256], header[300], options[600];

    (void)state;
    snprintf(first, sizeof(first), "%s/first", folder);
    snprintf(second, sizeof(second), "%s/second", folder);
    snprintf(options, sizeof(options), "-I %s -I %s", first, second);
    assert_int_equal(mkdir(second, 0700), 0);
    snprintf(header, sizeof(header), "%s/one.h", second);
    write_header(header, "#define NAME aa\n");
    assert_kernel(shadowed, options, "aa");
    assert_kernel(asked, options, "aa");
    assert_int_equal(mkdir(first, 0700), 0); /* nor was the folder */
    assert_kernel(shadowed, options, "aa");
    snprintf(header, sizeof(header), "%s/one.h", first);
    write_header(header, "#define NAME bb\n");
    assert_kernel(shadowed, options, "bb");
    assert_kernel(asked, options, "aa");
    snprintf(header, sizeof(header), "%s/two.h", second);
    write_header(header, "");
    assert_kernel(asked, options, "bb");
}

/* In place of /proc/cpuinfo; NULL: that itself. */
static const char *processor;

/* The library's calls, too, as it is linked into this program. */
FILE *fopen(const char *path, const char *mode)
{
    FILE *(*next)(const char *, const char *) = (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, "fopen");

    return next(processor && strcmp(path, "/proc/cpuinfo") == 0 ? processor : path, mode);
}

/* Is a compiler started by another process that runs this one's program? It lies in a folder of the test's own. */
static bool starts_one(const char *other_processor)
{
    char command[1024], self[512] = "";
    int status;

    assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
    snprintf(command, sizeof(command), "exec %s --build %s/kc/tesela-kc %s", self, folder, other_processor);
    status = system(command);
    assert_true(WIFEXITED(status));
    assert_in_range(WEXITSTATUS(status), STARTED_NONE, STARTED_ONE);
    return WEXITSTATUS(status) == STARTED_ONE;
}

/* In the other process. */
static int build_there(const char *compiler_path)
{
    tsl_client_set_program(compiler_path, NULL);
    if (kc_result("kernel void g(global int *x) { x[0] = 2; }", ""))
        return 1;
    return compiler() > 0 ? STARTED_ONE : STARTED_NONE;
}

static void later(const char *name)
{
    char path[512];
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = time(NULL) + 10}};

    snprintf(path, sizeof(path), "%s/kc/%s", folder, name);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* A newer compiler finds nothing of an older one's, nor does it if only its built-in functions are newer. */
static void another_compiler_compiles_again(void **state)
{
    char command[512];

    (void)state;
    snprintf(command, sizeof(command), "mkdir %s/kc && cp -pL %s/kc/* %s/kc", folder, build_folder(), folder);
    assert_int_equal(system(command), 0);
    assert_true(starts_one(""));
    assert_false(starts_one(""));
    later("tesela-kc");
    assert_true(starts_one(""));
    assert_false(starts_one(""));
    later("builtins.bc");
    assert_true(starts_one(""));
    assert_false(starts_one(""));
}

/* A home folder that several machines share: with another processor in place of this one nothing is found, and with
 * this one again it is. Follows the test before. */
static void another_processor_compiles_again(void **state)
{
    char path[256], command[512];

    (void)state;
    snprintf(path, sizeof(path), "%s/processor", folder);
    snprintf(command, sizeof(command), "sed 's/^model name.*/model name : none/' /proc/cpuinfo >%s", path);
    assert_int_equal(system(command), 0);
    assert_false(starts_one(""));
    assert_true(starts_one(path));
    assert_false(starts_one(path));
    assert_false(starts_one(""));
}

static int set_up(void **state)
{
    (void)state;
    kc_use(NULL);
    return mkdtemp(folder) && setenv("TESELA_CACHE", folder, 1) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[64];

    (void)state;
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    return system(command);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests_are_those_of_the_standard),
        cmocka_unit_test(what_was_put_is_found),
        cmocka_unit_test(damage_is_noticed),
        cmocka_unit_test(what_others_may_have_written_is_left_alone),
        cmocka_unit_test(writers_of_several_processes_do_no_harm),
        cmocka_unit_test(the_oldest_go_when_it_is_too_much),
        cmocka_unit_test(entries_are_looked_at_now_and_then_and_stay_within_the_bound),
        cmocka_unit_test(the_second_build_starts_no_compiler),
        cmocka_unit_test(equal_builds_at_once_all_have_the_result),
        cmocka_unit_test(a_changed_header_is_noticed),
        cmocka_unit_test(a_header_that_was_empty_is_read_again),
        cmocka_unit_test(a_header_that_was_not_there_is_found),
        cmocka_unit_test(another_compiler_compiles_again),
        cmocka_unit_test(another_processor_compiles_again),
    };

    if (argc >= 3 && strcmp(argv[1], "--build") == 0) {
        processor = argv[3];
        return build_there(argv[2]);
    }

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
