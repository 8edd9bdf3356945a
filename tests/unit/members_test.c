/* The registry: which paths are found, which of them serve, and what it says about the others. */
/* variant: best POCL_DEVICES="basic pthread" */
/* variant: none TESELA_VENDORS={build}/vendors-none */
/* variant: named POCL_DEVICES="basic pthread" TESELA_MEMBERS="opencl, mine, no such thing" */
/* variant: one POCL_DEVICES="basic pthread" TESELA_MEMBERS=OCLGRIND */
#include "driver/host.h"
#include "driver/report.h"
#include "members/choose.h"
#include "members/members.h"

#include "base/settings.h"
#include "test.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Choosing, on made-up paths ---------------------------------------------------------------------------------- */

static struct tsl_found row(const char *id, const char *platform, const char *device, int preference)
{
    struct tsl_found r = {.path = {.driver = tsl_host_member()->driver, .preference = preference}};

    snprintf(r.path.id, sizeof(r.path.id), "%s", id);
    r.path.platform_name = (char *)platform;
    r.path.device_name = (char *)device;
    return r;
}

static void choose(struct tsl_found *rows, unsigned n, const char *item, bool *matched)
{
    char *items[] = {(char *)item};

    tsl_choose(rows, n, items, item ? 1 : 0, matched);
}

static void forget(struct tsl_found *rows, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        free(rows[i].why_not);
        rows[i].why_not = NULL;
    }
}

static void each_device_serves_once_by_its_best_path(void **state)
{
    struct tsl_found rows[] = {
        row("opencl:0.0", "A", "basic", 15), row("opencl:0.1", "A", "pthread", 30), row("opencl:1.0", "B", "gpu", 20),
        row("opencl:2.0", "C", "sim", 1),    row("cuda:0", "D", "same gpu", 40),    row("cuda:1", "D", "other gpu", 40),
    };

    (void)state;
    rows[0].path.identity.is_host_cpu = rows[1].path.identity.is_host_cpu = rows[3].path.identity.is_host_cpu = true;
    rows[2].path.identity = rows[4].path.identity = (struct tsl_identity){.has_pci = true, .pci_bus = 3};
    rows[5].path.identity = (struct tsl_identity){.has_pci = true, .pci_bus = 4};
    choose(rows, 6, NULL, NULL);
    assert_false(rows[0].used || rows[2].used || rows[3].used);
    assert_true(rows[1].used && rows[4].used && rows[5].used);
    assert_non_null(strstr(rows[0].why_not, "opencl:0.1"));
    assert_non_null(strstr(rows[2].why_not, "cuda:0"));
    assert_null(rows[1].why_not);
    forget(rows, 6);
}

/* Whoever wants vendors' OpenCL for the processors may go on with the GPU by CUDA. What is told names the setting. */
static void drivers_of_ours_come_before_vendors_unless_a_setting_turns_that(void **state)
{
    struct tsl_found rows[] = {row("opencl:0.0", "A", "pthread", 30),
                               row("opencl:1.0", "B", "gpu", 20),
                               row("opencl:2.0", "C", "sim", 1),
                               row("opencl:3.0", "E", "fpga", 20),
                               row("cuda:0", "D", "same gpu", TSL_OWN_FIRST),
                               row("cpu", "T", "cores", TSL_OWN_FIRST)};
    struct tsl_path *cpu = &rows[5].path;

    (void)state;
    rows[0].path.identity.is_host_cpu = rows[2].path.identity.is_host_cpu = cpu->identity.is_host_cpu = true;
    rows[1].path.identity = rows[4].path.identity = (struct tsl_identity){.has_pci = true, .pci_bus = 3};
    rows[4].path.exclusive = true;
    cpu->turned_by = "CPU=opencl";
    choose(rows, 6, NULL, NULL);
    assert_true(rows[5].used && rows[4].used && rows[3].used);
    assert_false(rows[0].used || rows[1].used || rows[2].used);
    assert_string_equal(rows[0].why_not, "the same device is used as cpu (cores); CPU=opencl has this one serve, "
                                         "TESELA_MEMBERS can name both");
    assert_string_equal(rows[2].why_not, "the same device is used as cpu (cores); TESELA_MEMBERS can name both");
    assert_string_equal(rows[1].why_not,
                        "the same device is used as cuda:0 (same gpu); TESELA_MEMBERS can name this one alone");
    forget(rows, 6);
    cpu->preference = TSL_OWN_LAST;
    choose(rows, 6, NULL, NULL);
    assert_true(rows[0].used && rows[4].used && rows[3].used);
    assert_false(rows[1].used || rows[2].used || rows[5].used);
    assert_string_equal(rows[5].why_not,
                        "the same device is used as opencl:0.0 (pthread); CPU=opencl prefers vendors' OpenCL, "
                        "TESELA_MEMBERS can name both");
    assert_string_equal(rows[2].why_not,
                        "the same device is used as opencl:0.0 (pthread); TESELA_MEMBERS can name both");
    forget(rows, 6);
}

