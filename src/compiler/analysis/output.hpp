/*
 * What joining and rolling accesses share.
 */
#ifndef KC_ANALYSIS_OUTPUT_HPP
#define KC_ANALYSIS_OUTPUT_HPP

#include "compiler/analysis/accesses.hpp"

namespace kc
{

/* Are they one access but for where they begin, how long they are, and their lines? */
bool are_alike(const Access &a, const Access &b);

} // namespace kc

#endif
