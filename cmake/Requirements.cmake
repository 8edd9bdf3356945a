# What the build needs of the system. Whatever is missing is named by its Debian package, in one sentence.
# The list that tests/run and examples/run install is scripts/packages.
include(CheckIncludeFile)

function(require_header header package)
    string(MAKE_C_IDENTIFIER "HAVE_${header}" variable)
    set(CMAKE_REQUIRED_QUIET ON)
    check_include_file(${header} ${variable})
    if(NOT ${variable})
        unset(${variable} CACHE) # Look again next time.
        message(FATAL_ERROR "The header <${header}> is missing: install the Debian package ${package}.")
    endif()
endfunction()

# Sets `variable` to the path of a program, or fails. More names may follow.
function(require_program variable package)
    find_program(${variable} NAMES ${ARGN})
    if(NOT ${variable})
        list(GET ARGN -1 name)
        message(FATAL_ERROR "The program ${name} is missing: install the Debian package ${package}.")
    endif()
endfunction()

function(require_library variable package name)
    find_library(${variable} ${name})
    if(NOT ${variable})
        message(FATAL_ERROR "The library lib${name} is missing: install the Debian package ${package}.")
    endif()
endfunction()

require_header(CL/cl_icd.h opencl-headers)
require_header(uthash.h uthash-dev)
require_header(bsd/sys/tree.h libbsd-dev)

# Headers only: the library itself depends on nothing but libc.
add_library(tesela_requirements INTERFACE)

# The command-line tool and the tests read and write JSON with it.
require_header(cjson/cJSON.h libcjson-dev)
require_library(CJSON_LIBRARY libcjson-dev cjson)