/* Also where TESELA_MEMBERS names both: the two must never be active on one GPU. */
static void paths_that_stand_no_other_serve_alone(void **state)
{
    struct tsl_found rows[] = {row("opencl:0.0", "NVIDIA CUDA", "H200", 20), row("opencl:1.0", "sim", "cpu", 1),
                               row("cuda:0", "CUDA", "H200", 40), row("opencl:1.1", "sim", "other cpu", 2)};
    bool matched = false;

    (void)state;
    rows[0].path.identity = rows[2].path.identity = (struct tsl_identity){.has_pci = true, .pci_bus = 3};
    rows[1].path.identity.is_host_cpu = rows[3].path.identity.is_host_cpu = true;
    rows[2].path.exclusive = true;
    for (int turned = 0; turned < 2; turned++) {
        rows[2].path.preference = turned ? 5 : 40;
        choose(rows, 4, "H200", &matched);
        assert_true(rows[turned ? 0 : 2].used && !rows[turned ? 2 : 0].used);
        assert_non_null(strstr(rows[turned ? 2 : 0].why_not, turned ? "opencl:0.0" : "cuda:0"));
        forget(rows, 4);
        choose(rows, 4, "opencl", &matched);
        assert_true(rows[0].used && rows[1].used && !rows[2].used && rows[3].used);
        forget(rows, 4);
    }
}

static void unusable_paths_do_not_stand_in_the_way(void **state)
{
    struct tsl_found rows[] = {row("opencl:0.0", "A", "best", 30), row("opencl:1.0", "B", "good", 10)};

    (void)state;
    rows[0].path.identity.is_host_cpu = rows[1].path.identity.is_host_cpu = true;
    rows[0].path.why_not = (char *)"its byte order is not the host's";
    choose(rows, 2, NULL, NULL);
    assert_false(rows[0].used);
    assert_string_equal(rows[0].why_not, "its byte order is not the host's");
    assert_true(rows[1].used);
    forget(rows, 2);
}

/* Named as in TESELA_MEMBERS; the last item that fits counts. */
static void bounds_are_found_by_name(void **state)
{
    const struct tsl_found rows[] = {row("opencl:0.0", "A", "big cpu", 1), row("cpu", "T", "cores", 1),
                                     row("cuda:0", "N", "H200", 1)};
    const struct tsl_memory_bound items[] = {
        {(char *)"H200", 5}, {(char *)"cpu", 7}, {(char *)"cuda", 9}, {(char *)"none", 1}};
    uint64_t bounds[3];
    bool matched[4];

    (void)state;
    tsl_choose_bounds(rows, 3, items, 4, bounds, matched);
    assert_int_equal(bounds[0], 0);
    assert_int_equal(bounds[1], 7);
    assert_int_equal(bounds[2], 9);
    assert_true(matched[0] && matched[1] && matched[2] && !matched[3]);
}

