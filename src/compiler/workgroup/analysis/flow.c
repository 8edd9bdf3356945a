#include "compiler/workgroup/analysis/flow.h"

/* A loop counts so many times what is outside, up to a depth. */
#define ROUNDS    8u
#define MAX_DEPTH 3u

static void add_predecessor(struct kc_block *block, int from)
{
    block->predecessors = kc_more(block->predecessors, block->n_predecessors, sizeof(int));
    block->predecessors[block->n_predecessors++] = from;
}

static void find_blocks(struct kc_flow *flow, LLVMValueRef function)
{
    int n = 0;

    flow->n_blocks = LLVMCountBasicBlocks(function);
    flow->blocks = kc_alloc(flow->n_blocks, sizeof(*flow->blocks));
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        flow->blocks[n] = (struct kc_block){b, .dominator = KC_NONE, .post_dominator = KC_NONE, .loop = KC_NONE};
        kc_map_set(&flow->numbers, b, (uintptr_t)++n);
    }
    for (unsigned i = 0; i < flow->n_blocks; i++) {
        struct kc_block *block = &flow->blocks[i];
        LLVMValueRef terminator = LLVMGetBasicBlockTerminator(block->block);

        block->n_successors = LLVMGetNumSuccessors(terminator);
        block->successors = kc_alloc(block->n_successors, sizeof(int));
        for (unsigned s = 0; s < block->n_successors; s++) {
            block->successors[s] = kc_flow_number(flow, LLVMGetSuccessor(terminator, s));
            add_predecessor(&flow->blocks[block->successors[s]], (int)i);
        }
    }
}

/* Depth-first search with an explicit stack, as kernels may be deep. reversed: against the edges, from all exits.
 * Leaves the post-order in `order`, which has room for all blocks; returns how many were reached. */
struct walk {
    const struct kc_flow *flow;
    bool reversed;
    unsigned char *seen;
    int *stack, *next;
    int *order;
    unsigned n;
};

static void walk_from(struct walk *walk, int start)
{
    int depth = 0;

    if (walk->seen[start])
        return;
    walk->seen[start] = 1;
    walk->stack[0] = start;
    walk->next[0] = 0;
    while (depth >= 0) {
        const struct kc_block *block = &walk->flow->blocks[walk->stack[depth]];
        int n = (int)(walk->reversed ? block->n_predecessors : block->n_successors);
        int child;

        if (walk->next[depth] == n) {
            walk->order[walk->n++] = walk->stack[depth--];
            continue;
        }
        child = (walk->reversed ? block->predecessors : block->successors)[walk->next[depth]++];
        if (walk->seen[child])
            continue;
        walk->seen[child] = 1;
        walk->stack[++depth] = child;
        walk->next[depth] = 0;
    }
}

static unsigned post_order(const struct kc_flow *flow, bool reversed, int *order)
{
    struct walk walk = {.flow = flow, .reversed = reversed, .order = order};

    walk.seen = kc_alloc(flow->n_blocks, 1);
    walk.stack = kc_alloc(flow->n_blocks, sizeof(int));
    walk.next = kc_alloc(flow->n_blocks, sizeof(int));
    if (!reversed)
        walk_from(&walk, 0);
    for (unsigned i = 0; reversed && i < flow->n_blocks; i++)
        if (flow->blocks[i].n_successors == 0)
            walk_from(&walk, (int)i);
    free(walk.seen);
    free(walk.stack);
    free(walk.next);
    return walk.n;
}

/* Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm" (2001). rank: the place in post-order. The root is a
 * virtual block with number n_blocks: the entry's dominator, or the successor of all exits. */
static int meet(const int *tree, const unsigned *rank, int a, int b)
{
    while (a != b) {
        while (rank[a] < rank[b])
            a = tree[a];
        while (rank[b] < rank[a])
            b = tree[b];
    }
    return a;
}

static int meet_all(const struct kc_block *block, bool reversed, const int *tree, const unsigned *rank)
{
    unsigned n = reversed ? block->n_successors : block->n_predecessors;
    const int *edges = reversed ? block->successors : block->predecessors;
    int best = KC_NONE;

    for (unsigned k = 0; k < n; k++)
        if (tree[edges[k]] != KC_NONE)
            best = best == KC_NONE ? edges[k] : meet(tree, rank, best, edges[k]);
    return best;
}

static void find_dominators(struct kc_flow *flow, bool reversed, const int *order, unsigned n_order)
{
    int root = (int)flow->n_blocks;
    int *tree = kc_alloc(flow->n_blocks + 1, sizeof(int));
    unsigned *rank = kc_alloc(flow->n_blocks + 1, sizeof(unsigned));
    bool changed = true;

    for (int i = 0; i <= root; i++)
        tree[i] = KC_NONE;
    for (unsigned i = 0; i < n_order; i++)
        rank[order[i]] = i;
    rank[root] = flow->n_blocks + 1;
    tree[root] = root;
    while (changed) {
        changed = false;
        for (unsigned i = n_order; i-- > 0;) {
            int b = order[i];
            bool first = reversed ? flow->blocks[b].n_successors == 0 : b == 0;
            int best = first ? root : meet_all(&flow->blocks[b], reversed, tree, rank);

            changed |= best != tree[b];
            tree[b] = best;
        }
    }
    for (int i = 0; i < root; i++) {
        int up = tree[i] == root ? KC_NONE : tree[i];

        if (reversed)
            flow->blocks[i].post_dominator = up;
        else
            flow->blocks[i].dominator = up;
    }
    free(tree);
    free(rank);
}

