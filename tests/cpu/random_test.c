/* The random programs of tests/sim on the built-in CPU, alone and beside PoCL. */
/* timeout: 300 */
/* variant: alone TESELA_MEMBERS=cpu SIM_PROGRAMS=300 */
/* variant: pocl TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=pthread TESELA_MEMBERS=cpu,opencl TESELA_POLICY=round-robin SIM_PROGRAMS=60 */
/* variant: cut TESELA_MEMBERS=cpu TESELA_SPLIT=always SIM_PROGRAMS=100 */
/* variant: pocl.cut TESELA_VENDORS={build}/vendors-pocl POCL_DEVICES=pthread TESELA_MEMBERS=cpu,opencl TESELA_SPLIT=always SIM_PROGRAMS=20 */
#include "../real/random_test.c"