static void identities_are_compared_as_far_as_they_are_known(void **state)
{
    struct tsl_found a = row("a:0", "A", "x", 0), b = row("b:0", "B", "y", 0);

    (void)state;
    assert_false(tsl_same_device(&a.path, &b.path));
    a.path.identity = (struct tsl_identity){.has_uuid = true, .uuid = {1}};
    b.path.identity = (struct tsl_identity){.has_uuid = true, .uuid = {1}};
    assert_true(tsl_same_device(&a.path, &b.path));
    b.path.identity.uuid[0] = 2;
    assert_false(tsl_same_device(&a.path, &b.path));
    /* Two vendors may make up UUIDs each in its way: the address decides. */
    a.path.identity.has_pci = b.path.identity.has_pci = true;
    assert_true(tsl_same_device(&a.path, &b.path));
    /* But slices of one GPU, of one vendor, differ in nothing else. */
    b.path.platform_name = (char *)"A";
    assert_false(tsl_same_device(&a.path, &b.path));
}

static void names_choose_by_id_and_by_part_of_a_name(void **state)
{
    enum { N = 4 };
    struct tsl_found rows[N] = {row("opencl:0.0", "Portable", "basic fake", 1), row("opencl:1.0", "rusticl", "pipe", 1),
                                row("opencl:10.0", "fake", "Oclgrind", 1), row("fake:0", "Made", "up", 1)};
    static const struct {
        const char *item;
        bool used[N], matched;
    } cases[] = {
        {"opencl", {true, true, true, false}, true},     {"opencl:1", {false, true, false, false}, true},
        {"opencl:", {true, true, true, false}, true},    {"OPENCL:1.0", {false, true, false, false}, true},
        {"PORTABLE", {true, false, false, false}, true}, {"oclgrind", {false, false, true, false}, true},
        {"pencl", {false, false, false, false}, false},  {"i", {true, true, true, false}, true},
        {"fake", {false, false, false, true}, true},     {"fak", {true, false, true, false}, true},
    };

    (void)state;
    for (unsigned i = 0; i < N; i++)
        rows[i].path.identity.is_host_cpu = true;
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        bool matched = false;

        choose(rows, N, cases[c].item, &matched);
        for (unsigned i = 0; i < N; i++) {
            assert_int_equal(rows[i].used, cases[c].used[i]);
            assert_int_equal(rows[i].why_not == NULL, rows[i].used);
        }
        assert_int_equal(matched, cases[c].matched);
        forget(rows, N);
    }
}

static void no_more_members_than_fit(void **state)
{
    struct tsl_found rows[TSL_MAX_MEMBERS + 1];
    unsigned n = TSL_MAX_MEMBERS + 1;

    (void)state;
    for (unsigned i = 0; i < n; i++)
        rows[i] = row("x:0", "X", "x", 0);
    choose(rows, n, NULL, NULL);
    assert_true(rows[n - 2].used);
    assert_false(rows[n - 1].used);
    assert_non_null(rows[n - 1].why_not);
    forget(rows, n);
}

/* ---- The registry, with drivers of the test's own ---------------------------------------------------------------- */

static struct tsl_driver mine;
static cl_int open_error;
static unsigned n_closed, n_probes;
static const struct tsl_found_list *from_inside;

static cl_int my_probe(tsl_found_fn *found, void *arg)
{
    n_probes++;
    from_inside = tsl_members_probe();
    for (int i = 0; i < 2; i++) {
        struct tsl_path path = {.driver = &mine, .type = CL_DEVICE_TYPE_GPU};

        snprintf(path.id, sizeof(path.id), "mine:%d", i);
        path.platform_name = strdup("mine");
        path.device_name = strdup("opencl-less"); /* so that TESELA_MEMBERS=opencl takes it too */
        path.driver_version = strdup("1");
        found(arg, &path);
    }
    tsl_driver_report_problem("%s is %d", "something", 1);
    return CL_SUCCESS;
}