/* What dominates a block has a lower place than it. */
bool kc_flow_dominates(const struct kc_flow *flow, int a, int b)
{
    while (b != KC_NONE && b != a && flow->blocks[b].place >= flow->blocks[a].place)
        b = flow->blocks[b].dominator;
    return b == a;
}

/* Adds all blocks from which `latch` is reached without passing the header. */
static void add_to_loop(const struct kc_flow *flow, struct kc_loop *loop, int latch)
{
    int *stack = kc_alloc(flow->n_blocks + 1, sizeof(int));
    int depth = 0;

    if (!kc_bits_get(&loop->blocks, (size_t)latch))
        stack[depth++] = latch;
    kc_bits_set(&loop->blocks, (size_t)latch);
    while (depth > 0) {
        const struct kc_block *block = &flow->blocks[stack[--depth]];

        for (unsigned p = 0; p < block->n_predecessors; p++) {
            int from = block->predecessors[p];

            if (kc_bits_get(&loop->blocks, (size_t)from))
                continue;
            kc_bits_set(&loop->blocks, (size_t)from);
            stack[depth++] = from;
        }
    }
    free(stack);
}

static void find_loop_at(struct kc_flow *flow, int header)
{
    const struct kc_block *block = &flow->blocks[header];
    struct kc_loop *loop = NULL;

    for (unsigned p = 0; p < block->n_predecessors; p++) {
        if (!kc_flow_dominates(flow, header, block->predecessors[p]))
            continue;
        if (!loop) {
            flow->loops = kc_more(flow->loops, flow->n_loops, sizeof(*flow->loops));
            loop = &flow->loops[flow->n_loops++];
            *loop = (struct kc_loop){.header = header, .parent = KC_NONE};
            loop->blocks = kc_bits_create(flow->n_blocks);
            kc_bits_set(&loop->blocks, (size_t)header);
        }
        add_to_loop(flow, loop, block->predecessors[p]);
    }
}

/* Headers in reverse post-order: an outer loop's comes before an inner one's, so that inner loops are found last. */
static void find_loops(struct kc_flow *flow)
{
    for (unsigned i = 0; i < flow->n_order; i++)
        find_loop_at(flow, flow->order[i]);
    for (unsigned l = 0; l < flow->n_loops; l++) {
        flow->loops[l].parent = flow->blocks[flow->loops[l].header].loop;
        for (unsigned i = 0; i < flow->n_order; i++)
            if (kc_bits_get(&flow->loops[l].blocks, (size_t)flow->order[i]))
                flow->blocks[flow->order[i]].loop = (int)l;
    }
}

void kc_flow_create(struct kc_flow *flow, LLVMValueRef function)
{
    int *order;
    unsigned n;

    *flow = (struct kc_flow){.n_blocks = 0};
    find_blocks(flow, function);
    order = kc_alloc(flow->n_blocks, sizeof(int));
    n = post_order(flow, true, order);
    find_dominators(flow, true, order, n);
    flow->n_order = post_order(flow, false, order);
    find_dominators(flow, false, order, flow->n_order);
    flow->order = kc_alloc(flow->n_order, sizeof(int));
    for (unsigned i = 0; i < flow->n_order; i++) {
        flow->order[i] = order[flow->n_order - 1 - i];
        flow->blocks[flow->order[i]].place = i;
    }
    free(order);
    find_loops(flow);
}

void kc_flow_finish(struct kc_flow *flow)
{
    for (unsigned i = 0; i < flow->n_blocks; i++) {
        free(flow->blocks[i].successors);
        free(flow->blocks[i].predecessors);
    }
    for (unsigned l = 0; l < flow->n_loops; l++)
        kc_bits_free(&flow->loops[l].blocks);
    free(flow->blocks);
    free(flow->loops);
    free(flow->order);
    kc_map_clear(&flow->numbers);
    *flow = (struct kc_flow){.n_blocks = 0};
}

int kc_flow_number(const struct kc_flow *flow, LLVMBasicBlockRef block)
{
    return (int)kc_map_get(&flow->numbers, block) - 1;
}

static void spread(const struct kc_flow *flow, struct kc_bits *seen, int start, int stop)
{
    int *stack = kc_alloc(flow->n_blocks + 1, sizeof(int));
    int depth = 0;

    if (start != stop && !kc_bits_get(seen, (size_t)start)) {
        kc_bits_set(seen, (size_t)start);
        stack[depth++] = start;
    }
    while (depth > 0) {
        const struct kc_block *block = &flow->blocks[stack[--depth]];

        for (unsigned s = 0; s < block->n_successors; s++) {
            int to = block->successors[s];

            if (to == stop || kc_bits_get(seen, (size_t)to))
                continue;
            kc_bits_set(seen, (size_t)to);
            stack[depth++] = to;
        }
    }
    free(stack);
}

struct kc_bits kc_flow_from(const struct kc_flow *flow, int start, int stop)
{
    struct kc_bits seen = kc_bits_create(flow->n_blocks);

    spread(flow, &seen, start, stop);
    return seen;
}

struct kc_bits kc_flow_between(const struct kc_flow *flow, int from, int stop)
{
    struct kc_bits seen = kc_bits_create(flow->n_blocks);

    for (unsigned s = 0; s < flow->blocks[from].n_successors; s++)
        spread(flow, &seen, flow->blocks[from].successors[s], stop);
    return seen;
}

uint64_t kc_flow_rounds(const struct kc_flow *flow, unsigned block)
{
    uint64_t times = 1;
    unsigned depth = 0;

    for (int l = flow->blocks[block].loop; l != KC_NONE && depth < MAX_DEPTH; l = flow->loops[l].parent, depth++)
        times *= ROUNDS;
    return times;
}
