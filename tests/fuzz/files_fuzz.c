/*
 * What comes from outside as bytes: program binaries (to the container's reader, and through the API), the config file,
 * models of times, settings, the compiler's messages, modules of SPIR-V, footprints of kernels. Most inputs get the sum
 * that they should have, as else nothing behind it would be reached. All must be taken or refused without harm, and
 * what was taken must keep what the headers promise: it lies within the input, is in its range, and comes back when it
 * is written and read again.
 */
#include "api.h"
#include "base/settings.h"
#include "compile_client/wire.h"
#include "driver/config.h"
#include "facts/il.h"
#include "footprint/evaluate.h"
#include "machine.h"
#include "members/members.h"
#include "place/model_file.h"
#include "program/container.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void check(bool good, const char *what)
{
    if (!good)
        fuzz_finding(what, NULL);
}

/* The input's next n bytes, or as many as there are. */
static struct fuzz_input cut(struct fuzz_input *in, size_t n)
{
    struct fuzz_input part = {in->data, n < in->size ? n : in->size};
    in->data += part.size;
    in->size -= part.size;
    return part;
}

/* A 0-terminated copy (heap). */
static char *text_of(const struct fuzz_input *in)
{
    char *text = calloc(1, in->size + 1);
    if (!text)
        abort();
    return in->size ? memcpy(text, in->data, in->size) : text;
}

/* A copy that ends where the next page must not be touched, so that who reads on is found without sanitizers too. Good
 * until the next call. */
static const uint8_t *guarded(const void *data, size_t size)
{
    static uint8_t *room;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), most = 256 * page;
    if (!room) {
        room = mmap(NULL, most + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        check(room != MAP_FAILED && !mprotect(room + most, page, PROT_NONE), "no guarded page");
    }
    check(size <= most, "an input of more than 1 MiB");
    return size ? memcpy(room + most - size, data, size) : room + most;
}

/* ---- Containers -------------------------------------------------------------------------------------------------- */

static struct tsl_driver driver = {.name = "one"};
static char version[] = "1.0", device_name[] = "A";

static void find_in(const uint8_t *data, size_t size, const struct tsl_path *path)
{
    struct tsl_container_entry entry, again;
    struct tsl_writer writer = {0};
    char *source, *options;
    bool damaged;
    if (tsl_container_text(data, size, &source, &options))
        check(source && options && strlen(source) + strlen(options) < size, "a text that is longer than its container");
    free(source);
    free(options);
    if (!tsl_container_find(data, size, path, &entry, &damaged))
        return;
    const uint8_t *binary = entry.binary;
    check(!damaged, "found, and damaged");
    check(!entry.size || (binary >= data && entry.size <= size && binary + entry.size <= data + size),
          "an entry outside its container");
    tsl_container_begin(&writer);
    tsl_container_add(&writer, path, &entry);
    tsl_container_end(&writer);
    check(tsl_container_is(writer.data, writer.size), "a container that isn't one");
    check(tsl_container_find(writer.data, writer.size, path, &again, &damaged), "an entry that doesn't come back");
    check(again.type == entry.type && again.size == entry.size && !memcmp(again.binary, binary, entry.size),
          "an entry that came back otherwise");
    free(writer.data);
}

/* All bytes after the head are the input's; the sum may be made right. */
static void container(struct fuzz_input *in)
{
    struct tsl_path path = {.driver = &driver, .driver_version = version, .device_name = device_name};
    struct tsl_writer writer = {0};
    bool summed = fuzz_pick(in, 8) > 0;
    path.identity.has_uuid = fuzz_pick(in, 2);
    memset(path.identity.uuid, 7, sizeof(path.identity.uuid));
    if (summed) {
        tsl_container_begin(&writer);
        tsl_write_u32_at(&writer, 12, fuzz_byte(in)); /* how many entries */
    }
    tsl_write_raw(&writer, in->data, in->size);
    if (summed)
        tsl_container_end(&writer);
    find_in(guarded(writer.data, writer.size), writer.size, &path);
    free(writer.data);
}

/* ---- Programs from binaries, through the API --------------------------------------------------------------------- */

