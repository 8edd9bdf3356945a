# LLVM, Clang and LLD as parts of a program, which then needs nothing but the C library: for machines without LLVM and without
# a linker. The Debian packages are liblld-19-dev, zlib1g-dev and libzstd-dev besides those of the kernel compiler.

# What LLVM's static libraries ask for and the program doesn't need, in a file of its own.
function(write_left_out result)
    execute_process(COMMAND ${STATIC_LLVM_CONFIG} --targets-built OUTPUT_VARIABLE targets
        OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    separate_arguments(targets UNIX_COMMAND "${targets}")
    # LLD makes all targets ready: 65 MB of code.
    list(REMOVE_ITEM targets X86 NVPTX ${CMAKE_SYSTEM_PROCESSOR})
    set(code [[
#include <llvm/Passes/PassPlugin.h>
#include <sys/random.h>

/* Debian's Clang asks for Polly's passes. */
llvm::PassPluginLibraryInfo getPollyPluginInfo();
llvm::PassPluginLibraryInfo getPollyPluginInfo()
{
    return {LLVM_PLUGIN_API_VERSION, "none", "0", [](llvm::PassBuilder &) {}};
}

/* For names of temporary files. The C library has it since 2.36, and the program is to run with older ones. */
extern "C" unsigned arc4random() noexcept
{
    unsigned word = 0;

    return getrandom(&word, sizeof word, 0) == sizeof word ? word : 0;
}

/* The targets that no kernel is compiled for. */
extern "C" {
]])
    foreach(target IN LISTS targets)
        foreach(part TargetInfo Target TargetMC AsmPrinter AsmParser)
            string(APPEND code "void LLVMInitialize${target}${part}() {}\n")
        endforeach()
    endforeach()
    string(APPEND code "}\n")
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/left_out.cpp CONTENT "${code}" @ONLY)
    set(${result} ${CMAKE_BINARY_DIR}/left_out.cpp PARENT_SCOPE)
endfunction()

function(tesela_link_static_llvm target)
    file(GLOB clang ${LLVM_LIBRARIES}/libclang*.a)
    # Without Clang's C interface and its tools.
    list(FILTER clang EXCLUDE REGEX "/libclang(-cpp|-[0-9.]+|Tidy.*|Daemon.*|d.*|)[.]a$")
    find_library(STATIC_ZSTD libzstd.a)
    find_library(STATIC_Z libz.a)
    find_program(STATIC_LLVM_CONFIG llvm-config-${LLVM_MAJOR} PATHS ${LLVM_LIBRARIES}/../bin)
    if(NOT clang OR NOT EXISTS ${LLVM_LIBRARIES}/liblldELF.a OR NOT STATIC_Z OR NOT STATIC_ZSTD OR NOT STATIC_LLVM_CONFIG)
        message(FATAL_ERROR "A compiler that needs no LLVM is linked with LLVM's static libraries: install the Debian packages "
            "libclang-${LLVM_MAJOR}-dev llvm-${LLVM_MAJOR}-dev liblld-${LLVM_MAJOR}-dev zlib1g-dev libzstd-dev.")
    endif()
    execute_process(COMMAND ${STATIC_LLVM_CONFIG} --link-static --libfiles all OUTPUT_VARIABLE llvm
        OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    separate_arguments(llvm UNIX_COMMAND "${llvm}")
    list(FILTER llvm EXCLUDE REGEX "Polly")
    write_left_out(left_out)
    add_library(left_out OBJECT ${left_out})
    target_include_directories(left_out SYSTEM PRIVATE ${LLVM_INCLUDES})
    target_compile_options(left_out PRIVATE -fno-rtti -fno-exceptions)
    target_link_libraries(${target} PRIVATE left_out -Wl,--start-group ${LLVM_LIBRARIES}/liblldELF.a
        ${LLVM_LIBRARIES}/liblldCommon.a ${clang} ${llvm} -Wl,--end-group ${STATIC_ZSTD} ${STATIC_Z})
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc -Wl,--gc-sections)
endfunction()
