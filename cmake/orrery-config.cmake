# find_package(orrery): the target orrery::orrery, with the libraries that it needs at link time.
include(CMakeFindDependencyMacro)
find_dependency(fmt)
find_dependency(yaml-cpp)
find_dependency(ZLIB)
include(${CMAKE_CURRENT_LIST_DIR}/orrery-targets.cmake)
