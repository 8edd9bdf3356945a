/* What every driver promises of a lost member (driver/driver.h): on the stand-in for libcuda, on a vendor of OpenCL
 * that fails, and on the fake driver. The built-in CPU has no way to be lost; a fault in a kernel costs it that launch
 * alone (tests/cpu). Each test loses the member of a process of its own. */
/* variant: cuda TESELA_CUDA_LIBRARY={build}/tests/libcuda-standin.so TESELA_MEMBERS=cuda TESELA_VENDORS={build}/vendors-none STANDIN_DEVICES=2 */
/* variant: vendor SABOTAGE_ICD={build}/vendors-pocl/pocl.icd TESELA_VENDORS={build}/vendors-sabotage POCL_DEVICES=pthread TESELA_MEMBERS=opencl TESELA_ZERO_COPY=off */
/* variant: vendor_gates SABOTAGE_ICD={build}/vendors-pocl/pocl.icd TESELA_VENDORS={build}/vendors-sabotage POCL_DEVICES=pthread TESELA_MEMBERS=opencl TESELA_ZERO_COPY=off TESELA_GATES=on */
/* variant: fake FAKE=yes TESELA_VENDORS={build}/vendors-none */
#include "../cuda/cuda_env.h"
#include "../vendor/sabotage.h"
#include "build_folder.h"
#include "driver/fake.h"

#include <dlfcn.h>
#include <stdio.h>
#include <sys/wait.h>

#define SIZE 4096u

static sabotage_lose_fn *lose_vendor;

/* What a kernel of the fake driver's is called like; the others' kernels have the source's text, or the stand-in's. */
static void nothing_body(const struct tsl_fake_run *run)
{
    (void)run;
}

static void begin_fake(void)
{
    struct tsl_fake_setup setup = {.n_members = 2, .threads = true, .seed = 1};

    setup.members[0].gates = setup.members[1].gates = true;
    setup.members[0].domain = setup.members[1].domain = 1;
    tsl_fake_kernel("nothing", nothing_body, 0, NULL, NULL);
    tsl_fake_begin(&setup);
    tsl_members_register_alone(&tsl_fake_driver);
}

static void find_vendor(void)
{
    char path[512];
    void *library;

    snprintf(path, sizeof(path), "%s/tests/sabotage-icd.so", build_folder());
    library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    assert_non_null(library);
    *(void **)&lose_vendor = dlsym(library, "sabotage_lose");
    assert_non_null(lose_vendor);
}

static struct tsl_dprogram *program;

static cl_int build_source(const char *text, struct tsl_dprogram **built)
{
    struct tsl_program_input input = {
        .kind = TSL_PROGRAM_SOURCE, .data = text, .size = strlen(text), .text = text, .text_size = strlen(text)};
    char *log = NULL;
    cl_int error;

    input.options = input.text_options = "";
    error = driver->build(member, &input, built, &log);
    assert_non_null(log);
    free(log);
    return error;
}

static cl_int build_again(struct tsl_dprogram **built)
{
    struct tsl_program_input input = {.kind = TSL_PROGRAM_BINARY, .options = ""};
    void *image = is_standin() ? kernels_image(&input.size) : NULL;
    char *log = NULL;
    cl_int error;

    if (!image)
        return build_source(lose_vendor ? "kernel void nothing() {}\n" : "kernel nothing \n", built);
    input.data = image;
    error = driver->build(member, &input, built, &log);
    assert_non_null(log);
    free(log);
    free(image);
    return error;
}

static void open_one(void)
{
    bool fake = getenv("FAKE") != NULL;

    if (fake)
        begin_fake();
    assert_int_equal(open_members(NULL), CL_SUCCESS);
    find_standin();
    if (!fake && !is_standin())
        find_vendor();
    assert_int_equal(build_again(&program), CL_SUCCESS);
    assert_false(tsl_member_is_lost(member));
}

/* A GPU is lost to a kernel that runs wild; what is given to it before stays on its way until then. */
static void lose_gpu(void)
{
    struct tsl_dkernel *kernel = new_kernel(program, "wild");
    struct tsl_bound_arg arg = VALUE_ARG(uint64_t, 64);
    struct tsl_bound_args args = bind(1, &arg);
    struct tsl_window window = whole(1, 1);
    struct tsl_lane *l = new_lane(false);
    struct tsl_fence *fence;

    standin.stop(true); /* Else it may be lost before the launch returns. */
    assert_int_equal(driver->launch(l, &(struct tsl_launch){kernel, &args, &window}, NULL, &fence), CL_SUCCESS);
    standin.stop(false);
    assert_int_equal(driver->fence_wait(fence), CL_DEVICE_NOT_AVAILABLE);
    tsl_fence_unref(fence);
    driver->lane_free(l);
    driver->kernel_free(kernel);
}

