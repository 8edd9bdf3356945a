/*
 * What the library and the kernel-compiler process say to each other (docs/dev/kernels.md, "The compiler's wire").
 *
 * One stream socket, messages one after the other in both directions. A message is a header of 24 bytes and a body:
 *   u32 magic "TSLK"   u32 version   u32 type   u32 body size (bytes)   u64 request
 * All numbers are little-endian; texts and blobs as in base/bytes.h. The version is that of the whole format: each side
 * begins with HELLO, in version 1 for ever, and from then on both speak the highest version that both know. Version 7
 * is the only one that this library knows beside that HELLO. A reply has the number of the request that it answers;
 * replies may come in any order. A body may not be longer than its type's limit, and is read to its last byte: trailing
 * bytes are an error, as additions come with a new version.
 *
 * Neither side trusts the other: the compiler may be dying while it writes, the library may be a newer one. Every
 * decode function is safe on any bytes, allocates no more than a small constant times the message's length, and leaves
 * nothing to free when it returns false. After a message that can't be decoded the stream is of no more use.
 */
#ifndef TSL_COMPILE_CLIENT_WIRE_H
#define TSL_COMPILE_CLIENT_WIRE_H

#include "base/bytes.h"
#include "facts/kernel_facts.h"

#define TSL_WIRE_MAGIC         0x4b4c5354u /* "TSLK" */
#define TSL_WIRE_VERSION       10u
#define TSL_WIRE_HELLO_VERSION 1u
#define TSL_WIRE_HEADER_SIZE   24u

/* Limits: of bytes, and of counts for which the receiver allocates tables. */
#define TSL_WIRE_MAX_HELLO   4096u
#define TSL_WIRE_MAX_BUILD   (256u << 20)
#define TSL_WIRE_MAX_BUILT   (256u << 20)
#define TSL_WIRE_MAX_ERROR   (1u << 20)
#define TSL_WIRE_MAX_HEADERS 4096u
#define TSL_WIRE_MAX_INPUTS  4096u
#define TSL_WIRE_MAX_FILES   65536u
#define TSL_WIRE_MAX_KERNELS 65536u
#define TSL_WIRE_MAX_ARGS    4096u
#define TSL_WIRE_MAX_KNOWN   4096u

enum tsl_wire_type {
    TSL_WIRE_HELLO = 1, /* both: struct tsl_wire_hello; first message of each side, request 0 */
    TSL_WIRE_BUILD = 2, /* library: struct tsl_wire_build */
    TSL_WIRE_BUILT = 3, /* compiler: struct tsl_wire_built; also when the program has errors */
    TSL_WIRE_ERROR = 4, /* compiler: struct tsl_wire_error; the request could not be worked on */
};

/* ---- Framing ----------------------------------------------------------------------------------------------------- */

struct tsl_wire_header {
    uint32_t version;
    enum tsl_wire_type type;
    uint32_t body_size; /* bytes */
    uint64_t request;
};

enum tsl_wire_frame {
    TSL_WIRE_WHOLE,   /* the message is there: header and body_size bytes */
    TSL_WIRE_PARTIAL, /* more must be received first (the header is set if it is there: body_size is not 0) */
    TSL_WIRE_BROKEN,  /* not a message of ours, or too long */
};

/* Looks at the bytes received so far. */
enum tsl_wire_frame tsl_wire_look(const void *data, size_t size, struct tsl_wire_header *header);

/* A message begins with the header and ends with its body's length. Encode functions below do both. */
void tsl_wire_begin(struct tsl_writer *writer, enum tsl_wire_type type, uint64_t request);
void tsl_wire_end(struct tsl_writer *writer);

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

struct tsl_wire_hello {
    uint32_t lowest, highest; /* versions of this format that the sender speaks */
    char *name;               /* program and version, for messages: "tesela-kc 0.1.0 (LLVM 19.1.4)" */
};

/* What the artefact is to be. */
enum tsl_wire_target {
    TSL_WIRE_FACTS, /* none: the facts alone */
    TSL_WIRE_CPU,   /* a shared object of work-group functions */
    TSL_WIRE_PTX,
    /* No artefact. What kernels do to their arguments, whichever compiler builds them: only the facts' access bits,
     * kinds, names and footprints count. A source that isn't the same for any compiler gives no kernels, nor does one
     * with errors; the log says why. A whole build, without headers. */
    TSL_WIRE_ACCESS,
    /* The same of a text made of the source, which is the artefact: without directives and macros, and with parameters
     * for kernels that ask for more of a launch than global ids (compile_client/window_text.h). It is for any compiler,
     * with the options that tsl_build_options_plain leaves. No artefact: it can't be made; the log says why. */
    TSL_WIRE_WINDOWS,
    TSL_WIRE_LAST_TARGET = TSL_WIRE_WINDOWS,
};