/* A container with entries for the machine's members, some of which that member's compiler takes. */
static struct tsl_writer some_container(struct fuzz_input *in)
{
    static const char good[] = "FAKE BINARY\nkernel add x\n";
    const struct tsl_found_list *found = tsl_members_probe();
    struct tsl_writer writer = {0};
    tsl_container_begin(&writer);
    for (unsigned n = fuzz_pick(in, 5); n-- > 0;) {
        struct tsl_container_entry entry = {.type = fuzz_pick(in, 8)};
        const struct tsl_path *path = &found->rows[fuzz_pick(in, found->n)].path;
        struct fuzz_input own = cut(in, fuzz_byte(in));
        bool is_good = fuzz_pick(in, 2);
        entry.binary = is_good ? (const void *)good : own.size ? own.data : NULL;
        entry.size = is_good ? sizeof(good) - 1 : own.size;
        tsl_container_add(&writer, path, &entry);
    }
    tsl_container_end(&writer);
    for (unsigned n = fuzz_pick(in, 4); n-- > 0;) {
        size_t low = fuzz_byte(in), at = (low | (size_t)fuzz_byte(in) << 8) % writer.size;
        writer.data[at] = (uint8_t)fuzz_byte(in);
    }
    if (fuzz_pick(in, 4) && writer.size >= 24)
        tsl_container_end(&writer);
    return writer;
}

static void query(cl_program program, cl_device_id device)
{
    char answer[512];
    for (cl_program_info name = CL_PROGRAM_REFERENCE_COUNT; name <= CL_PROGRAM_KERNEL_NAMES; name++)
        if (name != CL_PROGRAM_BINARIES)
            tsl_api_clGetProgramInfo(program, name, sizeof(answer), answer, NULL);
    for (cl_program_build_info name = CL_PROGRAM_BUILD_STATUS; name <= CL_PROGRAM_BINARY_TYPE; name++)
        tsl_api_clGetProgramBuildInfo(program, device, name, sizeof(answer), answer, NULL);
}

/* What was built is told as a binary that is taken and built again. */
static void go_round(cl_context context, cl_program program, cl_device_id device)
{
    size_t size = 0;
    cl_int status, error;
    tsl_api_clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, NULL);
    unsigned char *binary = malloc(size + 1);
    check(size > 0 && binary, "a program that is built has no binary");
    check(!tsl_api_clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(binary), &binary, NULL), "no binary is told");
    cl_program again =
        tsl_api_clCreateProgramWithBinary(context, 1, &device, &size, (const unsigned char **)&binary, &status, &error);
    check(again && !status && !error, "a binary that isn't taken again");
    check(!tsl_api_clBuildProgram(again, 1, &device, "", NULL, NULL), "a binary that isn't built again");
    tsl_api_clReleaseProgram(again);
    free(binary);
}

static void use(cl_context context, cl_program program, cl_device_id device)
{
    cl_kernel kernels[4];
    cl_uint n = 0;
    query(program, device);
    cl_int error = tsl_api_clBuildProgram(program, 1, &device, "", NULL, NULL);
    query(program, device);
    if (error)
        return;
    if (!tsl_api_clCreateKernelsInProgram(program, 4, kernels, &n))
        while (n-- > 0)
            tsl_api_clReleaseKernel(kernels[n]);
    go_round(context, program, device);
}

static void program(struct fuzz_input *in)
{
    cl_platform_id platform;
    cl_device_id device;
    cl_int status = 1, error = 1;
    fuzz_machine_begin(in);
    tsl_api_clGetPlatformIDs(1, &platform, NULL);
    tsl_api_clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
    cl_context context = tsl_api_clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    struct tsl_writer writer = some_container(in);
    const unsigned char *binary = guarded(writer.data, writer.size);
    cl_program made = tsl_api_clCreateProgramWithBinary(context, 1, &device, &writer.size, &binary,
                                                        fuzz_pick(in, 2) ? &status : NULL, &error);
    check(!made == (error != CL_SUCCESS), "a program and an error, or neither");
    if (made) {
        use(context, made, device);
        check(!tsl_api_clReleaseProgram(made), "a program is used up");
    }
    free(writer.data);
    tsl_api_clReleaseContext(context);
    fuzz_machine_end();
}

