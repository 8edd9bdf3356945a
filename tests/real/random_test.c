/* The random programs of tests/sim on real members, through the loader: the same generator, the same judge. */
/* timeout: 300 */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl TESELA_POLICY=round-robin SIM_PROGRAMS=60 */
/* variant: oclgrind TESELA_VENDORS={build}/vendors-pocl-oclgrind POCL_DEVICES=pthread TESELA_MEMBERS=opencl TESELA_POLICY=round-robin SIM_PROGRAMS=20 */
/* any: SIM_PROGRAMS=100 */
#include "sim.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

static void test_programs(void **state)
{
    const char *command = getenv("SIM_COMMAND");
    struct sim_hunt hunt = {.seed = 90000,
                            .n = strtoul(getenv("SIM_PROGRAMS"), NULL, 10),
                            .first_only = true,
                            .seconds = 120,
                            .command = command ? command : "build/tests/sim_real",
                            .like = {.threads = true},
                            .set = SIM_CHOOSE_FAILURES | SIM_CHOOSE_MEMORY};
    char *text;

    (void)state;
    if (sim_hunt(&hunt, &text, NULL)) {
        fprintf(stderr, "%s\n", text);
        fail();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_programs)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
