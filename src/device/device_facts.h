/*
 * What the virtual device reports where that depends on its members. docs/user/limits.md has the rules for users.
 */
#ifndef TSL_DEVICE_DEVICE_FACTS_H
#define TSL_DEVICE_DEVICE_FACTS_H

#include "base/info.h"
#include "driver/driver.h"

/* Rows of the table of numbers, see numbers.c. */
#define TSL_MAX_DEVICE_NUMBERS 112

/* Made once from the members, constant afterwards. */
struct tsl_device_facts {
    unsigned n_members; /* the members that count: the fastest alone with TESELA_LIMITS=fastest */
    bool in_place; /* no member has copies of its own of what the host has; of all members, whatever TESELA_LIMITS is */
    cl_device_type type;                      /* one bit, and not DEFAULT, which is for requests alone */
    cl_ulong numbers[TSL_MAX_DEVICE_NUMBERS]; /* one for each row of the table */
    size_t work_item_sizes[3];                /* CL_DEVICE_MAX_WORK_ITEM_SIZES */
    cl_version version;                       /* of OpenCL */
    cl_version c_version;                     /* the newest fully backwards compatible OpenCL C */
    struct tsl_names *extensions, *c_versions, *c_features;
    struct tsl_names *built_ins;                                    /* kernels of at least one member */
    struct tsl_names *ils;                                          /* intermediate languages of at least one member */
    cl_uchar uuid[CL_UUID_SIZE_KHR], driver_uuid[CL_UUID_SIZE_KHR]; /* computed from the members', always the same */
    char driver_version[32]; /* Tesela's, and a number computed from the members and their drivers */
    bool has_pci;            /* all members are at one PCI address */
    cl_device_pci_bus_info_khr pci;
};

/* Names with versions, in a stable order. */
struct tsl_names {
    unsigned n;
    cl_name_version items[];
};

/* Asks the members' drivers: may block, not under a lock of ours. NULL when out of memory. */
struct tsl_device_facts *tsl_device_facts_create(struct tsl_member *const *members, unsigned n);
void tsl_device_facts_destroy(struct tsl_device_facts *facts); /* NULL allowed */

/* The members with a compiler, or all if none has one. The language for programs of source depends on these; the others
 * run prebuilt binaries (docs/user/fpga.md). some: an array of n. Returns how many. Calls the drivers. */
unsigned tsl_members_that_compile(struct tsl_member *const *members, unsigned n, struct tsl_member **some);

/* The one of the greatest speed, the first of equals; n > 0. */
unsigned tsl_fastest_member(struct tsl_member *const *members, unsigned n);

/* numbers.c: the table of numbers. fixed: the answer doesn't depend on the members. */
struct tsl_number_row;
const struct tsl_number_row *tsl_number_row(cl_device_info param); /* NULL: not one of the numbers */
bool tsl_number_fixed(const struct tsl_number_row *row, cl_ulong *value);
cl_ulong tsl_number_value(const struct tsl_number_row *row, const struct tsl_device_facts *facts);
cl_int tsl_number_answer(const struct tsl_number_row *row, cl_ulong value, const struct tsl_info *info);
void tsl_numbers_fill(struct tsl_device_facts *facts, struct tsl_member *const *members, unsigned n);

/* names.c: versions, extensions and features. Returns false when out of memory. */
bool tsl_names_fill(struct tsl_device_facts *facts, struct tsl_member *const *members, unsigned n);
/* A member's built-in kernels, separated by ';' (heap); NULL: none, or unknown. Calls the driver. */
char *tsl_names_built_ins(const struct tsl_member *member);
/* Does the member take an intermediate language that we know? Calls the driver. */
bool tsl_names_takes_il(const struct tsl_member *member);
/* identity.c: UUIDs and PCI address. Before tsl_names_fill. Returns false when out of memory. */
bool tsl_identity_fill(struct tsl_device_facts *facts, struct tsl_member *const *members, unsigned n);
/* The names separated by blanks (or another character), or the array of cl_name_version. */
cl_int tsl_names_answer_text(const struct tsl_names *names, char separator, const struct tsl_info *info);
cl_int tsl_names_answer_ils(const struct tsl_names *names,
                            const struct tsl_info *info); /* as "SPIR-V_1.0 SPIR-V_1.2" */
cl_int tsl_names_answer_versions(const struct tsl_names *names, const struct tsl_info *info);

#endif
