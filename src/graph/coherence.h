/*
 * TESELA_CHECK=coherence: are copies that the directory calls valid really equal?
 *
 * After each command, the memory objects that it names are looked at. Each range of them that has several valid copies
 * gets operations: one for each copy reads the range's bytes into scratch memory, and a last one (TSL_OP_CHECK)
 * compares these. They are ordinary operations with edges, so they come after what was scheduled before and before what
 * is scheduled later, and a copy that a failed operation should have written is not compared. The command fails if two
 * copies differ.
 *
 * Not looked at are the host's bytes of a piece of which something is mapped for writing, and fine-grained shared
 * memory: the application may write there at any time.
 *
 * Under the graph's lock, where nothing else is said.
 */
#ifndef TSL_GRAPH_COHERENCE_H
#define TSL_GRAPH_COHERENCE_H

#include <CL/cl.h>
#include <stdint.h>

struct tsl_check;
struct tsl_checks;
struct tsl_command;
struct tsl_data;
struct tsl_graph;
struct tsl_op;
struct tsl_writers;

/* At most so many bytes are compared by one operation, in each copy. A multiple of all pixels' sizes. Tests change it.
 */
extern uint64_t tsl_coherence_piece;

/* A graph with that check; NULL without memory. Without the lock. */
struct tsl_checks *tsl_coherence_create(void);
/* All of the graph's commands are complete. NULL allowed. */
void tsl_coherence_destroy(struct tsl_checks *checks);

/* Checks, once the command is done, the objects that it names. The command has been planned. */
void tsl_coherence_plan(struct tsl_command *command);
/* The command may write there: a message will name it. */
void tsl_coherence_note_write(struct tsl_command *command, struct tsl_data *data, uint64_t begin, uint64_t end);
/* The object ends. NULL allowed. */
void tsl_coherence_forget(struct tsl_writers *writers);

/* The work of an operation TSL_OP_CHECK. CL_OUT_OF_RESOURCES: copies differ; the first difference was told. Without the
 * lock, by the thread that drains the host's port. */
cl_int tsl_coherence_compare(struct tsl_op *op);
/* The operation goes. NULL allowed. */
void tsl_coherence_end(struct tsl_check *check);

#endif
