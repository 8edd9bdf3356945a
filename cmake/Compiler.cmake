# tesela-kc, the kernel compiler: the one part that needs LLVM and Clang (as libraries, 16 to 19) and a C++ compiler. Where
# they are missing all else is built, and programs find out that there is no compiler of ours.
#
#   build/kc/tesela-kc     the process
#   build/kc/builtins.bc   OpenCL C's built-in functions: libclc's and ours
#
# Sets TESELA_KC to what is built, empty if nothing is.
set(TESELA_KC "")
option(TESELA_COMPILER "Build the kernel compiler, if LLVM is there" ON)
option(TESELA_STATIC "Make a build that needs no LLVM and no linker where it runs, and finds its libraries beside itself" OFF)

# Its code becomes part of builtins-nvptx.bc: docs/dev/compiler.md says what that means for packages.
set(TESELA_LIBDEVICE "" CACHE STRING "The CUDA Toolkit's libdevice.10.bc, or OFF (default: the Toolkit's, if it is there)")

set(TESELA_LLVM_CONFIG "" CACHE FILEPATH "llvm-config of the LLVM to use (default: the newest of 19, 18, 17, 16)")

function(find_llvm)
    set(programs ${TESELA_LLVM_CONFIG})
    if(NOT programs)
        foreach(version 19 18 17 16)
            find_program(LLVM_CONFIG_${version} llvm-config-${version} PATHS /usr/lib/llvm-${version}/bin)
            if(LLVM_CONFIG_${version})
                list(APPEND programs ${LLVM_CONFIG_${version}})
            endif()
        endforeach()
    endif()
    foreach(program IN LISTS programs)
        foreach(what version includedir libdir has-rtti)
            execute_process(COMMAND ${program} --${what} OUTPUT_VARIABLE ${what} OUTPUT_STRIP_TRAILING_WHITESPACE)
        endforeach()
        string(REGEX REPLACE "[.].*" "" version "${version}")
        if(EXISTS ${includedir}/clang/Frontend/CompilerInstance.h AND EXISTS ${libdir}/libclang-cpp.so)
            set(LLVM_MAJOR ${version} PARENT_SCOPE)
            set(LLVM_INCLUDES ${includedir} PARENT_SCOPE)
            set(LLVM_LIBRARIES ${libdir} PARENT_SCOPE)
            set(LLVM_RTTI ${has-rtti} PARENT_SCOPE)
            return()
        endif()
    endforeach()
endfunction()

if(TESELA_COMPILER)
    find_llvm()
    # libclc's versions keep one name, and newer LLVMs read older bitcode. Mesa's OpenCL brings one along.
    find_file(LIBCLC nvptx64--.bc PATHS /usr/lib/clc /usr/share/clc /usr/lib/llvm-${LLVM_MAJOR}/share/clc)
    find_program(LD ld)
    # Clang's header of OpenCL C, which becomes part of tesela-kc.
    find_file(LANGUAGE_HEADER opencl-c-base.h PATHS ${LLVM_LIBRARIES}/clang/${LLVM_MAJOR}/include NO_DEFAULT_PATH)
    find_file(FUNCTIONS_HEADER opencl-c.h PATHS ${LLVM_LIBRARIES}/clang/${LLVM_MAJOR}/include NO_DEFAULT_PATH)
    include(CheckLanguage)
    check_language(CXX)
endif()
# The library knows which LLVM its compiler uses: results of another are not taken from the cache.
set(llvm_library "")
if(LLVM_MAJOR AND NOT TESELA_STATIC)
    set(llvm_library ${LLVM_LIBRARIES}/libLLVM-${LLVM_MAJOR}.so)
endif()
target_compile_definitions(tesela_core PRIVATE TESELA_LLVM_LIBRARY="${llvm_library}")
if(NOT TESELA_COMPILER)
    return()
elseif(NOT LLVM_MAJOR OR NOT LANGUAGE_HEADER OR NOT FUNCTIONS_HEADER OR NOT LIBCLC OR NOT LD OR NOT CMAKE_CXX_COMPILER)
    message(STATUS "No kernel compiler is built: it needs LLVM, Clang (libllvm, libclang-cpp with their headers) and libclc; "
        "the Debian packages are llvm-19-dev libclang-19-dev libclang-cpp19-dev libclang-common-19-dev libclc-15 g++ binutils")
    return()
endif()
enable_language(CXX)
message(STATUS "The kernel compiler is built with LLVM ${LLVM_MAJOR} in ${LLVM_LIBRARIES}")

