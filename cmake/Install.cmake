# Where Debian expects things: the library in lib/<multiarch>, the .icd file in /etc/OpenCL/vendors whatever the
# prefix (no loader looks anywhere else). Staged installs set DESTDIR.
if(NOT DEFINED CMAKE_INSTALL_SYSCONFDIR)
    set(CMAKE_INSTALL_SYSCONFDIR /etc CACHE PATH "Folder whose OpenCL/vendors the loaders read")
endif()
option(TESELA_PACKAGE "Install as Debian's package does: compressed manual pages, a changelog, a copyright file" OFF)
if(TESELA_PACKAGE)
    # A folder of its own: loaders open the library by its path, and nobody links with it.
    set(CMAKE_INSTALL_LIBDIR lib/${CMAKE_LIBRARY_ARCHITECTURE}/tesela)
elseif(NOT DEFINED CMAKE_INSTALL_LIBDIR AND CMAKE_LIBRARY_ARCHITECTURE)
    set(CMAKE_INSTALL_LIBDIR lib/${CMAKE_LIBRARY_ARCHITECTURE} CACHE PATH "Folder of libraries")
endif()
include(GNUInstallDirs)

function(tesela_install)
    install(TARGETS tesela_icd LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
    # The library finds its threads beside itself.
    install(TARGETS tesela_team LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tesela)
    install(TARGETS tesela_try RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR}/tesela)
    install(TARGETS tesela RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    # The tool finds the nodes' programs beside the library's others.
    foreach(mpi "" -mpich)
        if(TARGET tesela_head${mpi})
            install(TARGETS tesela_head${mpi} tesela_node${mpi} RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR}/tesela)
        endif()
    endforeach()
    # The library finds its compiler beside itself.
    if(TESELA_KC)
        install(TARGETS tesela_kc RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR}/tesela)
        install(FILES ${builtins_files} DESTINATION ${CMAKE_INSTALL_LIBDIR}/tesela)
    endif()
    # `tesela run` points the loader to a folder that holds our .icd alone; in a build tree that is icd/.
    file(RELATIVE_PATH icd_from_tool ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR}/tesela/icd)
    target_compile_definitions(tesela PRIVATE TESELA_ICD_FROM_TOOL="${icd_from_tool}")
    if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/include/CL)
        install(DIRECTORY include/CL DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
    endif()
    install(FILES src/tool/completion.bash RENAME tesela DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES src/tool/completion.zsh RENAME _tesela
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/$<IF:$<BOOL:${TESELA_PACKAGE}>,vendor-completions,site-functions>)
    # The manual pages point to them.
    install(DIRECTORY docs/user/
        DESTINATION $<IF:$<BOOL:${TESELA_PACKAGE}>,${CMAKE_INSTALL_DATADIR}/doc/tesela-opencl-icd,${CMAKE_INSTALL_DOCDIR}>
        FILES_MATCHING PATTERN "*.md" PATTERN "*.png")
    file(GLOB man_pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/user/*.1)
    if(TESELA_PACKAGE)
        tesela_install_package_files("${man_pages}")
    else()
        install(FILES ${man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    endif()
    # Written when installing, for only then is the prefix known (cmake --install --prefix).
    install(CODE "
        cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_PREFIX NORMALIZE)
        set(library \"${CMAKE_INSTALL_LIBDIR}/libtesela.so\")
        cmake_path(ABSOLUTE_PATH library BASE_DIRECTORY \"\${CMAKE_INSTALL_PREFIX}\")
        set(vendors \"${CMAKE_INSTALL_SYSCONFDIR}/OpenCL/vendors\")
        cmake_path(ABSOLUTE_PATH vendors BASE_DIRECTORY \"\${CMAKE_INSTALL_PREFIX}\")
        set(alone \"${CMAKE_INSTALL_LIBDIR}/tesela/icd\")
        cmake_path(ABSOLUTE_PATH alone BASE_DIRECTORY \"\${CMAKE_INSTALL_PREFIX}\")
        foreach(folder \${vendors} \${alone})
            message(STATUS \"Installing: \$ENV{DESTDIR}\${folder}/tesela.icd\")
            file(WRITE \"\$ENV{DESTDIR}\${folder}/tesela.icd\" \"\${library}\\n\")
        endforeach()")
endfunction()
