# The modules that spirv_test.c, compiler/special_test.c and compiler/ptx_test.c build: ${CMAKE_CURRENT_BINARY_DIR}/spirv/NAME.spv of spirv/NAME.cl.
set(modules)
foreach(name programs functions generic images constants part other turn)
    set(std CL1.2)
    if(name MATCHES "^(generic|part|other)$")
        set(std CL2.0)
    endif()
    set(source ${CMAKE_CURRENT_SOURCE_DIR}/spirv/${name}.cl)
    set(module ${CMAKE_CURRENT_BINARY_DIR}/spirv/${name})
    add_custom_command(OUTPUT ${module}.spv
        COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/spirv
        COMMAND ${CLANG} -target spir64 -cl-std=${std} -Xclang -finclude-default-header -O0 -fno-discard-value-names
            -c -emit-llvm -o ${module}.bc ${source}
        COMMAND ${LLVM_SPIRV} --spirv-max-version=1.3 --preserve-ocl-kernel-arg-type-metadata-through-string -o ${module}.spv ${module}.bc
        DEPENDS ${source} VERBATIM)
    list(APPEND modules ${module}.spv)
endforeach()
add_custom_target(spirv_modules DEPENDS ${modules})
set_property(GLOBAL APPEND PROPERTY TESELA_TEST_VENDORS spirv_modules)
foreach(test compiler_special_test compiler_ptx_test)
    target_compile_definitions(${test} PRIVATE HAS_SPIRV_MODULES)
    add_dependencies(${test} spirv_modules)
endforeach()
