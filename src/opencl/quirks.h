/*
 * What is known about single vendors, in one table: how they differ from what the specification promises, and which of
 * several paths to one device is the best. docs/user/vendors.md tells where each row was seen.
 */
#ifndef TSL_OPENCL_QUIRKS_H
#define TSL_OPENCL_QUIRKS_H

#include <stdbool.h>

struct tsl_opencl_quirks {
    /* The work is done inside the submitting or flushing call, or the vendor can't take two calls at once. The driver
     * then makes one call at a time and finishes each submission before it returns; there are no gates. */
    bool synchronous;
    /* A command that is enqueued when an event of its wait list has failed already never completes. */
    bool failed_wait_hangs;
    /* Event callbacks don't come for commands that fail. */
    bool silent_failures;
    /* Callbacks are told of success also when the command has failed. */
    bool lying_callbacks;
    /* With -cl-kernel-arg-info its own assembler refuses kernels without arguments. */
    bool arg_info_fails;
    /* No gates: it can't be told when work behind a gate that was opened with an error has failed, or that failure
     * breaks the vendor itself. */
    bool no_gates;
    /* clFinish doesn't wait for what was flushed before. */
    bool finish_forgets;
    /* The times of events are no times. */
    bool no_times;
    /* CL_KERNEL_WORK_GROUP_SIZE is less than what launches take, which is the device's maximum. It stays what programs
     * are told, if it is large enough for them. */
    bool small_groups;
    /* The compiler dies of build options with a blank inside quotes. */
    bool no_quotes;
    /* The compiler takes a word that is no option for a file, and dies when there is none. */
    bool files_kill;
    /* Compiling a program that uses another program's variable stops the process. */
    bool extern_kills;
    /* Compiling a program with samplers of both kinds, constants and arguments, stops the process. */
    bool sampler_mix_kills;
    /* It keeps thread-local records of the calls it is in, which are gone when a thread ends, the main one's before the
     * application's static objects release theirs. So nothing is released but from a call that makes or runs something.
     */
    bool no_late_calls;
    /* Its loader of program binaries ends the process over bytes that aren't its own. */
    bool own_binaries;
    /* It names built-in kernels that it can't build. */
    bool no_builtins;
    /* Bytes that are copied from a 1D array to an image of another type go to a wrong place, maybe beyond the image. */
    bool arrays_stray;
    /* Copies between a 1D array and a buffer are refused; those between one and an image of another type are right for
     * single rows alone. */
    bool array_rows;
    /* Refuses slice pitches of the host's memory that are no multiples of the row pitch. */
    bool slices_of_rows;
    /* Asked for a program's kernels, in whatever way, it writes beyond its own memory where their names are some
     * hundred bytes long. They are looked for in its binary, which is PTX (names.c). */
    bool names_overflow;
    /* What CL_KERNEL_ATTRIBUTES answers isn't a string. */
    bool no_attributes;
    /* Its memory is the host's, and it works in place on what CL_MEM_USE_HOST_PTR names. Tried before it is believed.
     */
    bool shares_memory;
    /* What kernels read and write as our kernel compiler sees it was compared with what they wrote when this vendor's
     * compiler had made them (tests/layer/roles_layer.h, natively): there was no difference. */
    bool access_holds;
    int preference; /* struct tsl_path.preference */
    double speed;   /* factor on the rough speed estimate */
};

/* By the names of platform and device. */
struct tsl_opencl_quirks tsl_opencl_quirks(const char *platform_name, const char *device_name);

/* Is a vendor's environment variable set now that adds to the options of every build, or puts something else in the
 * place of headers, libraries or code? Then a text may not be compiled as the program says. */
bool tsl_opencl_is_changed(void);

#endif
