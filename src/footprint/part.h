/*
 * Inside an evaluation: parts of a window, affine forms over their variables, and the nodes' values.
 *
 * A part is a set of executions of one access: a product of ranges of variables, less what its constraints exclude. The
 * variables are global ids less their offset, loop counters, and quotients and remainders of these. Whoever needs to
 * know something that holds in one half of a part alone (which of two is less, in which row of a division a value lies)
 * cuts the part: it goes on with one half, and the other one waits to be evaluated from the beginning. So the parts of
 * an access are always a partition of its executions.
 *
 * One evaluation belongs to one thread and lies on its stack.
 */
#ifndef TSL_FOOTPRINT_PART_H
#define TSL_FOOTPRINT_PART_H

#include "footprint/evaluate.h"

#define PART_VARS        16 /* at most 16: sets of them are bits of uint16_t */
#define PART_CONSTRAINTS 6
#define MAX_PARTS        64   /* of one access; afterwards nothing is cut, and ranges must do */
#define MAX_ALL_PARTS    1024 /* of one evaluation, besides one for each access */
#define MAX_WAITING      16
#define MEMO             256 /* nodes' values that are kept */
#define MAX_NODE_DEPTH   40  /* expressions deeper than that are any value: a level takes up to 1.5 KiB of the stack */
#define MAX_NODE_STEPS   100000 /* of one evaluation, some milliseconds; then all that is left is unknown */

/* Variables stay within ± this, so that sums of products with coefficients of 64 bits fit in 128. */
#define VAR_LIMIT (INT64_C(1) << 58)

__extension__ typedef __int128 tsl_wide;

/* constant + sum of k[v] * variable v, for v < n. Most have one or two of them, so tsl_form_copy copies these alone. */
struct tsl_form {
    int64_t constant;
    unsigned n;
    int64_t k[PART_VARS];
};

struct tsl_range {
    tsl_wide low, high;
};

/* low <= x <= high. A variable that was split has x = base + period * variable quotient + variable remainder. */
struct tsl_var {
    int64_t low, high;
    int64_t base, period;
    uint8_t quotient, remainder;
};

struct tsl_part {
    uint8_t n_vars, n_constraints;
    uint16_t split;  /* variables that others stand for */
    uint16_t lazy;   /* groups' ids, as the quotient of the global id's variable by the local size, not computed yet */
    bool empty;      /* holds no execution */
    bool exact;      /* holds nothing but executions, but for those that the constraints exclude */
    bool narrowed;   /* was cut or split since this was last false */
    bool restricted; /* the loops and guards were asked */
    int8_t global[3], group[3];              /* variable of a dimension; -1: none yet */
    int8_t counter[TSL_FOOTPRINT_MAX_DEPTH]; /* of the access' loops; -1: not entered */
    /* From here on tsl_part_copy copies what is in use. */
    struct tsl_var vars[PART_VARS];
    struct tsl_form constraints[PART_CONSTRAINTS]; /* each >= 0, over several variables that are not split */
};

enum tsl_value_kind { VALUE_ANY, VALUE_BETWEEN, VALUE_FORM };

/* What a node is, modulo 2^bits: nothing known; some integer from low to high; or a form. What the kind doesn't use is
 * not set. */
struct tsl_value {
    enum tsl_value_kind kind;
    int64_t low, high;
    struct tsl_form form;
};

/* A dimension of the window. */
struct tsl_extent {
    int64_t offset, size, local, groups;
    int64_t begin, end; /* global ids less the offset in the window */
};

/* What the loops and guards of the access before have left of the window. */
enum tsl_kept { KEPT_NONE, KEPT_NOTHING, KEPT_PART };

/* Which node's value is kept, and since when. */
struct tsl_memo {
    uint32_t node, generation;
};

/* The generation of a value that is the same in all parts. */
#define MEMO_ALWAYS UINT32_MAX

struct tsl_evaluation {
    const struct tsl_footprint *footprint;
    const struct tsl_argument_value *arguments;
    const struct tsl_access *access;
    struct tsl_extent extents[3];
    bool groups_known; /* local sizes are set */
    bool early;        /* a counter of a loop that isn't entered yet was asked for */
    bool evicts;       /* there are more nodes than memoised values */
    unsigned n_parts;  /* of this access */
    unsigned n_all_parts;
    unsigned n_waiting;
    unsigned depth;       /* of nodes */
    uint32_t generation;  /* of memoised values */
    uint32_t steps;       /* nodes that may still be evaluated */
    enum tsl_kept kept;   /* NONE: several parts, or it isn't known */
    bool varies;          /* what is being computed depends on the part; written often, so away from what is read */
    struct tsl_part base; /* KEPT_PART; e->now is the same until it's narrowed */
    struct tsl_part now;
    struct tsl_part waiting[MAX_WAITING];
    struct tsl_memo memo[MEMO]; /* of values[] */
    struct tsl_value values[MEMO];
};

