/*
 * Work-items that each walk along a row of their own ("for (k …) s += a[i * n + k] * …"): neighbours load from as many
 * lines of the caches, which the next rounds need again. Rows are often a power of two apart, so that all these lines
 * belong in the same set of the nearest cache, which keeps eight.
 */
#ifndef KC_WORKGROUP_ANALYSIS_ROWS_H
#define KC_WORKGROUP_ANALYSIS_ROWS_H

#include "compiler/workgroup/analysis/uniform.h"

/* The lanes with which such rows stay in the nearest cache: `lanes`, where there are none, or too few of them beside
 * the kernel's other work. strip: of the level KC_STRIP. */
unsigned kc_lanes_of_rows(const struct kc_wg *wg, const struct kc_uniform *strip, unsigned lanes);

#endif
