# Headers that most sources need, read once for each target (precompiled).
set(ORRERY_COMMON_HEADERS <algorithm> <array> <cstdint> <functional> <limits> <map> <memory> <optional> <span> <string>
    <string_view> <utility> <vector>)

# Lets the compiler read the sources of a target several at a time (unity build) and the headers given, besides the
# common ones, once.
#   orrery_quick_build(TARGET [BATCH sources at a time] [OPTIMIZE level of release builds]
#                      [PRECOMPILE header... | PRECOMPILED_BY target with the same OPTIMIZE])
# Without OPTIMIZE, release builds take CMake's -O3. What is not simulated in millions of tasks compiles in half the
# time and runs as fast with less; under sanitizers it is not optimised at all.
function(orrery_quick_build target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "BATCH;OPTIMIZE;PRECOMPILED_BY" "PRECOMPILE")
  if(NOT arg_BATCH)
    set(arg_BATCH 10)
  endif()
  if(ORRERY_UNITY)
    if(arg_BATCH GREATER 1)
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${arg_BATCH})
    endif()
    if(arg_PRECOMPILED_BY)
      target_precompile_headers(${target} REUSE_FROM ${arg_PRECOMPILED_BY})
    else()
      target_precompile_headers(${target} PRIVATE ${ORRERY_COMMON_HEADERS} ${arg_PRECOMPILE})
    endif()
  endif()
  if(arg_OPTIMIZE AND CMAKE_CXX_FLAGS_RELEASE MATCHES "-O3")
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${arg_OPTIMIZE}>)
  endif()
  if(arg_OPTIMIZE AND ORRERY_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
  endif()
endfunction()

# A room is one library: all sources of its folder and those below.
#   orrery_room(NAME [LIBRARIES room it may know...] [options of orrery_quick_build])
function(orrery_room name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "BATCH;OPTIMIZE;PRECOMPILED_BY" "LIBRARIES;PRECOMPILE")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_library(orrery_${name} STATIC ${sources})
  target_link_libraries(orrery_${name} PUBLIC orrery_headers ${arg_LIBRARIES})
  orrery_quick_build(orrery_${name} BATCH ${arg_BATCH} OPTIMIZE ${arg_OPTIMIZE} PRECOMPILED_BY ${arg_PRECOMPILED_BY}
                     PRECOMPILE ${arg_PRECOMPILE})
endfunction()
