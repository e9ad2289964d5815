# What an installation has beside program, library and headers, and the Debian packages made of it: `cpack -G DEB` in the
# build folder gives orrery (the program) and orrery-dev (the library).
find_program(ORRERY_HELP2MAN help2man DOC "Makes manual pages of --help; without it there are none")

# Made while building, since several installations may run at once, and some by another user.
set(documents ${PROJECT_BINARY_DIR}/documents)
add_custom_command(OUTPUT ${documents}/made
                   COMMAND ${CMAKE_COMMAND} "-DPROGRAM=$<TARGET_FILE:orrery_app>" -DVERSION=${PROJECT_VERSION}
                           "-DHELP2MAN=$<$<BOOL:${ORRERY_HELP2MAN}>:${ORRERY_HELP2MAN}>" -DOUT=${documents}
                           -P ${PROJECT_SOURCE_DIR}/cmake/documents.cmake
                   COMMAND ${CMAKE_COMMAND} -E touch ${documents}/made
                   DEPENDS orrery_app ${PROJECT_SOURCE_DIR}/cmake/documents.cmake VERBATIM
                   COMMENT "Writing manual pages and completions")
add_custom_target(orrery_documents ALL DEPENDS ${documents}/made)
install(FILES ${documents}/orrery.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME orrery
        COMPONENT program)
install(FILES ${documents}/orrery.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions RENAME _orrery COMPONENT program)
install(FILES ${documents}/orrery.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)
install(DIRECTORY ${documents}/man/ DESTINATION ${CMAKE_INSTALL_DATADIR}/man/man1 COMPONENT program)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/orrery RENAME copyright COMPONENT program)
install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/orrery COMPONENT program)
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/orrery COMPONENT program)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/orrery-dev RENAME copyright COMPONENT development)

set(CPACK_PACKAGE_VENDOR "Orrery")
set(CPACK_PACKAGE_CONTACT "The Orrery developers <developers@orrery.invalid>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL program development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME orrery)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
# Loaded where it is installed: PNG of pictures.
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS librsvg2-2)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "${PROJECT_DESCRIPTION}")
# The library is an archive, so who links it needs what it was made with.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME orrery-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libfmt-dev, libyaml-cpp-dev, zlib1g-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "${PROJECT_DESCRIPTION}: library and headers")
include(CPack)
