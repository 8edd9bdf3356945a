/*
 * Models on disk: one file, "models-3", in the cache folder, shared by the user's processes. Versioned by its name and
 * first bytes; written aside and renamed into place; safe to delete or to damage at any time, and then learned anew.
 */
#ifndef TSL_PLACE_MODEL_FILE_H
#define TSL_PLACE_MODEL_FILE_H

#include "base/bytes.h"
#include "place/model.h"

/* The model of this process that is kept in that folder (an absolute path), read at the first call; a new reference.
 * Later calls, whatever the folder, give the same one. folder NULL: a model of its own, which isn't kept. NULL without
 * memory. May block on the disk: under no lock of the core. */
struct tsl_model *tsl_model_kept(const char *folder);

/* Is there something to keep that isn't on disk, and has that been so for long enough? For any thread, at any time. */
bool tsl_model_is_due(struct tsl_model *model, uint64_t now_ns);
/* Writes it, with what other processes wrote meanwhile; only logs failure. Nothing where nothing is new or the model
 * isn't kept. Blocks on the disk: under no lock of the core. */
void tsl_model_keep(struct tsl_model *model, uint64_t now_ns);

/* The process ends: the same for its model, if nobody is at it. Blocks on the disk. */
void tsl_model_keep_at_exit(void);

/* Reads the file into the model, where that doesn't know better; false: there is none, or it is damaged or not to be
 * trusted. Writes it. For tsl_model_keep and tests. */
bool tsl_model_read(struct tsl_model *model, const char *folder);
bool tsl_model_write(struct tsl_model *model, const char *folder);

/* The file's bytes (also with what a fuzzer makes of them). Decoding as tsl_model_read; encoding appends to the writer,
 * which says whether there was memory. */
bool tsl_model_decode(struct tsl_model *model, const void *data, size_t size);
void tsl_model_encode(struct tsl_model *model, struct tsl_writer *writer);

/* Tests only: the process forgets its model; whoever has references keeps them. */
void tsl_model_forget(void);

#endif
