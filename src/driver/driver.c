#include "driver/driver.h"

#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Takes the operation as a truth value, so that operations of any type fit. */
static void require(const struct tsl_driver *driver, bool there, const char *operation)
{
    if (there)
        return;
    fprintf(stderr, "tesela: driver %s lacks the operation %s\n", driver->name ? driver->name : "without a name",
            operation);
    abort();
}

#define REQUIRE(operation) require(driver, driver->operation, #operation)

void tsl_driver_check(const struct tsl_driver *driver)
{
    REQUIRE(name);
    REQUIRE(probe);
    REQUIRE(open);
    REQUIRE(close);
    REQUIRE(info);
    REQUIRE(lane_create);
    REQUIRE(lane_free);
    REQUIRE(flush);
    REQUIRE(finish);
    REQUIRE(mem_alloc);
    REQUIRE(mem_sub);
    REQUIRE(mem_free);
    require(driver, !driver->image_formats == !driver->image_alloc, "image_formats or image_alloc");
    require(driver, !driver->image_of == !driver->image_alloc, "image_of or image_alloc");
    require(driver, !driver->svm_reaches == !driver->svm_alloc, "svm_reaches or svm_alloc");
    REQUIRE(can_copy_peer);
    REQUIRE(copy);
    REQUIRE(fill);
    require(driver, !driver->combine == !driver->can_combine, "combine or can_combine");
    REQUIRE(launch);
    REQUIRE(mark);
    REQUIRE(fence_status);
    REQUIRE(fence_wait);
    REQUIRE(fence_notify);
    REQUIRE(fence_times);
    REQUIRE(fence_free);
    REQUIRE(can_wait);
    REQUIRE(gate_create);
    REQUIRE(gate_open);
    REQUIRE(build);
    REQUIRE(program_binary);
    REQUIRE(program_free);
    REQUIRE(program_kernels);
    REQUIRE(kernel_create);
    REQUIRE(kernel_free);
    REQUIRE(windows_ok);
}

void tsl_member_lose(struct tsl_member *member, const char *why)
{
    char *copy = why && !tsl_member_is_lost(member) ? strdup(why) : NULL, *none = NULL;

    if (!atomic_compare_exchange_strong(&member->lost_why, &none, copy))
        free(copy);
    if (!atomic_exchange(&member->lost, true) && why)
        tsl_log(TSL_LOG_IN_DRIVER, TSL_LOG_ERROR, "%s (%s) is lost: %s. What was on it fails; other members go on",
                member->path->id, member->path->device_name, why);
}