enum tsl_truth { TRUTH_NO, TRUTH_YES, TRUTH_OPEN };

/* ---- forms.c ---------------------------------------------------------------------------------------------------- */

static inline void tsl_form_set(struct tsl_form *form, int64_t constant)
{
    form->constant = constant;
    form->n = 0;
}

/* In a loop of one or two rounds, which would become a call of memcpy or memset: these take longer. */
#define SMALL_LOOP __asm__ volatile("")

static inline void tsl_form_copy(struct tsl_form *to, const struct tsl_form *from)
{
    to->constant = from->constant;
    to->n = from->n;
    for (unsigned v = 0; v < from->n; v++) {
        to->k[v] = from->k[v];
        SMALL_LOOP;
    }
}

/* What variable v is multiplied by. */
static inline int64_t tsl_form_k(const struct tsl_form *form, unsigned v)
{
    return v < form->n ? form->k[v] : 0;
}

static inline void tsl_form_extend(struct tsl_form *form, unsigned n)
{
    while (form->n < n) {
        form->k[form->n++] = 0;
        SMALL_LOOP;
    }
}

/* The same as tsl_form_k, to be changed. */
static inline int64_t *tsl_form_at(struct tsl_form *form, unsigned v)
{
    tsl_form_extend(form, v + 1);
    return &form->k[v];
}

/* to += factor * form. False: it doesn't fit in 64 bits. */
bool tsl_form_add(struct tsl_form *to, const struct tsl_form *form, int64_t factor);
bool tsl_form_scale(struct tsl_form *form, int64_t factor);
/* Has it no variables but those of one value? */
bool tsl_form_is_constant(const struct tsl_part *part, const struct tsl_form *form, int64_t *constant);
struct tsl_range tsl_form_range(const struct tsl_part *part, const struct tsl_form *form);
bool tsl_range_fits(struct tsl_range range);
tsl_wide tsl_floor_div(tsl_wide a, tsl_wide b); /* b > 0 */
tsl_wide tsl_ceil_div(tsl_wide a, tsl_wide b);
tsl_wide tsl_gcd(tsl_wide a, tsl_wide b); /* of positive ones */

/* ---- parts.c ---------------------------------------------------------------------------------------------------- */

void tsl_part_copy(struct tsl_part *to, const struct tsl_part *from);
/* A new variable; -1: no room. */
int tsl_part_add(struct tsl_part *part, int64_t low, int64_t high);
/* Only the executions with low <= variable v <= high. */
void tsl_part_cut(struct tsl_part *part, unsigned v, tsl_wide low, tsl_wide high);
/* Puts what they stand for in place of variables that were split. False: it doesn't fit. */
bool tsl_part_expand(const struct tsl_part *part, struct tsl_form *form);
/* Variable v, whose range has n * period values, is base + period * a new one + another new one. False: no room. */
bool tsl_part_split(struct tsl_part *part, unsigned v, int64_t period);
/* Only the executions with form >= 0; the form is settled. What can't be kept makes the part inexact. */
void tsl_part_constrain(struct tsl_part *part, const struct tsl_form *form);
/* Is form >= 0 in all of the part, or nowhere? */
enum tsl_truth tsl_part_knows(const struct tsl_part *part, const struct tsl_form *form);

/* The integers that a settled form stands for, narrowed by constraints on just this form. Empty (low > high): the part
 * may hold no execution. */
struct tsl_range tsl_part_range(const struct tsl_part *part, const struct tsl_form *form);

/* Can the part be cut in as many pieces more? */
bool tsl_has_room(const struct tsl_evaluation *e, unsigned pieces);
/* A copy of the present part, to be cut; there must be room. tsl_wait leaves it waiting, if it isn't empty. */
struct tsl_part *tsl_fork(struct tsl_evaluation *e);
void tsl_wait(struct tsl_evaluation *e);
/* Groups' ids become quotients, variables that were split what they stand for. False: it can't be said. */
bool tsl_settle(struct tsl_evaluation *e, struct tsl_form *form);
/* Goes on where form >= 0, if that's anywhere (YES), else where it isn't (NO); OPEN: it can't be cut. */
enum tsl_truth tsl_branch(struct tsl_evaluation *e, const struct tsl_form *form);
/* Goes on only where form >= 0 (YES, and NO: nowhere). OPEN: it can't be said. */
enum tsl_truth tsl_require(struct tsl_evaluation *e, const struct tsl_form *form);

/* ---- divide.c --------------------------------------------------------------------------------------------------- */

/* form = by * quotient + remainder, 0 <= remainder < by. False: it can't be said in as many parts as are left. */
bool tsl_divide(struct tsl_evaluation *e, const struct tsl_form *form, int64_t by, struct tsl_form *quotient,
                struct tsl_form *remainder);

/* ---- values.c, nodes.c ------------------------------------------------------------------------------------------ */

