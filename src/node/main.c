#include "node/node_main.h"

#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int status = node_main(argc, argv);

    fflush(NULL);
    _exit(status);
}
