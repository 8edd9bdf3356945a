/*
 * The CPU driver's parallel region, a shared library of its own (libtesela-team.so): so libtesela.so needs no OpenMP,
 * and programs that never use the processors have none of it either.
 */
#ifndef TSL_CPU_DEVICE_TEAM_TEAM_H
#define TSL_CPU_DEVICE_TEAM_TEAM_H

/* Calls work(arg) in n threads at once, the calling one among them, and returns when all have returned. Returns how
 * many there were: fewer if OMP_THREAD_LIMIT says so. */
typedef unsigned tsl_team_fn(unsigned n, void (*work)(void *arg), void *arg);

#define TSL_TEAM_SYMBOL  "tsl_team_run"
#define TSL_TEAM_LIBRARY "libtesela-team.so"

#endif
