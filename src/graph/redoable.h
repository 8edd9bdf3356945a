/* Launches whose shares may be done again (redo.h): those cut exactly and in place, until they are complete, or
 * somebody is to write what they were given. Under the graph's lock. */
#ifndef TSL_GRAPH_REDOABLE_H
#define TSL_GRAPH_REDOABLE_H

#include <stdbool.h>

struct tsl_command;
struct tsl_data;

/* The launch has been planned. */
void tsl_redoable_begin(struct tsl_command *command);
/* It is complete. Nothing for other commands. */
void tsl_redoable_end(struct tsl_command *command);
/* The command may write the object. */
void tsl_redoable_note_write(const struct tsl_command *command, const struct tsl_data *data);
/* Was the launch given the object? */
bool tsl_redoable_names(const struct tsl_command *command, const struct tsl_data *data);

#endif
