# How our code is compiled: the language, warnings as errors, hidden names, and the sanitizers.
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

add_library(tesela_flags INTERFACE)
target_compile_definitions(tesela_flags INTERFACE
    _GNU_SOURCE
    CL_TARGET_OPENCL_VERSION=300
    # We implement, and tests call, the functions of every version.
    CL_USE_DEPRECATED_OPENCL_1_0_APIS CL_USE_DEPRECATED_OPENCL_1_1_APIS CL_USE_DEPRECATED_OPENCL_1_2_APIS
    CL_USE_DEPRECATED_OPENCL_2_0_APIS CL_USE_DEPRECATED_OPENCL_2_1_APIS CL_USE_DEPRECATED_OPENCL_2_2_APIS
    TESELA_VERSION="${PROJECT_VERSION}")
target_compile_options(tesela_flags INTERFACE
    -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -fno-common)
if(CMAKE_C_COMPILER_ID MATCHES Clang)
    # Checks the lock annotations of our headers; GCC ignores them.
    target_compile_options(tesela_flags INTERFACE -Wthread-safety)
endif()
target_link_libraries(tesela_flags INTERFACE Threads::Threads ${CMAKE_DL_LIBS} m)

if(TESELA_SANITIZE STREQUAL asan)
    set(sanitize -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
elseif(TESELA_SANITIZE STREQUAL fuzz) # Clang: the fuzzers of tests/fuzz look for inputs themselves.
    set(sanitize -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
elseif(TESELA_SANITIZE STREQUAL fuzz-plain) # The same some ten times as fast: what it keeps goes through the one above.
    set(sanitize -fsanitize=fuzzer-no-link -fno-omit-frame-pointer)
elseif(TESELA_SANITIZE STREQUAL tsan)
    set(sanitize -fsanitize=thread -fno-omit-frame-pointer)
elseif(TESELA_SANITIZE)
    message(FATAL_ERROR "TESELA_SANITIZE is '${TESELA_SANITIZE}': it may be empty, asan, tsan, fuzz or fuzz-plain.")
endif()
if(TESELA_SANITIZE)
    target_compile_options(tesela_flags INTERFACE ${sanitize})
    target_link_options(tesela_flags INTERFACE ${sanitize})
endif()

# The library is optimised as one: a small command passes some forty functions in as many files, and a third of its cost was
# in the calls. With tests, objects hold ordinary code as well, so that the many test programs link quickly, and so does the
# tool. Without tests nothing needs it: two thirds of the objects' time.
set(TESELA_WHOLE_PROGRAM OFF)
if(CMAKE_C_COMPILER_ID STREQUAL GNU AND NOT TESELA_SANITIZE AND NOT CMAKE_BUILD_TYPE STREQUAL Debug)
    set(TESELA_WHOLE_PROGRAM ON)
    target_link_options(tesela_flags INTERFACE $<$<NOT:$<BOOL:$<TARGET_PROPERTY:TESELA_WHOLE>>>:-fno-lto>)
endif()

# Who builds no tests wants to use Tesela: lines and functions' names do for back-traces, and take a third of the time less.
if(NOT TESELA_TESTS)
    target_compile_options(tesela_flags INTERFACE $<$<CONFIG:RelWithDebInfo>:-g1>)
endif()

# The compiler's own archiver finds the names in objects that hold no ordinary code.
if(TESELA_WHOLE_PROGRAM AND NOT TESELA_TESTS AND CMAKE_C_COMPILER_AR AND CMAKE_C_COMPILER_RANLIB)
    set(CMAKE_AR ${CMAKE_C_COMPILER_AR})
    set(CMAKE_RANLIB ${CMAKE_C_COMPILER_RANLIB})
endif()

function(tesela_optimise_whole target)
    if(TESELA_WHOLE_PROGRAM)
        target_compile_options(${target} PRIVATE -O3 -flto=auto $<IF:$<BOOL:${TESELA_TESTS}>,-ffat-lto-objects,-fno-fat-lto-objects>)
    endif()
endfunction()

function(tesela_link_whole target)
    if(TESELA_WHOLE_PROGRAM)
        set_target_properties(${target} PROPERTIES TESELA_WHOLE ON)
        target_link_options(${target} PRIVATE -O3 -flto=auto)
    endif()
endfunction()

# For programs that do well without.
function(tesela_link_program target)
    if(NOT TESELA_TESTS)
        tesela_link_whole(${target})
    endif()
endfunction()
