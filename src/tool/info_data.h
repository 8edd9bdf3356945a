/*
 * The contents of `tesela info` as JSON, in the form that --json prints:
 *
 *   version    text
 *   members    array in member order: index; path (the id that TESELA_MEMBERS takes), device, platform, driver_version,
 *              type ("CPU", "GPU", "accelerator", "custom"), memory_size (bytes), max_alloc_size (bytes),
 *              compute_units; numa_node, if it is on one node or next to one; zero_copy, speed; used_memory_size
 * (bytes: less than memory_size under TESELA_MEMORY) left_out   array: path ... numa_node as above, and why (a
 * sentence) problems   array of sentences about vendors that can't be loaded variants   array of what TESELA_VARIANTS
 * names: variant, kernel, members (text), implementation ("OpenCL C", "code", "function"), file, why (a sentence: of no
 * use; "": none) settings   object: a variable's name -> value (text,
 * "" for none), set (true: by the environment)
 */
#ifndef TSL_TOOL_INFO_DATA_H
#define TSL_TOOL_INFO_DATA_H

#include <cjson/cJSON.h>

/* Probes and opens all members, as a context would. The caller deletes the object; NULL: no memory. */
cJSON *tsl_info_gather(void);

#endif
