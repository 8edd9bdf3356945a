/* The page of `tesela report` as far as it is plain HTML: its head, tables, and the frame of its lanes. */
#ifndef TSL_TOOL_REPORT_BODY_H
#define TSL_TOOL_REPORT_BODY_H

#include "tool/report_data.h"

/* Text in which nothing is taken for HTML. */
void tsl_page_put_text(FILE *out, const char *text);

void tsl_page_put_title(const struct tsl_page *page, FILE *out);

/* trace: the file's name as the user gave it. */
void tsl_page_put_body(const struct tsl_page *page, const char *trace, FILE *out);

/* What went wrong, by the number of OpenCL's error: "CL_OUT_OF_RESOURCES", or "error -1234" in text. */
const char *tsl_page_error_name(int error, char text[24]);

#endif