/* ---- The config file --------------------------------------------------------------------------------------------- */

static void hear(void *arg, const char *sentence)
{
    check(!strncmp(sentence, "file:", 5) && strchr("0123456789", sentence[5]), "a sentence without its place");
    ++*(unsigned *)arg;
}

static void check_device(const struct tsl_config_device *device)
{
    static const char *const begins[] = {[TSL_CONFIG_CUDA] = "cuda:",
                                         [TSL_CONFIG_GPU] = "opencl:",
                                         [TSL_CONFIG_CPU] = "cpu",
                                         [TSL_CONFIG_FPGA] = "opencl:"};
    check(device->kind <= TSL_CONFIG_FPGA && !strncmp(device->id, begins[device->kind], strlen(begins[device->kind])),
          "a device's id isn't one of its kind");
    check(!strpbrk(device->exec_mode, "/. %"), "a mode that leads elsewhere");
    check(device->kind != TSL_CONFIG_CPU || (device->n_threads && device->first_numa <= device->last_numa),
          "a CPU without threads or nodes");
}

static void config(struct fuzz_input *in)
{
    struct tsl_config first, second;
    unsigned said[2] = {0};
    char *text = text_of(in);
    tsl_config_parse(&first, text, "file", "host.domain", hear, &said[0]);
    tsl_config_parse(&second, text, "file", "host.domain", hear, &said[1]);
    check(first.found == second.found && first.n == second.n && said[0] == said[1], "two readings of one file");
    check(first.found || first.n == 0, "another machine's devices");
    check(first.host_numa >= -1 && first.host_numa < 1024, "a node that can't be");
    for (size_t i = 0; i < first.n; i++)
        check_device(&first.devices[i]);
    tsl_config_finish(&first);
    tsl_config_finish(&second);
    free(text);
}

/* ---- Models of times --------------------------------------------------------------------------------------------- */

static char folder[64];

static void remove_folder(void)
{
    char path[96];
    snprintf(path, sizeof(path), "%s/models-3", folder);
    unlink(path);
    rmdir(folder);
}

static void make_folder(void)
{
    /* In memory where that goes: renaming over a file makes some disks wait. */
    strcpy(folder, access("/dev/shm", W_OK) == 0 ? "/dev/shm/tesela-fuzz-XXXXXX" : "/tmp/tesela-fuzz-XXXXXX");
    check(mkdtemp(folder), "no folder for models");
    atexit(remove_folder);
}

static void write_model(const struct tsl_writer *writer)
{
    char path[96];
    snprintf(path, sizeof(path), "%s/models-3", folder);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    check(file >= 0 && write(file, writer->data, writer->size) == (ssize_t)writer->size, "no file for a model");
    close(file);
}

static void ask_model(struct tsl_model *model, struct fuzz_input in)
{
    for (unsigned i = 0; i < 8; i++) {
        uint64_t kind = fuzz_byte(&in), kernel = fuzz_byte(&in), size = UINT64_C(1) << fuzz_pick(&in, 64);
        struct tsl_guess guess = tsl_model_run(model, kind, kernel, size);
        check(isfinite(guess.ns) && guess.ns >= 0 && isfinite(guess.spread) && guess.spread >= 1, "a guess");
        check(isfinite(tsl_model_ratio(model, kind, kernel)), "a ratio");
        check(isfinite(tsl_model_move_ns(model, kind, kernel, size, 0)), "a move");
        tsl_model_ran(model, kind, kernel, size, 1000);
        tsl_model_moved(model, kind, kernel, size, 1000);
    }
}

static void through_the_file(struct tsl_model *read, struct tsl_model *again, const struct tsl_writer *writer,
                             struct fuzz_input in)
{
    if (!folder[0])
        make_folder();
    write_model(writer);
    tsl_model_read(read, folder);
    ask_model(read, in);
    check(tsl_model_write(read, folder), "a model that can't be written");
    check(tsl_model_read(again, folder), "a model that can't be read again");
}

