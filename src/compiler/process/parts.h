/*
 * A build from where its module is linked: by one process, or the kernels of a large program by several, each of which
 * begins as a copy of the one that linked it.
 */
#ifndef KC_PROCESS_PARTS_H
#define KC_PROCESS_PARTS_H

#include "compiler/process/build.h"

/* After kc_build_prepare: kernels' facts and the artefact. False: result and log say why. What ends one of the
 * processes ends this one in the same way. */
bool kc_parts_build(struct kc_build *build);

#endif
