/*
 * TESELA_CONFIG: which devices to use, in the Controller's form (Alonso 2023, listing 4.1). One file for many machines;
 * only the lines after this machine's NODE count:
 *
 *     NODE <name> [host_numa_node]
 *     CUDA <device>
 *     OpenCL_GPU <platform> <device>
 *     CPU <threads> <first_numa>-<last_numa> <transfers>
 *     FPGA <platform> <device> <exec_mode>
 *
 * The order of the lines is the order of the members. Each line CPU is a group of processors that is a member of its
 * own. Words may be written in capitals or not; what follows a # is a remark. Platforms and devices are numbered as in
 * `tesela info` (opencl:PLATFORM.DEVICE). A line that can't be understood is told with file and line, and left out.
 */
#ifndef TSL_DRIVER_CONFIG_H
#define TSL_DRIVER_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

enum tsl_config_kind { TSL_CONFIG_CUDA, TSL_CONFIG_GPU, TSL_CONFIG_CPU, TSL_CONFIG_FPGA };

struct tsl_config_device {
    enum tsl_config_kind kind;
    unsigned line;
    char id[32];                               /* of the path that is meant: "cuda:0", "opencl:1.0", "cpu", "cpu:1" */
    char exec_mode[32];                        /* FPGA: part of the names of its binaries */
    unsigned n_threads, first_numa, last_numa; /* CPU */
    bool transfers;                            /* CPU: copies of its own; else it works on the host's */
};

struct tsl_config {
    bool found;    /* there is a NODE of this machine; else everything is as without a file */
    int host_numa; /* the node on which the host's side stays; -1: anywhere */
    size_t n;
    struct tsl_config_device *devices; /* heap */
};

/* Sentences for the user, one call for each. */
typedef void tsl_config_say_fn(void *arg, const char *sentence);

/* text: the file's contents; name: the file's, for sentences; host: this machine's name (a NODE may leave out what
 * follows its first dot). Pure. Memory that runs out loses devices, and is told. */
void tsl_config_parse(struct tsl_config *config, const char *text, const char *name, const char *host,
                      tsl_config_say_fn *say, void *arg);
void tsl_config_finish(struct tsl_config *config);
/* How many lines CPU there are. */
unsigned tsl_config_count_cpus(const struct tsl_config *config);

/* That of TESELA_CONFIG, read once in the process, never NULL; the first caller hears the sentences. May block on the
 * disk. */
const struct tsl_config *tsl_config_get(tsl_config_say_fn *say, void *arg);

#endif
