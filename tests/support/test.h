/* Includes cmocka with what its header needs before it, in the order that it needs. */
#ifndef TSL_TESTS_TEST_H
#define TSL_TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