static cl_int my_open(const struct tsl_path *path, struct tsl_member **member)
{
    unsigned n = 1;

    if (!strcmp(path->id, "mine:0"))
        return open_error;
    tsl_members_open(&n);
    assert_int_equal(n, 0);
    *member = calloc(1, sizeof(**member));
    assert_non_null(*member);
    (*member)->driver = &mine;
    (*member)->path = path;
    return CL_SUCCESS;
}

static void my_close(struct tsl_member *member)
{
    n_closed++;
    free(member);
}

static int register_mine(void **state)
{
    (void)state;
    mine = *tsl_host_member()->driver;
    mine.name = "mine";
    mine.probe = my_probe;
    mine.open = my_open;
    mine.close = my_close;
    tsl_members_reset();
    tsl_members_register(&mine);
    open_error = CL_OUT_OF_RESOURCES;
    n_closed = n_probes = 0;
    return 0;
}

static int reset(void **state)
{
    (void)state;
    tsl_members_reset();
    return 0;
}

static const struct tsl_found *find(const struct tsl_found_list *list, const char *id)
{
    for (unsigned i = 0; i < list->n; i++)
        if (!strcmp(list->rows[i].path.id, id))
            return &list->rows[i];
    fail_msg("there is no path %s", id);
    return NULL;
}

static bool says(const struct tsl_found_list *list, const char *part)
{
    for (unsigned i = 0; i < list->n_problems; i++)
        if (strstr(list->problems[i].sentence, part))
            return true;
    return false;
}

static void a_member_that_does_not_open_is_left_out(void **state)
{
    const struct tsl_found_list *list = tsl_members_probe();
    struct tsl_member *const *members, *const *again;
    unsigned n, n_again, n_used = 0;

    (void)state;
    if (tsl_settings()->n_members && strcmp(tsl_settings()->members[0], "opencl")) {
        assert_false(find(list, "mine:0")->used);
        return;
    }
    members = tsl_members_open(&n);
    assert_false(find(list, "mine:0")->used);
    assert_non_null(strstr(find(list, "mine:0")->why_not, "-5"));
    assert_true(find(list, "mine:1")->used);
    for (unsigned i = 0; i < list->n; i++)
        n_used += list->rows[i].used;
    assert_int_equal(n, n_used);
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(members[i]->index, i);
    assert_ptr_equal(members[n - 1], find(list, "mine:1")->member);
    again = tsl_members_open(&n_again);
    assert_ptr_equal(again, members);
    assert_int_equal(n_again, n);
    tsl_members_reset();
    assert_int_equal(n_closed, 1);
}

static void who_asks_from_inside_a_probe_gets_an_empty_list(void **state)
{
    const struct tsl_found_list *list = tsl_members_probe();

    (void)state;
    assert_int_equal(from_inside->n, 0);
    assert_int_equal(from_inside->n_problems, 1);
    assert_ptr_not_equal(from_inside, list);
    assert_true(says(list, "something is 1"));
}

static void *probe_in_thread(void *result)
{
    *(const struct tsl_found_list **)result = tsl_members_probe();
    return NULL;
}

static void several_threads_probe_once(void **state)
{
    const struct tsl_found_list *lists[4];
    pthread_t threads[4];

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, probe_in_thread, &lists[i]), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < 4; i++)
        assert_ptr_equal(lists[i], lists[0]);
    assert_int_equal(n_probes, 1);
}