static inline void tsl_value_copy(struct tsl_value *to, const struct tsl_value *from)
{
    to->kind = from->kind;
    to->low = from->low;
    to->high = from->high;
    if (from->kind == VALUE_FORM)
        tsl_form_copy(&to->form, &from->form);
}

static inline void tsl_value_set_any(struct tsl_value *value)
{
    value->kind = VALUE_ANY;
    value->low = value->high = 0;
}

static inline void tsl_value_set(struct tsl_value *value, int64_t constant)
{
    value->kind = VALUE_FORM;
    value->low = value->high = 0;
    tsl_form_set(&value->form, constant);
}

void tsl_value_set_between(struct tsl_value *value, tsl_wide low, tsl_wide high); /* any, if they don't fit */
/* The integers that it stands for; false: any. */
bool tsl_value_range(const struct tsl_evaluation *e, const struct tsl_value *value, struct tsl_range *range);
/* The same bits taken as a signed or unsigned number, which its form or range then is. An unsigned one of 64 bits that
 * is 2^63 or more is any. */
void tsl_value_make_signed(struct tsl_evaluation *e, struct tsl_value *value, unsigned bits);
void tsl_value_make_unsigned(struct tsl_evaluation *e, struct tsl_value *value, unsigned bits);
/* bits.c: and, or, xor. */
void tsl_value_bitwise(struct tsl_evaluation *e, const struct tsl_node *node, const struct tsl_value *a,
                       const struct tsl_value *b, struct tsl_value *result);
/* leaves.c */
void tsl_leaf(struct tsl_evaluation *e, const struct tsl_node *node, struct tsl_value *value);

/* A node in the present part, which it may cut. The value stays until the next node is asked for where
 * tsl_node_may_move, else as long as the part; it is changed by nobody. */
const struct tsl_value *tsl_node_value(struct tsl_evaluation *e, uint32_t node);
/* May the value that was just returned be overwritten when another node is asked for? */
static inline bool tsl_node_may_move(const struct tsl_evaluation *e)
{
    return e->early || e->evicts;
}
/* The same for two nodes; the values, which may be copies in `room`, are kept while nothing else is asked for. */
void tsl_node_values(struct tsl_evaluation *e, uint32_t node_a, uint32_t node_b, struct tsl_value room[2],
                     const struct tsl_value **a, const struct tsl_value **b);
/* conditions.c: of a node of 1 bit. truth cuts the part until it's known, demand goes on only where it's as wanted
 * (NO: nowhere). */
enum tsl_truth tsl_node_truth(struct tsl_evaluation *e, uint32_t node);
enum tsl_truth tsl_node_demand(struct tsl_evaluation *e, uint32_t node, bool want);

/* ---- walk.c ----------------------------------------------------------------------------------------------------- */

/* To be ended. NULL: sizes past all bounds, or no memory. */
struct tsl_evaluation *tsl_evaluation_begin(const struct tsl_footprint *footprint, const struct tsl_window *window,
                                            const struct tsl_argument_value *arguments);
void tsl_evaluation_end(struct tsl_evaluation *e);
/* For each part of an access: calls `each` with e->now and the addresses. */
typedef void tsl_each_part(struct tsl_evaluation *e, const struct tsl_value *addresses, void *data);
/* Of a node that doesn't depend on loops, before any walk. False: it isn't one number for all of the window. */
bool tsl_evaluation_constant(struct tsl_evaluation *e, uint32_t node, int64_t *value);
void tsl_evaluation_walk(struct tsl_evaluation *e, const struct tsl_access *access, tsl_each_part *each, void *data);

/* images.c: the box of the part's coordinates; false: it isn't known. It is empty where all of one are negative. */
bool tsl_pixel_box_of(const struct tsl_evaluation *e, const struct tsl_value *coordinates, struct tsl_pixel_box *box,
                      bool *empty);

/* ---- cover.c ---------------------------------------------------------------------------------------------------- */

/* A box that may begin before the argument's first byte. */
struct tsl_raw_box {
    int64_t offset;
    uint64_t width, stride[2], count[2];
};

#define MAX_COVER 8

/* The bytes at `address` over the part, `width` at each. may: all of them, or more. sure: these or fewer, each of an
 * execution. Returns how many boxes; may: 0 if there is none that covers it. */
unsigned tsl_cover_may(const struct tsl_part *part, const struct tsl_form *address, uint32_t width,
                       struct tsl_raw_box boxes[MAX_COVER]);
unsigned tsl_cover_sure(const struct tsl_part *part, const struct tsl_form *address, uint32_t width,
                        struct tsl_raw_box boxes[MAX_COVER]);
/* shear.c: either, with the variables that fit the part's constraints best. */
unsigned tsl_cover(const struct tsl_part *part, const struct tsl_form *address, uint32_t width, bool may,
                   struct tsl_raw_box boxes[MAX_COVER]);
/* sets.c: adds what lies in [0, memory). */
void tsl_byte_set_add_raw(struct tsl_byte_set *set, const struct tsl_raw_box *box, uint64_t memory, bool sure);

#endif
