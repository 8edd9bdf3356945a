#include "compile_client/compile.h"

#include "base/log.h"
#include "base/settings.h"
#include "compile_client/cache.h"
#include "compile_client/client.h"
#include "facts/il.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- What a result depends on ------------------------------------------------------------------------------------ */

static struct identity {
    pthread_once_t once;
    struct tsl_digest digest; /* of compiler and processor; requests are added to copies */
} identity = {.once = PTHREAD_ONCE_INIT};

/* A file's part of the identity: its size and the time of its last change, which packages and builds change. */
static void add_file(const char *path)
{
    struct stat about;
    char text[128] = "none";

    if (stat(path, &about) == 0)
        snprintf(text, sizeof(text), "%lld %lld.%09ld", (long long)about.st_size, (long long)about.st_mtim.tv_sec,
                 about.st_mtim.tv_nsec);
    tsl_digest_add(&identity.digest, text, strlen(text) + 1);
}

static void add_compiler(void)
{
    static const char *const libraries[] = {"builtins.bc", "builtins-nvptx.bc", "work-items-nvptx.bc"};
    const char *why, *program = tsl_client_program(&why);
    char path[4096];

    if (!program)
        return;
    add_file(program);
    for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
        snprintf(path, sizeof(path), "%.*s/%s", (int)(strrchr(program, '/') - program), program, libraries[i]);
        add_file(path);
    }
    add_file(TESELA_LLVM_LIBRARY);
}

/* Several machines may share a home folder, so the processor belongs to the identity. */
static void add_processor(void)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[4096];
    unsigned found = 0;

    while (file && found < 2 && fgets(line, sizeof(line), file))
        if (strncmp(line, "model name", 10) == 0 || strncmp(line, "flags", 5) == 0 ||
            strncmp(line, "Features", 8) == 0) {
            tsl_digest_add(&identity.digest, line, strlen(line));
            found++;
        }
    if (file)
        fclose(file);
}

static void identify(void)
{
    tsl_digest_begin(&identity.digest);
    tsl_digest_add(&identity.digest, TESELA_VERSION, sizeof(TESELA_VERSION));
    add_compiler();
    add_processor();
}

uint64_t tsl_compile_identity(void)
{
    uint8_t bytes[TSL_DIGEST_SIZE];
    struct tsl_digest digest;
    uint64_t number;

    pthread_once(&identity.once, identify);
    digest = identity.digest;
    tsl_digest_end(&digest, bytes);
    memcpy(&number, bytes, sizeof number);
    return number;
}

/* Equal requests have equal messages except for the number, which is still 0. */
static struct tsl_cache_key key_of(const struct tsl_writer *message)
{
    struct tsl_cache_key key;
    struct tsl_digest digest;

    pthread_once(&identity.once, identify);
    digest = identity.digest;
    tsl_digest_add(&digest, message->data, message->size);
    tsl_digest_end(&digest, key.digest);
    return key;
}

static bool has_sum(int file, size_t size, uint64_t sum)
{
    void *data = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0) : NULL;
    bool same = data != MAP_FAILED && tsl_bytes_sum(data, size) == sum;

    if (size && data != MAP_FAILED)
        munmap(data, size);
    return same;
}

