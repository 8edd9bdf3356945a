/* Jobs of WINDOWS_BY and SUBSTITUTE, and what they have of other jobs'. */
#ifndef TSL_NODE_OTHER_CODE_H
#define TSL_NODE_OTHER_CODE_H

#include "driver/program.h"
#include "remote/protocol.h"

#include <stdbool.h>
#include <stddef.h>

struct node_job;

/* In the crew. */
void node_answer_windows_by(struct node_job *job);
void node_answer_substitute(struct node_job *job);
/* In the server's thread, when it is answered. */
void node_end_windows_by(struct node_job *job);

/* jobs.c: what the request is about, as it says it or as it was said before. False: job->status tells why not. The
 * bytes are the job's, for its life. */
bool node_take_bytes(struct node_job *job, const void **bytes, size_t *size);
/* The same, as a content that is read into the request. */
bool node_take_content(struct node_job *job);
struct tsl_program_input node_input_of(const struct tsl_remote_build *build);

#endif
