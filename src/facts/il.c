/*
 * Reads specialization constants out of SPIR-V (specification 1.6, 2.3 and 3): a header of five words, then
 * instructions. An instruction's first word holds its length in words and its opcode. Words may be in either byte
 * order.
 */
#include "facts/il.h"

#include <byteswap.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAGIC = 0x07230203,
    HEADER_WORDS = 5,
    OP_TYPE_BOOL = 20,
    OP_TYPE_INT = 21,
    OP_TYPE_FLOAT = 22,
    OP_SPEC_CONSTANT_TRUE = 48,
    OP_SPEC_CONSTANT_FALSE = 49,
    OP_SPEC_CONSTANT = 50,
    OP_DECORATE = 71,
    DECORATION_SPEC_ID = 1
};

struct module {
    const unsigned char *data;
    size_t n_words;
    bool swapped;
};

/* An instruction: its words begin at `at`, the first included. */
struct instruction {
    size_t at;
    unsigned op, n_words;
};

static uint32_t word(const struct module *module, size_t i)
{
    uint32_t value;

    memcpy(&value, module->data + i * sizeof value, sizeof value);
    return module->swapped ? bswap_32(value) : value;
}

static struct module module_of(const void *data, size_t size)
{
    struct module module = {.data = data, .n_words = size / sizeof(uint32_t)};

    module.swapped = word(&module, 0) != MAGIC;
    return module;
}

bool tsl_il_is(const void *module, size_t size)
{
    uint32_t first;

    if (!module || size < HEADER_WORDS * sizeof first || size % sizeof first)
        return false;
    memcpy(&first, module, sizeof first);
    return first == MAGIC || first == bswap_32(MAGIC);
}

/* The instruction behind this one (at 0: the first). False at the end, or where the rest is malformed. */
static bool next(const struct module *module, struct instruction *in)
{
    uint32_t first;

    in->at = in->at ? in->at + in->n_words : HEADER_WORDS;
    if (in->at >= module->n_words)
        return false;
    first = word(module, in->at);
    in->op = first & 0xffff;
    in->n_words = first >> 16;
    return in->n_words && in->n_words <= module->n_words - in->at;
}

/* The first instruction with an opcode in [from, to], of more than `place` words, whose word `place` is value. */
static bool find(const struct module *module, unsigned from, unsigned to, unsigned place, uint32_t value,
                 struct instruction *in)
{
    *in = (struct instruction){.at = 0};
    while (next(module, in))
        if (in->op >= from && in->op <= to && in->n_words > place && word(module, in->at + place) == value)
            return true;
    return false;
}

/* Bytes of a value of the type; 0: constants can't have this type. */
static size_t size_of_type(const struct module *module, uint32_t type)
{
    struct instruction in;
    uint32_t bits;

    if (!find(module, OP_TYPE_BOOL, OP_TYPE_FLOAT, 1, type, &in))
        return 0;
    if (in.op == OP_TYPE_BOOL)
        return sizeof(cl_uchar);
    bits = in.n_words > 2 ? word(module, in.at + 2) : 0;
    return bits == 8 || bits == 16 || bits == 32 || bits == 64 ? bits / 8 : 0;
}

/* Bytes of the constant with this result id; 0: there is no such constant. */
static size_t size_of_constant(const struct module *module, uint32_t result)
{
    struct instruction in;

    if (!find(module, OP_SPEC_CONSTANT_TRUE, OP_SPEC_CONSTANT, 2, result, &in))
        return 0;
    return in.op == OP_SPEC_CONSTANT ? size_of_type(module, word(module, in.at + 1)) : sizeof(cl_uchar);
}

static struct tsl_il_constant *find_constant(const struct tsl_il *il, cl_uint id)
{
    for (unsigned i = 0; i < il->n_constants; i++)
        if (il->constants[i].special.id == id)
            return &il->constants[i];
    return NULL;
}

/* False without memory. */
static bool add_constant(struct tsl_il *il, cl_uint id, size_t size)
{
    struct tsl_il_constant *more = realloc(il->constants, (il->n_constants + 1) * sizeof *more);

    if (!more)
        return false;
    il->constants = more;
    more[il->n_constants++] = (struct tsl_il_constant){.special = {.id = id, .size = size}};
    return true;
}

