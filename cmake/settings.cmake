# Compiler settings shared by every target. Floating point is kept to plain IEEE operations, so that
# results are the same to the bit for every compiler and optimisation level.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(ORRERY_CCACHE ccache)
if(ORRERY_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Lets the cache serve files compiled with the tests' precompiled header as well.
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros ${ORRERY_CCACHE})
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
                    -Wnon-virtual-dtor -Wold-style-cast -Wcast-align
                    -ffp-contract=off)
add_compile_options("$<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>"
                    "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
# g++ 12 sees overlaps and overflows in std::string's operator+ that are not there (GCC bug 105651).
add_compile_options("$<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-Wno-stringop-overflow>")
if(ORRERY_WERROR)
  add_compile_options(-Werror)
endif()
if(ORRERY_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "ORRERY_FUZZ: found ${CMAKE_CXX_COMPILER_ID}, allowed Clang: -DCMAKE_CXX_COMPILER=clang++")
  endif()
  set(ORRERY_SANITIZE ON)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(ORRERY_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
  # Sanitized programs are large: LLVM's linker takes a fifth of the time of GNU's.
  find_program(ORRERY_LLD ld.lld)
  if(ORRERY_LLD AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_link_options(-fuse-ld=lld)
  endif()
  # Undefined behaviour ends the program without a word (SIGILL), which compiles in less time.
  if(ORRERY_SANITIZE_TRAPS)
    add_compile_options(-fsanitize-trap=undefined)
  endif()
endif()
