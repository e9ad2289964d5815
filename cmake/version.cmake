# Sets `output` to the version and, where the sources are a checkout of their own, the commit: "0.1.0 (4bb6580a1b)". An
# unpacked archive has the version alone, also where it lies inside another checkout.
function(orrery_version_text output)
  set(text "${PROJECT_VERSION}")
  find_package(Git QUIET)
  if(GIT_FOUND AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
    execute_process(COMMAND ${GIT_EXECUTABLE} describe --always --dirty --abbrev=10 --exclude=*
                    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE
                    ERROR_QUIET RESULT_VARIABLE status)
    if(status EQUAL 0 AND commit)
      string(APPEND text " (${commit})")
    endif()
  endif()
  set(${output} "${text}" PARENT_SCOPE)
endfunction()
