# Members on other machines. What serves them, whatever brings the requests, for tests as well.
file(GLOB node_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/node/*.c)
list(FILTER node_sources EXCLUDE REGEX "/src/node/(main|head[a-z_]*|node_main|mpi_io)[.]c$")
add_library(tesela_node_server STATIC ${node_sources})
target_link_libraries(tesela_node_server PUBLIC tesela_core)

# tesela-head and tesela-node, where MPI is. Nothing else links it.
find_package(MPI COMPONENTS C QUIET)
if(NOT MPI_C_FOUND)
    message(STATUS "MPI isn't here (Debian: libopenmpi-dev): members on other machines (tesela run --nodes) are not there.")
    return()
endif()
add_executable(tesela_head src/node/head_main.c src/node/head_node.c src/node/head_program.c src/node/mpi_io.c
    src/remote/frames.c src/base/bytes.c src/base/clock.c)
target_include_directories(tesela_head PRIVATE include src icd ${PROJECT_SOURCE_DIR})
target_link_libraries(tesela_head PRIVATE tesela_flags tesela_requirements MPI::MPI_C)
add_executable(tesela_node src/node/main.c src/node/node_main.c src/node/mpi_io.c)
target_link_libraries(tesela_node PRIVATE tesela_node_server MPI::MPI_C)
tesela_link_program(tesela_node)
set_target_properties(tesela_head PROPERTIES OUTPUT_NAME tesela-head RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/nodes)
set_target_properties(tesela_node PROPERTIES OUTPUT_NAME tesela-node RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/nodes)

# The tool starts jobs with this MPI's own program.
if(MPI_C_LIBRARY_VERSION_STRING MATCHES "Open MPI" OR MPIEXEC_EXECUTABLE MATCHES "openmpi" OR MPI_C_LIBRARIES MATCHES "openmpi")
    set(open_mpi 1)
else()
    set(open_mpi 0)
endif()
target_compile_definitions(tesela PRIVATE TESELA_MPIRUN="${MPIEXEC_EXECUTABLE}" TESELA_OPEN_MPI=${open_mpi})
add_dependencies(tesela tesela_head tesela_node)