# The files in C++, which can't share the flags for C.
file(GLOB_RECURSE kc_front_sources CONFIGURE_DEPENDS src/compiler/*.cpp)
if(NOT TESELA_STATIC)
    list(FILTER kc_front_sources EXCLUDE REGEX "/own_linker[.]cpp$")
endif()
add_library(tesela_kc_front OBJECT ${kc_front_sources})
set_target_properties(tesela_kc_front PROPERTIES CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF)
# Reading Clang's and LLVM's headers takes most of the time of these files, so they are compiled in few units: one reads
# Clang's. Names that are a file's own must differ within a unit.
set_target_properties(tesela_kc_front PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
foreach(source IN LISTS kc_front_sources)
    string(REGEX MATCH "/src/compiler/(front|analysis)/" folder "${source}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP "unit_${CMAKE_MATCH_1}")
endforeach()
target_include_directories(tesela_kc_front PRIVATE src)
target_include_directories(tesela_kc_front SYSTEM PRIVATE ${LLVM_INCLUDES})
target_compile_definitions(tesela_kc_front PRIVATE _GNU_SOURCE TESELA_VERSION="${PROJECT_VERSION}")
target_compile_options(tesela_kc_front PRIVATE -Wall -Wextra -Wshadow -fno-exceptions ${sanitize})
# All of what is known of Clang's and LLVM's types is a third of the time that these files take: lines and functions' names
# are enough for back-traces. A build of type Debug has all.
target_compile_options(tesela_kc_front PRIVATE $<$<CONFIG:RelWithDebInfo>:-g1>)
if(LLVM_RTTI STREQUAL NO)
    target_compile_options(tesela_kc_front PRIVATE -fno-rtti)
endif()

file(GLOB_RECURSE kc_sources CONFIGURE_DEPENDS src/compiler/*.c)
# What both sides of the wire use.
add_executable(tesela_kc ${kc_sources} src/base/bytes.c src/compile_client/wire.c src/compile_client/wire_facts.c src/facts/kernel_facts.c
    src/facts/build_options.c src/footprint/format.c src/footprint/print.c)
set_target_properties(tesela_kc PROPERTIES OUTPUT_NAME tesela-kc RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/kc)
target_include_directories(tesela_kc PRIVATE src)
target_include_directories(tesela_kc SYSTEM PRIVATE ${LLVM_INCLUDES})
target_compile_definitions(tesela_kc PRIVATE TESELA_LANGUAGE_HEADER="${LANGUAGE_HEADER}"
    TESELA_FUNCTIONS_HEADER="${FUNCTIONS_HEADER}")
set_property(SOURCE src/compiler/front/header.c APPEND PROPERTY OBJECT_DEPENDS ${LANGUAGE_HEADER} ${FUNCTIONS_HEADER})
target_link_libraries(tesela_kc PRIVATE tesela_kc_front tesela_flags)
if(TESELA_STATIC)
    include(cmake/StaticLLVM.cmake)
    tesela_link_static_llvm(tesela_kc)
else()
    target_compile_definitions(tesela_kc PRIVATE TESELA_LD="${LD}")
    target_link_libraries(tesela_kc PRIVATE ${LLVM_LIBRARIES}/libclang-cpp.so ${llvm_library})
endif()

# The built-in functions, each library compiled by tesela-kc itself.
file(GLOB builtins CONFIGURE_DEPENDS src/compiler/builtins/*.cl)
file(GLOB builtins_headers CONFIGURE_DEPENDS src/compiler/builtins/*.h src/compiler/builtins/cpu/*.h
    src/compiler/builtins/nvptx/*.h src/compile_client/kernel_image.h)
list(APPEND builtins_headers ${PROJECT_SOURCE_DIR}/src/compiler/builtins/image.cl) # nvptx/image.cl includes it
set(builtins_files "")
function(make_builtins name libclc)
    # Clang leaves its memory to the end of the process, which a sanitizer would call leaks.
    add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/kc/${name}.bc
        COMMAND ${CMAKE_COMMAND} -E env ASAN_OPTIONS=detect_leaks=0 $<TARGET_FILE:tesela_kc> --make-builtins ${CMAKE_BINARY_DIR}/kc/${name}.bc ${libclc} ${ARGN}
        DEPENDS ${ARGN} ${builtins_headers} tesela_kc VERBATIM)
    set(builtins_files ${builtins_files} ${CMAKE_BINARY_DIR}/kc/${name}.bc PARENT_SCOPE)
endfunction()
set(nvptx ${PROJECT_SOURCE_DIR}/src/compiler/builtins/nvptx)
set(cpu ${PROJECT_SOURCE_DIR}/src/compiler/builtins/cpu)
make_builtins(builtins ${LIBCLC} ${builtins} ${cpu}/float.cl ${cpu}/power.cl ${cpu}/double.cl ${cpu}/error.cl ${cpu}/gamma.cl ${cpu}/half.cl ${cpu}/space.cl ${cpu}/collective.cl)
set(nvptx_builtins ${builtins})
list(FILTER nvptx_builtins EXCLUDE REGEX "/image\\.cl$")
foreach(part image convert half integer shuffle native math short elementary space derived collective)
    list(APPEND nvptx_builtins ${nvptx}/${part}.cl)
endforeach()
find_file(LIBDEVICE libdevice.10.bc PATHS /usr/local/cuda/nvvm/libdevice /usr/lib/cuda/nvvm/libdevice /usr/lib/nvidia-cuda-toolkit/libdevice)
set(libdevice "")
if(TESELA_LIBDEVICE STREQUAL "" AND LIBDEVICE)
    set(libdevice ${LIBDEVICE})
elseif(TESELA_LIBDEVICE)
    set(libdevice ${TESELA_LIBDEVICE})
endif()
if(libdevice)
    message(STATUS "Functions for NVIDIA's GPUs are those of ${libdevice}, where they are better (-DTESELA_LIBDEVICE=OFF: ours)")
    make_builtins(builtins-nvptx ${LIBCLC} ${nvptx_builtins} ${libdevice} ${nvptx}/libdevice.cl ${nvptx}/relaxed.cl)
else()
    make_builtins(builtins-nvptx ${LIBCLC} ${nvptx_builtins} ${nvptx}/relaxed.cl)
endif()
make_builtins(work-items-nvptx - ${nvptx}/work_item.cl)
add_custom_target(tesela_builtins ALL DEPENDS ${builtins_files})
set(TESELA_KC tesela_kc tesela_builtins)
