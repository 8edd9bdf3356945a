/* What `tesela info` says, asked of a process of its own: a vendor's library may crash, and holds devices once it is
 * loaded. */
#ifndef TSL_TOOL_ASK_INFO_H
#define TSL_TOOL_ASK_INFO_H

#include "tool/child.h"

#include <cjson/cJSON.h>

/* Seconds that vendors may take to tell of their devices. */
#define TSL_INFO_LIMIT_S 60

/* settings: "NAME=VALUE" for that process, ends with NULL; NULL: none. What it writes to standard error stays in the
 * file "info-errors" of the scratch folder. result: how it ended. NULL: it told nothing, or was stopped. */
cJSON *tsl_ask_info(const char *scratch, const char *const *settings, struct tsl_child_result *result);

#endif