/* Has an included file its old contents, or is a missing one still missing? */
static bool is_current(const struct tsl_wire_file *file)
{
    int opened = open(file->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat about;
    bool same;

    if (opened < 0)
        return file->size == TSL_WIRE_NO_FILE && (errno == ENOENT || errno == ENOTDIR);
    same = fstat(opened, &about) == 0 && S_ISREG(about.st_mode) && (uint64_t)about.st_size == file->size &&
           has_sum(opened, file->size, file->sum);
    close(opened);
    return same;
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

static cl_int fail(struct tsl_compiled *compiled, cl_int error, const char *text)
{
    *compiled = (struct tsl_compiled){.built = {.result = error, .log = strdup(text ? text : "")}};
    return error;
}

/* Takes over the body. */
static bool decode(void *body, size_t size, struct tsl_compiled *compiled)
{
    compiled->message = body;
    if (tsl_wire_decode_built(body, size, &compiled->built))
        return true;
    free(body);
    compiled->message = NULL;
    return false;
}

static bool look_up(const char *cache, const struct tsl_cache_key *key, struct tsl_compiled *compiled)
{
    size_t size;
    void *body = tsl_cache_get(cache, key, &size);
    bool current = true;

    if (!body || !decode(body, size, compiled))
        return false;
    for (uint32_t i = 0; i < compiled->built.n_files; i++)
        current = current && is_current(&compiled->built.files[i]);
    if (!current)
        tsl_compiled_finish(compiled);
    return current;
}

static cl_int ask(struct tsl_writer *message, enum tsl_wire_target target, struct tsl_compiled *compiled,
                  struct tsl_reply *reply)
{
    struct tsl_wire_error refused;
    char *why;
    cl_int error = tsl_client_call(message, reply, &why);

    if (error != CL_SUCCESS) {
        fail(compiled, error, why);
        /* A caller that only asks for argument access does well without the compiler. */
        if (target == TSL_WIRE_ACCESS || target == TSL_WIRE_WINDOWS)
            tsl_log(TSL_LOG_IN_COMPILER, TSL_LOG_INFO, "%s", why ? why : "no memory for a message");
        else
            tsl_log_once(TSL_LOG_IN_COMPILER, TSL_LOG_WARN, "%s", why ? why : "no memory for a message");
        free(why);
        return error;
    }
    if (reply->type == TSL_WIRE_BUILT && decode(reply->body, reply->size, compiled))
        return compiled->built.result;
    if (reply->type != TSL_WIRE_ERROR || !tsl_wire_decode_error(reply->body, reply->size, &refused))
        return fail(compiled, CL_OUT_OF_RESOURCES, "the kernel compiler's answer can't be understood");
    error = fail(compiled, refused.error, refused.text);
    tsl_wire_error_finish(&refused);
    free(reply->body);
    return error;
}

/* Behind a break of a line that goes on (a backslash, or its trigraph, and the line's end), if there is one at `at`. */
static size_t behind_break(const char *text, size_t size, size_t at)
{
    static const char trigraph[] = {'?', '?', '/'};
    size_t end;

    if (at < size && text[at] == '\\')
        end = at + 1;
    else if (size - at >= sizeof(trigraph) && memcmp(text + at, trigraph, sizeof(trigraph)) == 0)
        end = at + sizeof(trigraph);
    else
        return at;
    end += end < size && text[end] == '\r';
    return end < size && text[end] == '\n' ? end + 1 : at;
}

/* Behind the next "include" from `at` on, on however many lines; 0: there is none. */
static size_t behind_include(const char *text, size_t size, size_t at)
{
    static const char word[] = "include";

    for (; at < size; at++) {
        size_t end = at, n = 0, next;
        while (end < size && n < sizeof(word) - 1 && text[end] == word[n]) {
            end++;
            n++;
            while ((next = behind_break(text, size, end)) != end)
                end = next;
        }
        if (n == sizeof(word) - 1)
            return end;
    }
    return 0;
}

bool tsl_compile_reads_files(const void *source, size_t size)
{
    return behind_include(source, size, 0) != 0;
}

/* Does an option name a folder by a relative path? */
static bool has_relative_folder(const char *options)
{
    for (const char *at = options; (at = strstr(at, "-I"));) {
        at += 2;
        at += strspn(at, " \t\"'");
        if (*at != '/')
            return true;
    }
    return false;
}

/* Is each file that the text includes between angle brackets? What is between quotes is looked for where the process
 * was started, too. */
static bool has_brackets_alone(const char *text, size_t size)
{
    for (size_t at = 0; (at = behind_include(text, size, at));) {
        while (at < size && (text[at] == ' ' || text[at] == '\t'))
            at++;
        if (at == size || text[at] != '<')
            return false;
    }
    return true;
}

bool tsl_compile_is_relative(const void *source, size_t size, const char *options)
{
    return tsl_compile_reads_files(source, size) && (has_relative_folder(options) || !has_brackets_alone(source, size));
}

/* The current folder is sent only if the build may have relative paths: otherwise its result is the same wherever the
 * process was started. */
static void encode(struct tsl_writer *message, const struct tsl_wire_build *build)
{
    struct tsl_wire_build request = *build;

    if (!request.folder && tsl_compile_is_relative(build->source, strlen(build->source), build->options))
        request.folder = getcwd(NULL, 0);
    if (!request.processor && request.target == TSL_WIRE_CPU)
        request.processor = tsl_settings()->processor;
    tsl_wire_encode_build(message, 0, &request);
    if (!build->folder)
        free(request.folder);
}

/* ---- Equal requests at once -------------------------------------------------------------------------------------- */

/* Members of one kind ask for the same at the same time: one compiles, the others find it in the cache then. */
struct flight {
    LIST_ENTRY(flight) link;
    struct tsl_cache_key key;
};

static pthread_mutex_t flights_lock = PTHREAD_MUTEX_INITIALIZER; /* a leaf; guards the list */
static pthread_cond_t landed = PTHREAD_COND_INITIALIZER;
static LIST_HEAD(, flight) flights = LIST_HEAD_INITIALIZER(flights);

static bool is_under_way_locked(const struct tsl_cache_key *key)
{
    const struct flight *flight;

    LIST_FOREACH(flight, &flights, link)
    if (memcmp(&flight->key, key, sizeof(*key)) == 0)
        return true;
    return false;
}

/* True: another thread has compiled the same meanwhile. False: this one is to do it, and tells its end. */
static bool wait_or_begin(struct flight *mine, const struct tsl_cache_key *key)
{
    bool waited = false;

    mine->key = *key;
    pthread_mutex_lock(&flights_lock);
    while (is_under_way_locked(key)) {
        waited = true;
        pthread_cond_wait(&landed, &flights_lock);
    }
    if (!waited)
        LIST_INSERT_HEAD(&flights, mine, link);
    pthread_mutex_unlock(&flights_lock);
    return waited;
}

static void end_flight(struct flight *mine)
{
    pthread_mutex_lock(&flights_lock);
    LIST_REMOVE(mine, link);
    pthread_cond_broadcast(&landed);
    pthread_mutex_unlock(&flights_lock);
}

/* ---- Compiling --------------------------------------------------------------------------------------------------- */

static cl_int ask_and_keep(const char *cache, const struct tsl_cache_key *key, struct tsl_writer *message,
                           enum tsl_wire_target target, struct tsl_compiled *compiled)
{
    struct tsl_reply reply;
    cl_int result = ask(message, target, compiled, &reply);

    if (cache && result == CL_SUCCESS)
        tsl_cache_put(cache, key, reply.body, reply.size, TSL_CACHE_LIMIT);
    return result;
}

cl_int tsl_compile(const struct tsl_wire_build *build, struct tsl_compiled *compiled)
{
    const char *cache = tsl_settings()->cache;
    struct tsl_writer message = {0};
    struct tsl_cache_key key;
    struct flight flight;
    cl_int result;
    bool waited;

    *compiled = (struct tsl_compiled){.message = NULL};
    encode(&message, build);
    if (message.failed) {
        free(message.data);
        return fail(compiled, CL_OUT_OF_HOST_MEMORY, "the program is too long, or there is no memory for it");
    }
    key = key_of(&message);
    waited = cache && wait_or_begin(&flight, &key);
    if (cache && look_up(cache, &key, compiled))
        result = compiled->built.result;
    else
        result = ask_and_keep(cache, &key, &message, build->target, compiled);
    if (cache && !waited)
        end_flight(&flight);
    free(message.data);
    return result;
}

void tsl_compiled_finish(struct tsl_compiled *compiled)
{
    tsl_wire_built_finish(&compiled->built);
    free(compiled->message);
    compiled->message = NULL;
}

bool tsl_compile_available(const char **why)
{
    return tsl_client_program(why) != NULL;
}

/* ---- SPIR-V ------------------------------------------------------------------------------------------------------ */

/* Debian 12's. Older versions read less; newer ones write image types that LLVM 15 doesn't have, and perhaps bitcode
 * that ours doesn't read (not tried). */
#define TRANSLATOR "/usr/bin/llvm-spirv-15"

const char *tsl_compile_translator(void)
{
    const struct tsl_settings *settings = tsl_settings();
    const char *path = settings->spirv ? settings->spirv : TRANSLATOR, *why;

    return path[0] == '/' && tsl_compile_available(&why) && access(path, X_OK) == 0 ? path : NULL;
}

const char *tsl_compile_il_version(void)
{
    return tsl_compile_translator() ? "SPIR-V_1.0 SPIR-V_1.1 SPIR-V_1.2 SPIR-V_1.3" : "";
}

/* ---- Inputs ------------------------------------------------------------------------------------------------------ */

cl_int tsl_compile_take(const struct tsl_program_input *input, struct tsl_wire_build *build)
{
    bool is_il = input->kind == TSL_PROGRAM_IL;

    build->options = (char *)(uintptr_t)input->options;
    build->source = strndup(input->data, is_il ? 0 : input->size);
    if (!is_il)
        return build->source ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    build->translator = (char *)(uintptr_t)tsl_compile_translator();
    build->il = tsl_il_with_values(input->data, input->size, input->n_specials, input->specials);
    build->il_size = input->size;
    if (!build->translator)
        return CL_COMPILER_NOT_AVAILABLE;
    return build->source && build->il ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

void tsl_compile_drop(struct tsl_wire_build *build)
{
    free(build->source);
    free((void *)(uintptr_t)build->il);
}
