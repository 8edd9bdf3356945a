#include "compiler/workgroup/analysis/implied.h"

#include <stdbool.h>
#include <stdint.h>

/* Conditions are looked at for all values of the elementary ones at once, a bit for each combination: 2^6 in a word. */
#define BITS_OF_A_WORD  6u
#define MOST_ELEMENTARY 10u
#define MOST_TERMS      48u
#define MOST_STEPS      16u /* from a condition to those that it is made of */

/* A condition: elementary, constant, or made of terms before it. */
struct term {
    LLVMValueRef value;
    LLVMOpcode opcode; /* 0: not made of others */
    unsigned operands[3];
    int elementary; /* its number, else -1 */
    uint64_t bits;
};

struct terms {
    struct term all[MOST_TERMS];
    unsigned n, n_elementary;
};

static bool is_combined(LLVMValueRef value)
{
    if (!LLVMIsAInstruction(value))
        return false;
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
        return true;
    case LLVMSelect:
        return LLVMTypeOf(LLVMGetOperand(value, 0)) == LLVMTypeOf(value);
    default:
        return false;
    }
}

static bool is_known(LLVMValueRef value)
{
    return LLVMIsNull(value) || value == LLVMConstAllOnes(LLVMTypeOf(value));
}

/* Adds a condition behind those that it is made of. False: there are too many. */
static bool add(struct terms *terms, LLVMValueRef value, unsigned step, unsigned *number)
{
    struct term term = {.value = value, .elementary = -1};

    for (*number = 0; *number < terms->n; ++*number)
        if (terms->all[*number].value == value)
            return true;
    if (step > MOST_STEPS)
        return false;
    if (is_combined(value)) {
        term.opcode = LLVMGetInstructionOpcode(value);
        for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(value); k++)
            if (!add(terms, LLVMGetOperand(value, k), step + 1, &term.operands[k]))
                return false;
    } else if (!is_known(value)) {
        term.elementary = (int)terms->n_elementary++;
    }
    *number = terms->n++;
    if (terms->n > MOST_TERMS || terms->n_elementary > MOST_ELEMENTARY)
        return false;
    terms->all[*number] = term;
    return true;
}

/* The values of an elementary condition in the combinations of one word. */
static uint64_t elementary_bits(unsigned number, unsigned word)
{
    static const uint64_t within[BITS_OF_A_WORD] = {0xaaaaaaaaaaaaaaaa, 0xcccccccccccccccc, 0xf0f0f0f0f0f0f0f0,
                                                    0xff00ff00ff00ff00, 0xffff0000ffff0000, 0xffffffff00000000};

    if (number < BITS_OF_A_WORD)
        return within[number];
    return word >> (number - BITS_OF_A_WORD) & 1 ? UINT64_MAX : 0;
}

static uint64_t bits_of(const struct terms *terms, const struct term *term, unsigned word)
{
    uint64_t a = terms->all[term->operands[0]].bits, b = terms->all[term->operands[1]].bits;

    switch (term->opcode) {
    case LLVMAnd:
        return a & b;
    case LLVMOr:
        return a | b;
    case LLVMXor:
        return a ^ b;
    case LLVMSelect:
        return (a & b) | (~a & terms->all[term->operands[2]].bits);
    default:
        if (term->elementary >= 0)
            return elementary_bits((unsigned)term->elementary, word);
        return LLVMIsNull(term->value) ? 0 : UINT64_MAX;
    }
}

enum kc_implied kc_implied_by(LLVMValueRef mask, LLVMValueRef other)
{
    struct terms terms = {.n = 0};
    unsigned m, o;
    bool is_true = true, is_false = true;

    if (LLVMTypeOf(mask) != LLVMTypeOf(other) || !add(&terms, mask, 0, &m) || !add(&terms, other, 0, &o))
        return KC_IMPLIED_NOTHING;
    for (unsigned word = 0; word < 1u << (MOST_ELEMENTARY - BITS_OF_A_WORD); word++) {
        for (unsigned t = 0; t < terms.n; t++)
            terms.all[t].bits = bits_of(&terms, &terms.all[t], word);
        is_true = is_true && !(terms.all[m].bits & ~terms.all[o].bits);
        is_false = is_false && !(terms.all[m].bits & terms.all[o].bits);
    }
    if (is_true == is_false)
        return KC_IMPLIED_NOTHING;
    return is_true ? KC_IMPLIED_TRUE : KC_IMPLIED_FALSE;
}
