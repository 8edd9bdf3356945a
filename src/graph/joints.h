/*
 * Joints: what is done around a launch whose shares may write the same memory (the rungs `merge` and `reduce`, cut.h).
 *
 * Each share works on a copy of such an object, a scratch object of the same size in its member's memory, which stands
 * in the object's place among the share's arguments. Before the launch the copies get the object's bytes (merge) or
 * neutral elements (reduce). Afterwards the range that may have been written is cut into as many pieces as there are
 * members, and each member makes one piece of the copies' pieces. Then each has its piece of the object, and the
 * directory puts them together. Until then the object stays as it was, on every member: what a share has changed is
 * what differs from that; and if a share of a merge fails, no piece is made.
 *
 * All operations are the command's own. Under the graph's lock, where nothing else is said.
 */
#ifndef TSL_GRAPH_JOINTS_H
#define TSL_GRAPH_JOINTS_H

#include "base/sets.h"
#include "footprint/joint.h"
#include "graph/stand_in.h"

#include <CL/cl.h>
#include <stdbool.h>

struct tsl_buffer;
struct tsl_command;
struct tsl_data;

/* A launch has few. */
#define TSL_JOINTS_MAX 16u

/* Of one launch. */
struct tsl_joints {
    unsigned n;
    struct tsl_joint list[TSL_JOINTS_MAX]; /* roots are the objects' data */
    unsigned n_copies;                     /* shares */
    struct tsl_buffer **copies; /* n times the shares', those of one object together; borrowed of stand_ins */
    struct tsl_stand_ins stand_ins;
};

/* The joint's object. */
static inline struct tsl_data *tsl_joint_data(const struct tsl_joint *joint)
{
    return (struct tsl_data *)(uintptr_t)joint->root;
}

/* Bytes of a piece, where n members make some; the last one may be shorter. */
uint64_t tsl_joint_piece(const struct tsl_joint *joint, unsigned n);

/* Are there members' memory and ways for it? shares: of how many each member has one or more, by member. */
bool tsl_joints_may(const struct tsl_command *command, const struct tsl_joints *joints, const unsigned *shares);
/* Bytes of scratch objects on that member, for the command's shares as they are placed. */
uint64_t tsl_joints_size(struct tsl_command *command, const struct tsl_joints *joints, unsigned member);
/* How long the copies and what is done with them take, estimated. */
double tsl_joints_ns(const struct tsl_command *command, const struct tsl_joints *joints, const unsigned *shares);

/* NULL allowed. Without the lock, once the command is reported. */
void tsl_joints_destroy(struct tsl_joints *joints);

#endif