static void through_memory(struct tsl_model *read, struct tsl_model *again, const struct tsl_writer *writer,
                           struct fuzz_input in)
{
    struct tsl_writer told = {0};
    tsl_model_decode(read, guarded(writer->data, writer->size), writer->size);
    ask_model(read, in);
    tsl_model_encode(read, &told);
    check(!told.failed && tsl_model_decode(again, told.data, told.size), "a model that can't be read again");
    free(told.data);
}

/* Files are dear: one in 16 goes to the disk. */
static void model(struct fuzz_input *in)
{
    struct tsl_model *read = tsl_model_create(), *again = tsl_model_create();
    struct tsl_writer writer = {0};
    check(read && again, "no memory");
    if (fuzz_pick(in, 8)) {
        tsl_write_raw(&writer, "TSLM\1\0\0\0", 8);
        tsl_write_u64(&writer, tsl_bytes_sum(in->data, in->size));
    }
    tsl_write_raw(&writer, in->data, in->size);
    (in->size % 16 ? through_memory : through_the_file)(read, again, &writer, *in);
    check(tsl_model_n_runs(again) == tsl_model_n_runs(read), "a model that came back otherwise");
    tsl_model_unref(read);
    tsl_model_unref(again);
    free(writer.data);
}

/* ---- Settings ---------------------------------------------------------------------------------------------------- */

static const char *const names[] = {"TESELA_MEMBERS", "TESELA_VENDORS",     "TESELA_POLICY",    "TESELA_ORDER",
                                    "TESELA_LIMITS",  "TESELA_DEVICE_TYPE", "TESELA_PROFILING", "TESELA_CHECK",
                                    "TESELA_CACHE",   "TESELA_LOG",         "TESELA_CONFIG",    "HOME"};
#define N_NAMES (sizeof(names) / sizeof(names[0]))

struct values {
    char *of[N_NAMES];
};

static const char *get_value(const char *name, void *data)
{
    const struct values *values = data;
    for (size_t i = 0; i < N_NAMES; i++)
        if (!strcmp(names[i], name))
            return values->of[i];
    return NULL;
}

static void keep_value(const char *name, const char *value, void *data)
{
    struct values *values = data;
    for (size_t i = 0; i < N_NAMES; i++)
        if (!strcmp(names[i], name))
            values->of[i] = strdup(value);
}

static void free_values(struct values *values)
{
    for (size_t i = 0; i < N_NAMES; i++)
        free(values->of[i]);
}

/* What is told of the settings means the same settings. */
static void settings(struct fuzz_input *in)
{
    struct values given = {{NULL}}, told = {{NULL}}, again = {{NULL}};
    struct tsl_settings first, second;
    for (size_t i = 0; i < 3 && fuzz_more(in); i++) {
        size_t at = fuzz_pick(in, N_NAMES);
        struct fuzz_input value = cut(in, fuzz_byte(in));
        free(given.of[at]);
        given.of[at] = text_of(&value);
    }
    tsl_settings_parse(&first, get_value, &given);
    tsl_settings_each(&first, keep_value, &told);
    tsl_settings_parse(&second, get_value, &told);
    tsl_settings_each(&second, keep_value, &again);
    for (size_t i = 0; i < N_NAMES; i++)
        if (told.of[i] && again.of[i] && strcmp(told.of[i], again.of[i]))
            fuzz_finding("a setting that came back otherwise", names[i]);
    tsl_settings_finish(&first);
    tsl_settings_finish(&second);
    free_values(&given);
    free_values(&told);
    free_values(&again);
}

/* ---- The compiler's messages ------------------------------------------------------------------------------------- */

