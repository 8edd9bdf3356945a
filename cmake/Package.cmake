# `cpack -G DEB` in the build folder makes Debian's package tesela-opencl-icd; scripts/package builds it, and the wheel.
set(TESELA_MAINTAINER "Tesela's maintainers <tesela@localhost>" CACHE STRING "Who is named in packages")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tesela-opencl-icd)
set(CPACK_PACKAGE_VENDOR Tesela)
set(CPACK_PACKAGE_CONTACT "${TESELA_MAINTAINER}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "OpenCL ICD that shows all OpenCL devices as one")
set(CPACK_PACKAGE_DESCRIPTION "Tesela is an OpenCL implementation made of others. It shows programs one
platform with one device, behind which all devices of the machine stand:
other vendors' OpenCL, NVIDIA GPUs by CUDA, and the processor itself.
.
Programs that were written for one device run on all of them, unchanged:
commands of one queue run on several devices at once, large kernels are cut
over them, and data moves by itself. The package has the library, its kernel
compiler, and the command tesela, which runs programs on it and shows what
they did.")
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
# By name; shlibdeps adds the libraries. `ld` links kernels.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "binutils, ocl-icd-libopencl1 | libopencl1")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "clinfo, llvm-spirv-15")
set(CPACK_DEBIAN_PACKAGE_PROVIDES "opencl-icd")
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
file(WRITE ${CMAKE_BINARY_DIR}/packed/conffiles "/etc/OpenCL/vendors/tesela.icd\n")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_BINARY_DIR}/packed/conffiles)
include(CPack)

# Compresses a file into the build folder and installs it from there.
function(tesela_install_compressed file name destination)
    set(packed ${CMAKE_BINARY_DIR}/packed/${name}.gz)
    execute_process(COMMAND gzip -9nc ${file} OUTPUT_FILE ${packed} COMMAND_ERROR_IS_FATAL ANY)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    install(FILES ${packed} DESTINATION ${destination})
endfunction()

function(tesela_install_package_files man_pages)
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/packed)
    foreach(page IN LISTS man_pages)
        cmake_path(GET page FILENAME name)
        tesela_install_compressed(${page} ${name} ${CMAKE_INSTALL_MANDIR}/man1)
    endforeach()
    set(folder ${CMAKE_INSTALL_DATADIR}/doc/tesela-opencl-icd)
    configure_file(cmake/debian/changelog.in packed/changelog @ONLY)
    tesela_install_compressed(${CMAKE_BINARY_DIR}/packed/changelog changelog ${folder})
    configure_file(cmake/debian/copyright.in packed/copyright @ONLY)
    install(FILES ${CMAKE_BINARY_DIR}/packed/copyright DESTINATION ${folder})
    install(FILES cmake/debian/lintian-overrides DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides
        RENAME tesela-opencl-icd)
endfunction()
