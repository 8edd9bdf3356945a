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
#include <stdbool.h>
#include <stddef.h>
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

/* A graph with checks; NULL without memory. all: of the copies of all objects, after each command; else of what callers
 * ask for alone (tsl_coherence_plan_pair). Without the lock. */
struct tsl_checks *tsl_coherence_create(bool all);
/* All of the graph's commands are complete. NULL allowed. */
void tsl_coherence_destroy(struct tsl_checks *checks);

/* Checks, once the command is done, the objects that it names. The command has been planned. */
void tsl_coherence_plan(struct tsl_command *command);
/* The command may write there: a message will name it. */
void tsl_coherence_note_write(struct tsl_command *command, struct tsl_data *data, uint64_t begin, uint64_t end);
/* The object ends. NULL allowed. */
void tsl_coherence_forget(struct tsl_writers *writers);

/* A box of bytes of an object, as two copies of it have it. */
struct tsl_compared {
    struct tsl_data *data; /* the object */
    uint64_t offset;       /* of the box in it */
    size_t region[3];      /* as of a copy */
    size_t row_pitch, slice_pitch;
    const char *a, *b; /* NULL: that copy could not be read */
};

/* Compares; without the lock, by the thread that drains the host's port. A negative status is the command's failure. */
typedef cl_int tsl_compare_fn(struct tsl_command *command, const struct tsl_compared *what);

/* The object as the command leaves it, and another one of the same size as it will be in that space: box by box they
 * are given to the function, in the order of bytes, where the object was ever written. False: no memory for some. */
bool tsl_coherence_plan_pair(struct tsl_command *command, struct tsl_data *data, struct tsl_data *other, unsigned space,
                             tsl_compare_fn *compare);

/* The work of an operation TSL_OP_CHECK. CL_OUT_OF_RESOURCES: copies differ; the first difference was told. Without the
 * lock, by the thread that drains the host's port. */
cl_int tsl_coherence_compare(struct tsl_op *op);
/* The operation goes. NULL allowed. */
void tsl_coherence_end(struct tsl_check *check);

#endif
