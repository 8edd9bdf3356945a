# Members on other machines. What serves them, whatever brings the requests, for tests as well.
file(GLOB node_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/node/*.c)
list(FILTER node_sources EXCLUDE REGEX "/src/node/(main|head[a-z_]*|node_main|mpi_io)[.]c$")
add_library(tesela_node_server STATIC ${node_sources})
target_link_libraries(tesela_node_server PUBLIC tesela_core)
