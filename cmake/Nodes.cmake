# Members on other machines. What serves them, whatever brings the requests, for tests as well.
file(GLOB node_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/node/*.c)
list(FILTER node_sources EXCLUDE REGEX "/src/node/(main|head[a-z_]*|node_main|mpi_io)[.]c$")
add_library(tesela_node_server STATIC ${node_sources})
target_link_libraries(tesela_node_server PUBLIC tesela_core)

# tesela-head and tesela-node, for each MPI that is there: those of MPICH have its name behind theirs. Nothing else links it.
function(tesela_add_nodes suffix mpi)
    add_executable(tesela_head${suffix} src/node/head_main.c src/node/head_node.c src/node/head_program.c src/node/mpi_io.c
        src/node/bell.c src/remote/frames.c src/remote/memory_file.c src/base/bytes.c src/base/clock.c src/base/thread.c)
    target_include_directories(tesela_head${suffix} PRIVATE include src icd ${PROJECT_SOURCE_DIR})
    target_link_libraries(tesela_head${suffix} PRIVATE tesela_flags tesela_requirements ${mpi})
    add_executable(tesela_node${suffix} src/node/main.c src/node/node_main.c src/node/mpi_io.c)
    target_link_libraries(tesela_node${suffix} PRIVATE tesela_node_server ${mpi})
    tesela_link_program(tesela_node${suffix})
    foreach(program head node)
        set_target_properties(tesela_${program}${suffix} PROPERTIES OUTPUT_NAME tesela-${program}${suffix}
            RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/nodes)
    endforeach()
    add_dependencies(tesela tesela_head${suffix} tesela_node${suffix})
endfunction()

option(TESELA_NODES "Build the programs for members on other machines, if MPI is there" ON)
if(NOT TESELA_NODES)
    return()
endif()

# Is it Open MPI, wherever it comes from? Does it go on when a rank has ended? The tool then asks it to, so the nodes'
# programs and the tool must agree.
include(CheckCSourceCompiles)
function(tesela_look_at_mpi mpi)
    set(CMAKE_REQUIRED_LIBRARIES ${mpi})
    set(CMAKE_REQUIRED_QUIET ON)
    check_c_source_compiles("#include <mpi.h>
        int main(void) { return OPEN_MPI != 1; }" TESELA_IS_OPEN_MPI)
    check_c_source_compiles("#include <mpi.h>
        #include <mpi-ext.h>
        int main(void) { return MPIX_Comm_failure_ack(MPI_COMM_WORLD) == MPIX_ERR_PROC_FAILED; }" TESELA_MPI_SURVIVES)
endfunction()

function(tesela_let_ranks_end)
    if(TESELA_MPI_SURVIVES)
        target_compile_definitions(tesela_head PRIVATE TESELA_MPI_SURVIVES)
        target_compile_definitions(tesela_node PRIVATE TESELA_MPI_SURVIVES)
        target_compile_definitions(tesela PRIVATE TESELA_MPI_SURVIVES)
    endif()
endfunction()

# CMake's own search finds one MPI, Open MPI where Debian has both. The tool starts jobs with that MPI's own program.
find_package(MPI COMPONENTS C QUIET)
if(MPI_C_FOUND)
    tesela_look_at_mpi(MPI::MPI_C)
    if(TESELA_IS_OPEN_MPI)
        tesela_add_nodes("" MPI::MPI_C)
        tesela_let_ranks_end()
        target_compile_definitions(tesela PRIVATE TESELA_OPEN_MPIRUN="${MPIEXEC_EXECUTABLE}")
    else()
        tesela_add_nodes(-mpich MPI::MPI_C)
        target_compile_definitions(tesela PRIVATE TESELA_MPICH_MPIRUN="${MPIEXEC_EXECUTABLE}")
    endif()
endif()

# MPICH is looked for under Debian's names; MPICH_ROOT is where it lies unpacked, if not in the system.
set(MPICH_ROOT "" CACHE PATH "Folder in which MPICH's usr/ lies; empty: the system's")
find_path(MPICH_INCLUDE mpi.h NO_DEFAULT_PATH PATHS "${MPICH_ROOT}/usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/mpich")
find_library(MPICH_LIBRARY mpich NO_DEFAULT_PATH PATHS "${MPICH_ROOT}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}")
find_program(MPICH_MPIRUN mpiexec.hydra NO_DEFAULT_PATH PATHS "${MPICH_ROOT}/usr/bin")
if(TARGET tesela_head-mpich)
    # It is the one that was found.
elseif(MPICH_INCLUDE AND MPICH_LIBRARY AND MPICH_MPIRUN)
    add_library(tesela_mpich INTERFACE)
    target_include_directories(tesela_mpich SYSTEM INTERFACE ${MPICH_INCLUDE})
    target_link_libraries(tesela_mpich INTERFACE ${MPICH_LIBRARY})
    tesela_add_nodes(-mpich tesela_mpich)
    target_compile_definitions(tesela PRIVATE TESELA_MPICH_MPIRUN="${MPICH_MPIRUN}")
else()
    message(STATUS "MPICH isn't here (Debian: libmpich-dev, mpich): nodes are not tried with it.")
endif()
if(NOT TARGET tesela_head AND NOT TARGET tesela_head-mpich)
    message(STATUS "MPI isn't here (Debian: libopenmpi-dev): members on other machines (tesela run --nodes) are not there.")
endif()
