#include "kc/front.h"

/* A file as it is, with a 0 behind it. */
__asm__(".pushsection .rodata\n"
        ".globl kc_language_header\n"
        ".hidden kc_language_header\n"
        ".type kc_language_header, @object\n"
        "kc_language_header:\n"
        ".incbin \"" TESELA_LANGUAGE_HEADER "\"\n"
        ".byte 0\n"
        ".size kc_language_header, . - kc_language_header\n"
        ".popsection\n");
