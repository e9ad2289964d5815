# A room is one library: all sources of its folder and those below, which the compiler reads several at a time (unity
# build), with the standard headers that most of them need read once (precompiled).
#   orrery_room(NAME LIBRARY...)    the rooms it may know
function(orrery_room name)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  add_library(orrery_${name} STATIC ${sources})
  target_link_libraries(orrery_${name} PUBLIC orrery_face ${ARGN})
  set_target_properties(orrery_${name} PROPERTIES UNITY_BUILD ${ORRERY_UNITY} UNITY_BUILD_BATCH_SIZE 10)
  target_precompile_headers(orrery_${name} PRIVATE <algorithm> <array> <cstdint> <functional> <limits> <map> <memory>
                            <optional> <span> <string> <string_view> <utility> <vector>)
endfunction()