static void decode(struct fuzz_input *in)
{
    struct tsl_wire_hello hello;
    struct tsl_wire_build build;
    struct tsl_wire_built built;
    struct tsl_wire_error error;
    struct tsl_wire_header header;
    unsigned what = fuzz_pick(in, 5);
    in->data = guarded(in->data, in->size);
    if (what == 0) {
        if (tsl_wire_look(in->data, in->size, &header) == TSL_WIRE_WHOLE)
            check(header.body_size <= in->size - TSL_WIRE_HEADER_SIZE, "a message longer than what is there");
    } else if (what == 1 && tsl_wire_decode_hello(in->data, in->size, &hello)) {
        tsl_wire_hello_finish(&hello);
    } else if (what == 2 && tsl_wire_decode_build(in->data, in->size, &build)) {
        tsl_wire_build_finish(&build);
    } else if (what == 3 && tsl_wire_decode_built(in->data, in->size, &built)) {
        struct tsl_writer writer = {0};
        struct tsl_wire_built again;
        tsl_wire_encode_built(&writer, 1, &built);
        check(tsl_wire_decode_built(writer.data + TSL_WIRE_HEADER_SIZE, writer.size - TSL_WIRE_HEADER_SIZE, &again),
              "an answer that doesn't come back");
        check(again.n_kernels == built.n_kernels && again.artefact_size == built.artefact_size,
              "an answer that came back otherwise");
        tsl_wire_built_finish(&again);
        tsl_wire_built_finish(&built);
        free(writer.data);
    } else if (what == 4 && tsl_wire_decode_error(in->data, in->size, &error)) {
        tsl_wire_error_finish(&error);
    }
}

/* ---- Modules of SPIR-V ------------------------------------------------------------------------------------------- */

/* Every constant that is found can be set, by its own size alone. */
static void module(struct fuzz_input *in)
{
    struct tsl_writer writer = {0};
    struct tsl_il *il;
    tsl_write_raw(&writer, in->size % 2 ? "\7\x23\2\3" : "\3\2\x23\7", 4);
    tsl_write_raw(&writer, in->data, in->size / 4 * 4);
    check(!writer.failed, "no memory");
    il = tsl_il_is(writer.data, writer.size) ? tsl_il_create(guarded(writer.data, writer.size), writer.size) : NULL;
    for (unsigned i = 0; il && i < il->n_constants; i++) {
        const struct tsl_program_special *special = &il->constants[i].special;
        const cl_ulong value = i;
        unsigned n;
        check(tsl_il_set(il, special->id, special->size, &value) == CL_SUCCESS, "a constant that can't be set");
        check(tsl_il_set(il, special->id, special->size + 1, &value) == CL_INVALID_VALUE, "a constant of any size");
        free(tsl_il_specials(il, &n));
        check(n == i + 1, "a constant that was forgotten");
    }
    tsl_il_destroy(il);
    free(writer.data);
}

/* ---- Footprints of kernels --------------------------------------------------------------------------------------- */

#define FOOTPRINT_ARGUMENTS 4u
#define FOOTPRINT_NODES     48u

static uint32_t four_bytes(struct fuzz_input *in)
{
    uint32_t value = fuzz_byte(in);
    for (unsigned i = 0; i < 3; i++)
        value = value << 8 | fuzz_byte(in);
    return value;
}

/* Boxes lie within the memory, in the form that they promise; nothing is unknown and has boxes, or is surely unknown.
 */
static void check_set(const struct tsl_byte_set *set, uint64_t memory)
{
    check(set->n <= TSL_MAX_BYTE_BOXES && !(set->unknown && set->n), "a set of no right form");
    for (unsigned i = 0; i < set->n; i++) {
        const struct tsl_byte_box *box = &set->boxes[i];
        check(box->width > 0 && box->count[0] > 0 && box->count[1] > 0, "an empty box");
        uint64_t inner = (box->count[0] - 1) * box->stride[0] + box->width;
        check(box->count[0] == 1 || box->stride[0] >= box->width, "rows that meet");
        check(box->count[1] == 1 || box->stride[1] >= inner, "planes that meet");
        check(box->offset + (box->count[1] - 1) * box->stride[1] + inner <= memory, "a box outside the memory");
    }
}

/* Rows without gaps, or with. */
static struct tsl_pixel_layout some_pixels(struct fuzz_input *in)
{
    struct tsl_pixel_layout pixels = {.size = {1 + fuzz_byte(in), 1 + fuzz_byte(in), 1 + fuzz_pick(in, 4)}};
    pixels.step[0] = UINT64_C(1) << fuzz_pick(in, 5);
    pixels.step[1] = pixels.size[0] * pixels.step[0] + pixels.step[0] * fuzz_pick(in, 3);
    pixels.step[2] = pixels.size[1] * pixels.step[1] + pixels.step[0] * fuzz_pick(in, 3);
    return pixels;
}

