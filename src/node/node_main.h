/* The program tesela-node: serves its machine's members to the job's head. */
#ifndef TSL_NODE_NODE_MAIN_H
#define TSL_NODE_NODE_MAIN_H

/* Until the job ends. Tests register drivers of their own before. The caller ends the process without its handlers:
 * vendors' threads may be anywhere. */
int node_main(int argc, char **argv);

#endif
