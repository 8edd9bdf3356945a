#include "counted.h"

unsigned long counted_blocks;

/* The compiler calls it in each basic block of what it compiles with -fsanitize-coverage=trace-pc. */
void __sanitizer_cov_trace_pc(void);

void __sanitizer_cov_trace_pc(void)
{
    counted_blocks++;
}
