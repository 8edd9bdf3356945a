/*
 * Whose vectors: a program's own (float4, uint16 …), which one work-item after the other computes with, or those of
 * lanes, for which the program's are taken apart? Its own pay where work-items do little more than load and store them,
 * and where they fill a register.
 */
#ifndef KC_WORKGROUP_ANALYSIS_OWN_VECTORS_H
#define KC_WORKGROUP_ANALYSIS_OWN_VECTORS_H

#include "compiler/workgroup/ir.h"

/* Do the program's pay? Of the simplified kernel, before it is shaped. lanes: of the machine. */
bool kc_keeps_vectors(struct kc_wg *wg, unsigned lanes);

#endif
