/*
 * The contents of `tesela info` as JSON, in the form that --json prints:
 *
 *   version    text
 *   members    array in member order: index; path (the id that TESELA_MEMBERS takes), device, platform, driver_version,
 *              type ("CPU", "GPU", "accelerator", "custom"), memory_size (bytes), max_alloc_size (bytes),
 *              compute_units; numa_node, if it is on one node or next to one; zero_copy, speed; used_memory_size
 *              (bytes: less than memory_size under TESELA_MEMORY)
 *
 *   left_out   array: path ... numa_node as above, and why (a sentence)
 *
 *   problems   array: what (a sentence about a vendor that can't be loaded, or the like), kind (a word of enum
 *              tsl_trouble), needless (true: what lacks is of no use on this machine)
 *
 *   compiler   path, why (a sentence: it doesn't work; "": it does), kind (a word of enum tsl_client_lack)
 *
 *   variants   array of what TESELA_VARIANTS names: variant, kernel, members (text), implementation ("OpenCL C",
 *              "code", "function"), file, why (a sentence: of no use; "": none)
 *
 *   settings   object: a variable's name -> value (text, "" for none), set (true: by the environment)
 */
#ifndef TSL_TOOL_INFO_DATA_H
#define TSL_TOOL_INFO_DATA_H

#include "compile_client/client.h"
#include "driver/report.h"

#include <cjson/cJSON.h>

/* Probes and opens all members, as a context would. The caller deletes the object; NULL: no memory. */
cJSON *tsl_info_gather(void);

/* The kind of a row of problems. */
enum tsl_trouble tsl_info_trouble(const cJSON *problem);

/* What the compiler lacks. */
enum tsl_client_lack tsl_info_lack(const cJSON *info);

#endif
