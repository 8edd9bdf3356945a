/*
 * Program binaries (CL_PROGRAM_BINARIES): a container with what each member's driver gave.
 *
 * Version 1, little-endian:
 *   "TSLAPROG"  8 bytes
 *   u32 version
 *   u32 number of entries
 *   u64 sum of all bytes after this field (FNV-1a)
 *   entries: u32 kind, blob contents
 * Kinds unknown to a reader are passed over. Contents of kind 1, the binary of one member:
 *   text driver, text driver version, text device name, u8 has UUID, 16 bytes UUID (0 where there is none),
 *   u32 type of the binary (CL_PROGRAM_BINARY_TYPE_…), blob the driver's own binary, u8 launches may have remainders,
 *   u8 made of the text (these lack in older ones: no)
 * Contents of kind 2, at most one: the text of the program, of which some members' binaries were made as it stands, and
 * its build options. Our compiler reads again what such kernels do to their arguments, and makes the text for windows.
 *   text source, text options
 * Blobs and texts as in base/bytes.h. No source is in it where no member wants that.
 */
#ifndef TSL_PROGRAM_CONTAINER_H
#define TSL_PROGRAM_CONTAINER_H

#include "base/bytes.h"
#include "driver/driver.h"

/* The one entry of a container that a member wants. Points into the container. */
struct tsl_container_entry {
    cl_program_binary_type type;
    const void *binary;
    size_t size;
    bool non_uniform; /* launches may have remainders */
    bool of_text;     /* it was made of the container's text, and of nothing else */
};

/* Writing: begin, add each member's binary, end. Failures are kept in writer->failed. */
void tsl_container_begin(struct tsl_writer *writer);
void tsl_container_add(struct tsl_writer *writer, const struct tsl_path *path, const struct tsl_container_entry *entry);
/* Once at most. */
void tsl_container_add_text(struct tsl_writer *writer, const char *source, const char *options);
void tsl_container_end(struct tsl_writer *writer);

/* Do the data begin like a container, whole or not? Other data may be a vendor's own binary. */
bool tsl_container_is(const void *data, size_t size);

/* Finds the binary that this path's driver made, in the same version, for the same device. False: there is none, or the
 * data are no container or a damaged one (*damaged). Safe on any bytes. */
bool tsl_container_find(const void *data, size_t size, const struct tsl_path *path, struct tsl_container_entry *entry,
                        bool *damaged);

/* The text and its options, both heap. False: there is none, or the data are damaged, or no memory. Safe on any bytes.
 */
bool tsl_container_text(const void *data, size_t size, char **source, char **options);

#endif