/* The driver may see it with the next call only. */
static void lose_member(void)
{
    struct tsl_mem *none;

    if (is_standin()) {
        lose_gpu();
    } else if (lose_vendor) {
        lose_vendor("clCreateBuffer", 1);
        assert_int_equal(driver->mem_alloc(member, SIZE, 0, NULL, &none), CL_DEVICE_NOT_AVAILABLE);
    } else {
        tsl_fake_lose(0, 0);
        assert_int_equal(driver->mem_alloc(member, SIZE, 0, NULL, &none), CL_DEVICE_NOT_AVAILABLE);
    }
    assert_true(tsl_member_is_lost(member));
    for (unsigned i = 1; i < n_members; i++)
        assert_false(tsl_member_is_lost(members[i]));
}

static void close_all(void)
{
    driver->program_free(program);
    close_members(NULL);
    if (getenv("FAKE")) {
        for (unsigned i = 0; tsl_fake_violation(i); i++)
            fail_msg("%s", tsl_fake_violation(i));
        tsl_fake_end();
    }
    if (is_standin())
        assert_int_equal(standin.violations(), 0);
}

/* ---- What is checked --------------------------------------------------------------------------------------------- */

static void what_is_asked_later_is_refused(void)
{
    struct tsl_mem *mem = new_mem(SIZE), *none = NULL;
    struct tsl_dkernel *kernel = new_kernel(program, "nothing"), *no_kernel = NULL;
    struct tsl_kernel_facts facts;
    struct tsl_bound_args args = bind(0, NULL);
    struct tsl_window window = whole(1, 1);
    struct tsl_dprogram *no_program = NULL;
    struct tsl_fence *fence = NULL;
    struct tsl_lane *no_lane = NULL;
    unsigned char *bytes = aligned_alloc(SIZE, 4 * SIZE); /* whole pages, as host_register wants them */
    void *host;

    memset(bytes, 0, 4 * SIZE);
    lose_member();
    assert_int_equal(put_later(lane, mem, bytes, SIZE, NULL, &fence), CL_DEVICE_NOT_AVAILABLE);
    assert_int_equal(put_later(lane, mem, bytes, SIZE, NULL, NULL), CL_DEVICE_NOT_AVAILABLE);
    assert_int_equal(fill_ints(lane, mem, 1, 16, NULL, &fence), CL_DEVICE_NOT_AVAILABLE);
    assert_int_equal(driver->launch(lane, &(struct tsl_launch){kernel, &args, &window}, NULL, &fence),
                     CL_DEVICE_NOT_AVAILABLE);
    assert_int_equal(driver->launch(lane, &(struct tsl_launch){kernel, &args, &window}, NULL, NULL),
                     CL_DEVICE_NOT_AVAILABLE);
    assert_int_equal(driver->mark(lane, NULL, &fence), CL_DEVICE_NOT_AVAILABLE);
    assert_null(fence);
    assert_int_equal(driver->lane_create(member, true, &no_lane), CL_DEVICE_NOT_AVAILABLE);
    assert_int_equal(driver->mem_alloc(member, SIZE, 0, NULL, &none), CL_DEVICE_NOT_AVAILABLE);
    if (driver->host_alloc)
        assert_int_equal(driver->host_alloc(member, SIZE, &host, &none), CL_DEVICE_NOT_AVAILABLE);
    if (driver->host_register && member->caps.register_from)
        assert_int_equal(driver->host_register(member, bytes, 4 * SIZE, &none), CL_DEVICE_NOT_AVAILABLE);
    if (driver->svm_alloc && member->caps.svm)
        assert_int_equal(
            driver->svm_alloc(member, &(struct tsl_svm_request){CL_MEM_READ_WRITE, SIZE, 64}, &host, &none),
            CL_DEVICE_NOT_AVAILABLE);
    assert_int_equal(build_again(&no_program), CL_DEVICE_NOT_AVAILABLE);
    assert_int_equal(driver->kernel_create(program, "nothing", &no_kernel, &facts), CL_DEVICE_NOT_AVAILABLE);
    assert_true(!no_lane && !none && !no_program && !no_kernel);
    assert_int_equal(driver->finish(lane), CL_DEVICE_NOT_AVAILABLE);
    driver->kernel_free(kernel);
    driver->mem_free(mem);
    free(bytes);
}