static void some_window(struct fuzz_input *in, struct tsl_window *window)
{
    *window = (struct tsl_window){.work_dim = 1 + fuzz_pick(in, 3), .whole = fuzz_pick(in, 2)};
    for (unsigned i = 0; i < 3; i++) {
        bool large = fuzz_pick(in, 8) == 0;
        window->local_size[i] = large ? four_bytes(in) : 1 + fuzz_pick(in, 64);
        window->global_size[i] = large ? four_bytes(in) : fuzz_byte(in);
        window->global_offset[i] = fuzz_pick(in, 4) ? 0 : four_bytes(in);
        window->group_begin[i] = fuzz_pick(in, 8);
        window->group_count[i] = fuzz_pick(in, 8);
    }
}

static void evaluate(struct fuzz_input *in, const struct tsl_footprint *footprint)
{
    struct tsl_argument_value arguments[FOOTPRINT_ARGUMENTS];
    struct tsl_argument_touch touches[FOOTPRINT_ARGUMENTS];
    struct tsl_pixel_set read, write;
    struct tsl_window window;
    uint64_t scalars[FOOTPRINT_ARGUMENTS];
    struct tsl_pixel_layout pixels = some_pixels(in);
    some_window(in, &window);
    for (unsigned i = 0; i < FOOTPRINT_ARGUMENTS; i++) {
        scalars[i] = fuzz_pick(in, 4) ? fuzz_byte(in) : (uint64_t)four_bytes(in) << 32 | four_bytes(in);
        arguments[i] =
            (struct tsl_argument_value){.value = fuzz_pick(in, 8) ? &scalars[i] : NULL, .size = fuzz_pick(in, 9)};
        arguments[i].pixels = fuzz_pick(in, 2) ? &pixels : NULL;
        arguments[i].memory = fuzz_pick(in, 4) ? 4096 : fuzz_pick(in, 2) ? UINT64_MAX : 0;
    }
    tsl_footprint_evaluate(footprint, &window, arguments, touches);
    for (unsigned i = 0; i < footprint->n_arguments; i++) {
        check_set(&touches[i].read, arguments[i].memory);
        check_set(&touches[i].write, arguments[i].memory);
        check_set(&touches[i].sure, arguments[i].memory);
        check(!touches[i].sure.unknown, "surely written is what isn't known");
        tsl_footprint_evaluate_image(footprint, &window, arguments, i, &read, &write);
    }
}

/* A node whose operands stand before it, most often of the right bits. */
static void some_node(struct fuzz_input *in, struct tsl_node *nodes, uint32_t n)
{
    static const uint8_t all_bits[] = {1, 8, 16, 32, 64, 64, 64, 32};
    struct tsl_node *node = &nodes[n];
    const uint32_t at = n + !n;
    node->op = (uint8_t)(n == 0 ? TSL_NODE_GLOBAL_ID : fuzz_pick(in, TSL_N_NODE_OPS));
    node->bits = node->op < TSL_NODE_ADD ? 64 : all_bits[fuzz_pick(in, 8)];
    const unsigned operands = tsl_node_operands(node->op);
    if (operands)
        node->a = fuzz_byte(in) % at;
    else if (node->op != TSL_NODE_CONSTANT && node->op != TSL_NODE_UNKNOWN)
        node->a = fuzz_pick(in, 3);
    node->b = operands > 1 ? fuzz_byte(in) % at : 0;
    node->c = operands > 2 ? fuzz_byte(in) % at : 0;
    if (node->op == TSL_NODE_CONSTANT)
        node->value = fuzz_pick(in, 8) ? (int64_t)fuzz_byte(in) - 16 : (int64_t)((uint64_t)four_bytes(in) << 32);
    if (operands > 1)
        node->bits = node->op >= TSL_NODE_EQ ? 1 : nodes[node->b].bits;
}

