/*
 * Kernels' footprints for people: tesela-kc --footprint.
 */
#ifndef KC_PROCESS_VIEW_H
#define KC_PROCESS_VIEW_H

#include "facts/kernel_facts.h"

#include <stdio.h>

void kc_view_footprint(const struct tsl_kernel_facts *facts, FILE *out);

#endif
