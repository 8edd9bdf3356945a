#include "compiler/front/front.h"

/* The contents of a file, with a NUL behind them. */
#define FILE_AS(name, path)                        \
    __asm__(".pushsection .rodata\n"               \
            ".globl " name "\n"                    \
            ".hidden " name "\n"                   \
            ".type " name ", @object\n" name ":\n" \
            ".incbin \"" path "\"\n"               \
            ".byte 0\n"                            \
            ".size " name ", . - " name "\n"       \
            ".popsection\n")

FILE_AS("kc_language_header", TESELA_LANGUAGE_HEADER);
FILE_AS("kc_functions_header", TESELA_FUNCTIONS_HEADER);