static void some_access(struct fuzz_input *in, uint32_t n_loops, struct tsl_access *access)
{
    access->argument = fuzz_pick(in, FOOTPRINT_ARGUMENTS);
    access->kind = (uint8_t)fuzz_pick(in, 3);
    access->width = 1 + fuzz_pick(in, 16);
    access->narrow = access->kind == TSL_ACCESS_WRITE;
    access->flags = access->kind == TSL_ACCESS_WRITE && fuzz_pick(in, 2) ? TSL_ACCESS_SURE : 0;
    access->address[0] = fuzz_byte(in) % FOOTPRINT_NODES;
    access->address[1] = access->address[2] = TSL_FOOTPRINT_NONE;
    access->n_loops = n_loops;
    for (uint32_t i = 0; i < n_loops; i++)
        access->loops[i] = i;
    access->n_guards = fuzz_pick(in, 4);
    for (uint32_t i = 0; i < access->n_guards; i++)
        access->guards[i] = fuzz_byte(in) % FOOTPRINT_NODES;
}

/* A footprint that is valid but for what chance breaks. */
static void some_footprint(struct fuzz_input *in, struct tsl_writer *writer)
{
    struct tsl_node nodes[FOOTPRINT_NODES] = {{0}};
    struct tsl_access accesses[4] = {{0}};
    struct tsl_loop loops[3];
    struct tsl_footprint footprint = {
        .n_arguments = FOOTPRINT_ARGUMENTS, .nodes = nodes, .accesses = accesses, .loops = loops};
    footprint.n_loops = fuzz_pick(in, 4);
    for (unsigned n = fuzz_pick(in, FOOTPRINT_NODES); footprint.n_nodes < n; footprint.n_nodes++)
        some_node(in, nodes, footprint.n_nodes);
    for (uint32_t i = 0; i < footprint.n_loops; i++) {
        loops[i].count = fuzz_pick(in, 4) ? fuzz_byte(in) % FOOTPRINT_NODES : TSL_FOOTPRINT_NONE;
        loops[i].exact = loops[i].count != TSL_FOOTPRINT_NONE && fuzz_pick(in, 2);
    }
    for (unsigned n = fuzz_pick(in, 5); footprint.n_accesses < n; footprint.n_accesses++)
        some_access(in, footprint.n_loops, &accesses[footprint.n_accesses]);
    tsl_footprint_encode(writer, &footprint);
}

static void footprint(struct fuzz_input *in)
{
    struct tsl_writer writer = {0}, again = {0};
    char text[100];
    if (fuzz_pick(in, 2)) {
        some_footprint(in, &writer);
    } else {
        size_t size = in->size < 64 ? in->size : in->size - 64; /* what is left chooses the window */
        struct fuzz_input bytes = cut(in, size);
        tsl_write_u32(&writer, TSL_FOOTPRINT_FORMAT);
        tsl_write_raw(&writer, bytes.data, bytes.size);
    }
    check(!writer.failed, "no memory");
    struct tsl_footprint *decoded = tsl_footprint_decode(guarded(writer.data, writer.size), writer.size);
    if (decoded) {
        tsl_footprint_encode(&again, decoded);
        check(again.size == writer.size && !memcmp(again.data, writer.data, again.size),
              "a footprint that came back otherwise");
        for (uint32_t i = 0; i < decoded->n_nodes; i++)
            tsl_footprint_print_node(decoded, i, text, fuzz_byte(in) % sizeof(text));
        if (decoded->n_arguments <= FOOTPRINT_ARGUMENTS)
            evaluate(in, decoded);
    }
    tsl_footprint_destroy(decoded);
    free(writer.data);
    free(again.data);
}

#define MODULES    0xf8u /* first bytes from here on: the kept inputs have others */
#define FOOTPRINTS 0xf0u /* from here on … */
#define OTHERS     0xf5u /* … to less than that */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const kinds[])(struct fuzz_input *) = {container, program, config, model, settings, decode};
    struct fuzz_input in = {data, size};
    unsigned kind = fuzz_byte(&in);
    if (kind >= MODULES)
        module(&in);
    else if (kind >= FOOTPRINTS && kind < OTHERS)
        footprint(&in);
    else
        kinds[kind % (sizeof(kinds) / sizeof(kinds[0]))](&in);
    return 0;
}
