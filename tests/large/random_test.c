/* The random programs of tests/sim with buffers of up to a MiB: drivers move these by other ways than small ones. */
/* timeout: 300 */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES="basic pthread" TESELA_MEMBERS=opencl,cpu TESELA_ZERO_COPY=off SIM_PROGRAMS=30 SIM_COMMAND=build/tests/sim_large */
/* any: SIM_PROGRAMS=100 SIM_COMMAND=build/tests/sim_large */
#include "../real/random_test.c"
