/*
 * The machine that fuzzers of the API run on: three fake members, one thread, virtual time. What happens next is chosen
 * by bytes of the input.
 */
#include "machine.h"

#include "device/device.h"
#include "driver/fake.h"
#include "handle/object.h"
#include "jobs.h"
#include "members/members.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct fuzz_input *in;

bool fuzz_step(void)
{
    return jobs_run(0) || tsl_fake_step(fuzz_byte(in));
}

_Noreturn void fuzz_finding(const char *what, const char *more)
{
    fprintf(stderr, "%s: %s\n", what, more ? more : "");
    abort();
}

static void block(void)
{
    if (!fuzz_step())
        fuzz_finding("a call hangs", tsl_fake_stuck());
}

static bool meanwhile(void *arg)
{
    (void)arg;
    return jobs_run(0);
}

static const struct tsl_simulation simulation = {.posted = jobs_posted, .block = block};

static void add_body(const struct tsl_fake_run *run)
{
    unsigned char *bytes = run->args[0].ptr;
    for (size_t i = 0; bytes && i < run->args[0].size; i++)
        bytes[i]++;
}

static void mix_body(const struct tsl_fake_run *run)
{
    const unsigned char *from = run->args[0].ptr;
    unsigned char *to = run->args[1].ptr;
    for (size_t i = 0; from && to && i < run->args[0].size && i < run->args[1].size; i++)
        to[i] = (unsigned char)(to[i] ^ from[i]);
}

void fuzz_machine_begin(struct fuzz_input *input)
{
    in = input;
    struct tsl_fake_setup setup = {.n_members = 3, .in_time = true, .on_block = meanwhile};
    setup.members[0] = (struct tsl_fake_member){
        .gates = true, .images = true, .memory_size = 64 << 10, .delay_ns = 10, .il = "SPIR-V_1.0", .svm = true};
    setup.members[1] = (struct tsl_fake_member){.submits_block = true, .memory_size = 32 << 10, .built_ins = "add;mix"};
    setup.members[2] = (struct tsl_fake_member){
        .gates = true, .images = true, .memory_size = 48 << 10, .zero_copy = true, .svm = true};
    jobs_forget();
    tsl_simulation = &simulation;
    static const enum tsl_fact_kind kinds[] = {TSL_FACT_GLOBAL, TSL_FACT_GLOBAL, TSL_FACT_VALUE, TSL_FACT_LOCAL};
    tsl_fake_kernel("add", add_body, 1, kinds, (const unsigned[]){TSL_MAY_READ | TSL_MAY_WRITE});
    tsl_fake_kernel("mix", mix_body, 4, kinds, (const unsigned[]){TSL_MAY_READ, TSL_MAY_WRITE, 0, 0});
    static const enum tsl_fact_kind any[] = {TSL_FACT_UNKNOWN, TSL_FACT_UNKNOWN}; /* also images */
    tsl_fake_kernel("blur", mix_body, 2, any, (const unsigned[]){TSL_MAY_READ, TSL_MAY_READ | TSL_MAY_WRITE});
    tsl_fake_begin(&setup);
    tsl_members_register_alone(&tsl_fake_driver);
}

void fuzz_machine_end(void)
{
    while (fuzz_step())
        continue;
    if (tsl_fake_busy())
        fuzz_finding("work is left that can't run", tsl_fake_stuck());
    if (tsl_object_live(TSL_CONTEXT))
        fuzz_finding("a context is left", NULL);
    tsl_fake_check_end();
    if (tsl_fake_violation(0))
        fuzz_finding("the driver's contract was broken", tsl_fake_violation(0));
    tsl_members_reset();
    tsl_device_forget();
    tsl_fake_end();
    tsl_simulation = NULL;
}