/* Adds the constant that "OpDecorate result SpecId id" names. */
static bool read_constants(struct tsl_il *il)
{
    const struct module module = module_of(il->module, il->size);
    struct instruction in = {.at = 0};

    while (next(&module, &in)) {
        size_t size;
        cl_uint id;

        if (in.op != OP_DECORATE || in.n_words < 4 || word(&module, in.at + 2) != DECORATION_SPEC_ID)
            continue;
        id = word(&module, in.at + 3);
        size = size_of_constant(&module, word(&module, in.at + 1));
        if (size && !find_constant(il, id) && !add_constant(il, id, size))
            return false;
    }
    return true;
}

struct tsl_il *tsl_il_create(const void *module, size_t size)
{
    struct tsl_il *il = calloc(1, sizeof *il);

    if (!il)
        return NULL;
    il->module = malloc(size);
    il->size = size;
    if (il->module) {
        memcpy(il->module, module, size);
        if (read_constants(il))
            return il;
    }
    tsl_il_destroy(il);
    return NULL;
}

void tsl_il_destroy(struct tsl_il *il)
{
    if (!il)
        return;
    free(il->module);
    free(il->constants);
    free(il);
}

cl_int tsl_il_set(struct tsl_il *il, cl_uint id, size_t size, const void *value)
{
    struct tsl_il_constant *constant = find_constant(il, id);

    if (!constant)
        return CL_INVALID_SPEC_ID;
    if (!value || size != constant->special.size)
        return CL_INVALID_VALUE;
    constant->special.value = 0;
    memcpy(&constant->special.value, value, size);
    constant->is_set = true;
    return CL_SUCCESS;
}

struct tsl_program_special *tsl_il_specials(const struct tsl_il *il, unsigned *n)
{
    struct tsl_program_special *specials = calloc(il->n_constants + 1, sizeof *specials);

    *n = 0;
    for (unsigned i = 0; specials && i < il->n_constants; i++)
        if (il->constants[i].is_set)
            specials[(*n)++] = il->constants[i].special;
    return specials;
}

/* ---- Values in place --------------------------------------------------------------------------------------------- */

/* A copy of the words in this machine's byte order. */
static uint32_t *words_of(const struct module *module)
{
    uint32_t *words = malloc(module->n_words * sizeof *words);

    for (size_t i = 0; words && i < module->n_words; i++)
        words[i] = word(module, i);
    return words;
}

/* Numbers of fewer than 32 bits fill a word, signed ones by sign extension (specification, 2.2.1). */
static uint64_t widened(const struct module *module, uint32_t type, uint64_t value)
{
    size_t size = size_of_type(module, type);
    unsigned unused = size ? 64 - 8 * (unsigned)size : 0;
    struct instruction in;
    bool is_signed = find(module, OP_TYPE_INT, OP_TYPE_INT, 1, type, &in) && in.n_words > 3 && word(module, in.at + 3);

    return is_signed ? (uint64_t)((int64_t)(value << unused) >> unused) : value << unused >> unused;
}

/* words: those of the module. */
static void put_value(const struct module *module, uint32_t *words, uint32_t result,
                      const struct tsl_program_special *value)
{
    struct instruction in;

    if (!find(module, OP_SPEC_CONSTANT_TRUE, OP_SPEC_CONSTANT, 2, result, &in))
        return;
    if (in.op == OP_SPEC_CONSTANT) {
        uint64_t number = widened(module, words[in.at + 1], value->value);

        for (unsigned i = 3; i < in.n_words; i++, number >>= 32)
            words[in.at + i] = (uint32_t)number;
    } else
        words[in.at] = in.n_words << 16 | (value->value & 0xff ? OP_SPEC_CONSTANT_TRUE : OP_SPEC_CONSTANT_FALSE);
}

void *tsl_il_with_values(const void *data, size_t size, unsigned n, const struct tsl_program_special *values)
{
    const struct module given = module_of(data, size);
    uint32_t *words = words_of(&given);
    const struct module module = module_of(words ? (const void *)words : data, size);
    struct instruction in = {.at = 0};

    while (words && n && next(&module, &in)) {
        if (in.op != OP_DECORATE || in.n_words < 4 || words[in.at + 2] != DECORATION_SPEC_ID)
            continue;
        for (unsigned i = 0; i < n; i++)
            if (values[i].id == words[in.at + 3])
                put_value(&module, words, words[in.at + 1], &values[i]);
    }
    return words;
}
