# cmake -DFROM=FILE -DTO=HEADER -DNAME=ARRAY -P Embed.cmake: the file's bytes as a C array, with a NUL behind them.
file(READ ${FROM} bytes HEX)
string(REGEX REPLACE "(................................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${TO} "static const char ${NAME}[] = {\n${bytes}0};\n")