/* May be refused; what it gives is freed as ever. */
static void what_may_be_asked_is_done_or_refused(void)
{
    struct tsl_mem *mem = new_mem(SIZE), *part = NULL;
    struct tsl_fence *gate = NULL;
    char *names = NULL;
    size_t size;
    cl_int error;

    lose_member();
    error = driver->mem_sub(mem, 0, SIZE / 2, &part);
    assert_true(error == CL_DEVICE_NOT_AVAILABLE || (!error && part));
    error = driver->program_kernels(program, &names);
    assert_true(error == CL_DEVICE_NOT_AVAILABLE || (!error && names));
    error = driver->flush(lane);
    assert_true(error == CL_DEVICE_NOT_AVAILABLE || !error);
    if (member->caps.gates) {
        error = driver->gate_create(member, &gate);
        assert_true(error == CL_DEVICE_NOT_AVAILABLE || (!error && gate));
    }
    if (gate) {
        error = driver->gate_open(gate, CL_COMPLETE);
        assert_true(error == CL_DEVICE_NOT_AVAILABLE || !error);
        tsl_fence_unref(gate);
    }
    error = driver->info(member->path, CL_DEVICE_NAME, 0, NULL, &size);
    assert_true(error == CL_DEVICE_NOT_AVAILABLE || (!error && size > 0));
    if (part)
        driver->mem_free(part);
    driver->mem_free(mem);
    free(names);
}

/* What had ended well stays so. */
static void what_was_done_stays_done(void)
{
    struct tsl_mem *mem = new_mem(SIZE);
    struct tsl_fence *fence;

    assert_int_equal(fill_ints(lane, mem, 1, 16, NULL, &fence), CL_SUCCESS);
    assert_int_equal(driver->flush(lane), CL_SUCCESS);
    assert_int_equal(driver->fence_wait(fence), CL_COMPLETE);
    lose_member();
    if (!lose_vendor) /* There any call fails, also one that asks. */
        assert_int_equal(driver->fence_wait(fence), CL_COMPLETE);
    tsl_fence_unref(fence);
    driver->mem_free(mem);
}

/* What is held behind a gate ends after that, with the one error, and is told once. */
static void what_waits_ends_after_what_it_waits_for(void)
{
    struct tsl_mem *mem = new_mem(SIZE);
    struct tsl_fence *gate, *held;
    struct tsl_waits waits = {.n = 1, .fences = &gate};
    struct told told = {0};

    if (member->caps.gates && !lose_vendor) {
        gate = new_gate();
        assert_int_equal(fill_ints(lane, mem, 2, 16, &waits, &held), CL_SUCCESS);
        assert_int_equal(driver->fence_notify(held, tell_test, &told), CL_SUCCESS);
        assert_int_equal(driver->flush(lane), CL_SUCCESS);
        lose_member();
        usleep(20000);
        assert_true(driver->fence_status(held) > CL_COMPLETE);
        assert_int_equal(told.n, 0);
        assert_int_equal(driver->gate_open(gate, CL_COMPLETE), CL_SUCCESS);
        assert_int_equal(driver->fence_wait(held), CL_DEVICE_NOT_AVAILABLE);
        wait_until_told(&told);
        assert_int_equal(told.status, CL_DEVICE_NOT_AVAILABLE);
        assert_int_equal(driver->fence_status(held), CL_DEVICE_NOT_AVAILABLE);
        assert_int_equal(driver->finish(lane), CL_DEVICE_NOT_AVAILABLE);
        tsl_fence_unref(gate);
        tsl_fence_unref(held);
    }
    driver->mem_free(mem);
}

#define N_PENDING 40
#define BIG       ((size_t)1 << 20)

/* Much is on its way in two lanes, with fences and without: each piece ends, well or with the one error, and what is
 * told as done is; nothing writes to the host's memory once finish has returned. */
static void what_is_on_its_way_ends(void)
{
    struct tsl_mem *mem = new_mem(BIG);
    struct tsl_lane *lanes[2] = {lane, new_lane(false)};
    struct tsl_fence *fences[N_PENDING];
    unsigned char *bytes = calloc(N_PENDING, BIG);
    struct told told[N_PENDING] = {{0}};
    cl_int error;

    assert_int_equal(fill_ints(lane, mem, 0x07070707, BIG / 4, NULL, NULL), CL_SUCCESS);
    finish(lane);
    if (is_standin())
        standin.stop(true);
    for (unsigned i = 0; i < N_PENDING; i++) {
        assert_int_equal(get_later(lanes[i % 2], mem, bytes + i * BIG, BIG, NULL, i % 3 ? &fences[i] : NULL),
                         CL_SUCCESS);
        if (i % 3 && !lose_vendor)
            assert_int_equal(driver->fence_notify(fences[i], tell_test, &told[i]), CL_SUCCESS);
    }
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(driver->flush(lanes[i]), CL_SUCCESS);
    lose_member();
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(driver->finish(lanes[i]), CL_DEVICE_NOT_AVAILABLE);
    for (unsigned i = 0; i < N_PENDING; i++) {
        if (i % 3 == 0)
            continue;
        error = driver->fence_wait(fences[i]);
        assert_true(error == CL_DEVICE_NOT_AVAILABLE || error == CL_COMPLETE);
        for (size_t k = 0; error == CL_COMPLETE && k < BIG; k++)
            assert_int_equal(bytes[i * BIG + k], 7);
        if (!lose_vendor) {
            wait_until_told(&told[i]);
            assert_int_equal(told[i].status, error);
        }
        tsl_fence_unref(fences[i]);
    }
    free(bytes); /* A sanitizer would tell of whoever writes there. */
    driver->lane_free(lanes[1]);
    driver->mem_free(mem);
}

