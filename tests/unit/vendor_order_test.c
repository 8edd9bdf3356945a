/* In which order vendors are opened and asked. */
#include "members/members.h"

#include "build_folder.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Two vendors that are unlike by their files. */
static void write_vendors(const char *folder)
{
    char command[1024];

    snprintf(
        command, sizeof(command),
        "library=$(cat '%s/vendors-order/order.icd') && cd '%s' && cp \"$library\" a.so && cp \"$library\" b.so && "
        "echo \"$PWD/a.so\" > a.icd && echo \"$PWD/b.so\" > b.icd",
        build_folder(), folder);
    assert_int_equal(system(command), 0);
}

static void all_are_opened_before_the_first_is_asked(void **state)
{
    char folder[] = "/tmp/tesela-order-XXXXXX", command[128];

    (void)state;
    assert_non_null(mkdtemp(folder));
    write_vendors(folder);
    setenv("TESELA_VENDORS", folder, 1);
    setenv("TESELA_MEMBERS", "opencl", 1);
    tsl_members_probe();
    assert_string_equal(getenv("VENDOR_ORDER"), "opened opened asked asked ");
    tsl_members_reset();
    snprintf(command, sizeof(command), "rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_are_opened_before_the_first_is_asked)};

    return cmocka_run_group_tests_name("vendor order", tests, NULL, NULL);
}
