/* A node whose members are the fake driver's, for tests: it tells, when it ends, what broke the contract. */
#include "driver/fake.h"
#include "members/members.h"
#include "node/node_main.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct tsl_fake_setup setup = {.n_members = 2, .threads = true, .seed = 1};

    /* One with gates and one without: programs see gates on both. */
    setup.members[0].gates = true;
    setup.members[0].peer = setup.members[1].peer = true;
    tsl_fake_begin(&setup);
    tsl_members_register_alone(&tsl_fake_driver);
    node_main(argc, argv);
    for (unsigned i = 0; tsl_fake_violation(i); i++)
        fprintf(stderr, "fake node: violation: %s\n", tsl_fake_violation(i));
    fflush(NULL);
    _exit(0);
}
