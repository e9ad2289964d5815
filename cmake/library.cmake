# The library for programs outside: the objects of all rooms below the studies in one archive, the headers of
# include/orrery/, and a package, so that find_package(orrery) gives orrery::orrery.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
find_package(fmt REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(ZLIB REQUIRED)

set(library_rooms topologies workloads sim config reports face)
list(TRANSFORM library_rooms REPLACE "(.+)" "$<TARGET_OBJECTS:orrery_\\1>" OUTPUT_VARIABLE library_objects)
add_library(orrery ${library_objects})
add_library(orrery::orrery ALIAS orrery)
target_include_directories(orrery PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                         $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(orrery PUBLIC cxx_std_20)
target_link_libraries(orrery PRIVATE fmt::fmt yaml-cpp ZLIB::ZLIB)
set_target_properties(orrery PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION})

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/orrery)
install(TARGETS orrery EXPORT orrery_targets COMPONENT development)
install(DIRECTORY include/orrery DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
        FILES_MATCHING PATTERN *.hpp)
install(EXPORT orrery_targets NAMESPACE orrery:: FILE orrery-targets.cmake DESTINATION ${package_folder}
        COMPONENT development)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/orrery-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/orrery-config.cmake ${PROJECT_BINARY_DIR}/orrery-config-version.cmake
        DESTINATION ${package_folder} COMPONENT development)

# For builds without CMake: found from where the file lies, so that an installation may be moved.
set(pkgconfig_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH to_prefix /${pkgconfig_folder} /)
string(REGEX REPLACE "/$" "" to_prefix "${to_prefix}")
configure_file(cmake/orrery.pc.in orrery.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/orrery.pc DESTINATION ${pkgconfig_folder} COMPONENT development)