/* The other member, where there is one, works as before. */
static void another_member_goes_on(void)
{
    struct tsl_lane *l;
    struct tsl_mem *mem;
    int value = 0;

    lose_member();
    if (n_members < 2)
        return;
    assert_int_equal(driver->lane_create(members[1], false, &l), CL_SUCCESS);
    assert_int_equal(driver->mem_alloc(members[1], 64, 0, NULL, &mem), CL_SUCCESS);
    assert_int_equal(fill_ints(l, mem, 9, 16, NULL, NULL), CL_SUCCESS);
    assert_int_equal(get_later(l, mem, &value, 4, NULL, NULL), CL_SUCCESS);
    finish(l);
    assert_int_equal(value, 9);
    assert_false(tsl_member_is_lost(members[1]));
    driver->mem_free(mem);
    driver->lane_free(l);
}

/* Bytes begin … begin + size - 1 are filled by the other member. */
static cl_int fill_by_other(struct tsl_lane *l, struct tsl_mem *mem, size_t begin, size_t size)
{
    struct tsl_fill fill = {{.mem = mem, .offset = begin}, {size, 1, 1}, "", 1};
    struct tsl_fence *fence;
    cl_int error = driver->fill(l, &fill, NULL, &fence);

    if (error)
        return error;
    assert_int_equal(driver->flush(l), CL_SUCCESS);
    error = driver->fence_wait(fence);
    tsl_fence_unref(fence);
    return error;
}

/* Of memory over both members the lost one's part is gone. The other's part isn't. */
static void its_part_of_spread_memory_is_lost(void)
{
    size_t granule = member->caps.domain_granule, sizes[2] = {granule, granule};
    struct tsl_mem *mems[2], *none[2] = {NULL, NULL};
    struct tsl_lane *l;
    unsigned full;

    if (n_members < 2 || !member->caps.domain || member->caps.domain != members[1]->caps.domain) {
        lose_member();
        return;
    }
    assert_int_equal(driver->lane_create(members[1], false, &l), CL_SUCCESS);
    assert_int_equal(driver->spread_alloc(&(struct tsl_spread_request){2, members, sizes}, mems, &full), CL_SUCCESS);
    assert_int_equal(fill_by_other(l, mems[1], 0, 2 * granule), CL_COMPLETE);
    lose_member();
    assert_int_equal(driver->spread_alloc(&(struct tsl_spread_request){2, members, sizes}, none, &full),
                     CL_DEVICE_NOT_AVAILABLE);
    assert_true(!none[0] && !none[1]);
    assert_true(fill_by_other(l, mems[1], granule - 1, 2) < 0);
    assert_int_equal(fill_by_other(l, mems[1], granule, granule), CL_COMPLETE);
    assert_false(tsl_member_is_lost(members[1]));
    driver->mem_free(mems[0]);
    driver->mem_free(mems[1]);
    driver->lane_free(l);
}

/* ---- Each in a process of its own -------------------------------------------------------------------------------- */

static void in_this_process(void **state)
{
    void (*test)(void) = *state;

    open_one();
    test();
    close_all();
}

static void in_child(void **state)
{
    void (*test)(void) = *state;
    int status;
    pid_t child = fork();

    assert_return_code(child, 0);
    if (child == 0) {
        const struct CMUnitTest one = {"in a process of its own", in_this_process, NULL, NULL, (void *)test};

        _exit(_cmocka_run_group_tests("child", &one, 1, NULL, NULL));
    }
    assert_return_code(waitpid(child, &status, 0), 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
#define IN_CHILD(test)                            \
    {                                             \
#test, in_child, NULL, NULL, (void *)test \
    }
    const struct CMUnitTest tests[] = {
        IN_CHILD(what_is_asked_later_is_refused),    IN_CHILD(what_may_be_asked_is_done_or_refused),
        IN_CHILD(what_was_done_stays_done),          IN_CHILD(what_waits_ends_after_what_it_waits_for),
        IN_CHILD(what_is_on_its_way_ends),           IN_CHILD(another_member_goes_on),
        IN_CHILD(its_part_of_spread_memory_is_lost),
    };

    return cmocka_run_group_tests_name("lost members", tests, NULL, NULL);
}