enum tsl_wire_action {
    TSL_WIRE_WHOLE_BUILD, /* of source or IL: the artefact is the target's */
    TSL_WIRE_COMPILE,     /* of source, with headers, or of IL: the artefact can be linked */
    TSL_WIRE_LINK,        /* of inputs: the target's; with -create-library in the options, one that can be linked */
    TSL_WIRE_LAST_ACTION = TSL_WIRE_LINK,
};

struct tsl_wire_text {
    char *name; /* of the header, as #include names it */
    char *text;
};

struct tsl_wire_input {
    const void *data; /* an artefact that can be linked; borrowed from the message when decoded */
    size_t size;
};

/* An argument of the kernel that is known: a sampler, or what an image's format says of its struct tsl_kc_image. */
struct tsl_wire_known {
    uint32_t arg;     /* its number */
    uint32_t sampler; /* TSL_KC_SAMPLER_ bits; of an image 0 */
    uint32_t channel_order, channel_type, element_size, n_channels, kind, alpha; /* of a sampler 0 */
};

struct tsl_wire_build {
    enum tsl_wire_action action;
    enum tsl_wire_target target;
    char *processor;  /* "sm_90", "x86-64-v3"; NULL: any */
    char *options;    /* as the application gave them */
    char *folder;     /* where relative paths of the options and of #include begin; NULL: nothing is relative */
    char *source;     /* OpenCL C, with its prelude; "" for a link, and of IL */
    char *translator; /* for IL: the path of the SPIR-V translator (tsl_compile_translator); NULL: the program is
                         source */
    const void *il;   /* SPIR-V, with the values of its specialization constants; borrowed from the message when
                         decoded */
    size_t il_size;
    char *kernel;           /* only this one; NULL: all */
    uint64_t local_size[3]; /* specialised on; 0 0 0: for any */
    uint32_t n_known;       /* specialised on; only with a kernel */
    struct tsl_wire_known *known;
    uint32_t n_headers;
    struct tsl_wire_text *headers;
    uint32_t n_inputs;
    struct tsl_wire_input *inputs;
};

/* A file that was included, or was looked for and missing. The result may differ if its contents change, or if it
 * appears. */
struct tsl_wire_file {
    char *path;
    uint64_t size, sum; /* tsl_bytes_sum of its contents */
};

#define TSL_WIRE_NO_FILE UINT64_MAX /* as its size */

/* One kernel of a program. */
struct tsl_wire_kernel {
    struct tsl_kernel_facts facts; /* with its footprint, if that is known */
};

struct tsl_wire_built {
    cl_int result;        /* CL_SUCCESS or CL_BUILD_PROGRAM_FAILURE …: what clBuildProgram returns */
    char *log;            /* never NULL after decoding */
    const void *artefact; /* borrowed from the message when decoded */
    size_t artefact_size;
    uint32_t n_kernels;
    struct tsl_wire_kernel *kernels;
    uint32_t n_files;
    struct tsl_wire_file *files;
};

struct tsl_wire_error {
    cl_int error;
    char *text;
};

/* Whole messages, header included, into a writer (which may hold earlier ones). Failures stay in writer->failed. */
void tsl_wire_encode_hello(struct tsl_writer *writer, const struct tsl_wire_hello *hello);
void tsl_wire_encode_build(struct tsl_writer *writer, uint64_t request, const struct tsl_wire_build *build);
void tsl_wire_encode_built(struct tsl_writer *writer, uint64_t request, const struct tsl_wire_built *built);
void tsl_wire_encode_error(struct tsl_writer *writer, uint64_t request, const struct tsl_wire_error *error);

/* Bodies. True: the structure is the caller's to finish. */
bool tsl_wire_decode_hello(const void *body, size_t size, struct tsl_wire_hello *hello);
bool tsl_wire_decode_build(const void *body, size_t size, struct tsl_wire_build *build);
bool tsl_wire_decode_built(const void *body, size_t size, struct tsl_wire_built *built);
bool tsl_wire_decode_error(const void *body, size_t size, struct tsl_wire_error *error);

void tsl_wire_hello_finish(struct tsl_wire_hello *hello);
void tsl_wire_build_finish(struct tsl_wire_build *build);
void tsl_wire_built_finish(struct tsl_wire_built *built);
void tsl_wire_error_finish(struct tsl_wire_error *error);

/* The facts alone, encoded as in BUILT: also what is kept on disk beside artefacts. decode: false leaves nothing to
 * finish. */
void tsl_wire_put_facts(struct tsl_writer *writer, const struct tsl_kernel_facts *facts);
bool tsl_wire_get_facts(struct tsl_reader *reader, struct tsl_kernel_facts *facts);

#endif