static int exit_status(pid_t child)
{
    int status;

    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void a_forked_child_has_no_members(void **state)
{
    pid_t child;
    unsigned n;

    (void)state;
    tsl_members_open(&n);
    child = fork();
    if (!child) {
        const struct tsl_found_list *list = tsl_members_probe();

        tsl_members_open(&n);
        _exit(list->n == 0 && list->n_problems == 1 && n == 0 ? 0 : 1);
    }
    assert_int_equal(exit_status(child), 0);
}

/* ---- Discovery of real vendors ----------------------------------------------------------------------------------- */

static const struct tsl_found *of_device(const struct tsl_found_list *list, const char *platform, const char *device)
{
    for (unsigned i = 0; i < list->n; i++)
        if (strstr(list->rows[i].path.platform_name, platform) && strstr(list->rows[i].path.device_name, device))
            return &list->rows[i];
    return NULL;
}

static void vendors_are_found_in_the_order_of_their_files(const struct tsl_found_list *list)
{
    const struct tsl_found *oclgrind = of_device(list, "Oclgrind", ""), *basic = of_device(list, "Portable", "basic");
    const struct tsl_found *pthread = of_device(list, "Portable", "pthread"), *rusticl = of_device(list, "rusticl", "");

    assert_true(oclgrind && basic && pthread && rusticl);
    assert_string_equal(oclgrind->path.id, "opencl:0.0");
    assert_string_equal(basic->path.id, "opencl:1.0");
    assert_string_equal(pthread->path.id, "opencl:1.1");
    assert_string_equal(rusticl->path.id, "opencl:2.0");
    for (unsigned i = 0; i < list->n; i++)
        assert_true(list->rows[i].path.identity.is_host_cpu);
}

static void real_vendors_serve_as_the_settings_say(void **state)
{
    const struct tsl_settings *settings = tsl_settings();
    const struct tsl_found_list *list = tsl_members_probe();
    unsigned n;

    (void)state;
    tsl_members_open(&n);
    if (strstr(settings->vendors, "vendors-none")) {
        assert_int_equal(n, 0);
        assert_int_equal(list->n, 0);
        assert_true(says(list, "no .icd file"));
        return;
    }
    vendors_are_found_in_the_order_of_their_files(list);
    if (!settings->n_members) {
        assert_int_equal(n, 1);
        assert_true(of_device(list, "Portable", "pthread")->used);
        assert_non_null(strstr(of_device(list, "Oclgrind", "")->why_not, "opencl:1.1"));
    } else if (settings->n_members == 3) {
        assert_int_equal(n, 4);
        assert_true(says(list, "\"no such thing\""));
        assert_false(says(list, "\"opencl\""));
    } else {
        assert_int_equal(n, 1);
        assert_true(of_device(list, "Oclgrind", "")->used);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_device_serves_once_by_its_best_path),
        cmocka_unit_test(drivers_of_ours_come_before_vendors_unless_a_setting_turns_that),
        cmocka_unit_test(paths_that_stand_no_other_serve_alone),
        cmocka_unit_test(unusable_paths_do_not_stand_in_the_way),
        cmocka_unit_test(bounds_are_found_by_name),
        cmocka_unit_test(identities_are_compared_as_far_as_they_are_known),
        cmocka_unit_test(names_choose_by_id_and_by_part_of_a_name),
        cmocka_unit_test(no_more_members_than_fit),
        cmocka_unit_test_setup_teardown(real_vendors_serve_as_the_settings_say, NULL, reset),
        cmocka_unit_test_setup_teardown(a_member_that_does_not_open_is_left_out, register_mine, reset),
        cmocka_unit_test_setup_teardown(who_asks_from_inside_a_probe_gets_an_empty_list, register_mine, reset),
        cmocka_unit_test_setup_teardown(several_threads_probe_once, register_mine, reset),
        cmocka_unit_test_setup_teardown(a_forked_child_has_no_members, register_mine, reset),
        /* Again, after all was forgotten: the libraries are still loaded. */
        cmocka_unit_test_setup_teardown(real_vendors_serve_as_the_settings_say, NULL, reset),
    };

    return cmocka_run_group_tests_name("members", tests, NULL, NULL);
}
