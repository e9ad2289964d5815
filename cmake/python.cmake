# Which Python the module is built for. ORRERY_PYTHON: AUTO builds it where pybind11 and the development files of that
# Python are found and says so where they are not, ON stops there, OFF leaves it out.
set(ORRERY_PYTHON AUTO CACHE STRING "Build the Python module: AUTO, ON or OFF")
set_property(CACHE ORRERY_PYTHON PROPERTY STRINGS AUTO ON OFF)
# The distribution's Python has the distribution's packages; one that a version manager puts in front of it does not.
find_program(ORRERY_PYTHON_EXECUTABLE python3 PATHS /usr/bin NO_DEFAULT_PATH
             DOC "Python that the module is built for and its tests run with")
find_program(ORRERY_PYTHON_EXECUTABLE python3)

# Sets ORRERY_HAS_PYTHON, and with it Python_EXECUTABLE and the commands of pybind11.
macro(orrery_find_python)
  set(ORRERY_HAS_PYTHON FALSE)
  if(ORRERY_PYTHON AND ORRERY_SANITIZE)
    message(STATUS "Python module: left out, a plain Python cannot load sanitized code")
  elseif(ORRERY_PYTHON)
    set(Python_EXECUTABLE ${ORRERY_PYTHON_EXECUTABLE})
    find_package(Python QUIET COMPONENTS Interpreter Development.Module)
    if(Python_Development.Module_FOUND)
      set(PYBIND11_FINDPYTHON ON)
      find_package(pybind11 2.10 QUIET CONFIG)
    endif()
    if(Python_Development.Module_FOUND AND pybind11_FOUND)
      set(ORRERY_HAS_PYTHON TRUE)
      message(STATUS "Python module: for ${Python_EXECUTABLE} ${Python_VERSION}")
    elseif(ORRERY_PYTHON STREQUAL AUTO)
      message(STATUS "Python module: left out, it needs the packages pybind11-dev and python3-dev")
    else()
      message(FATAL_ERROR "ORRERY_PYTHON is ON and pybind11 or the development files of "
                          "${ORRERY_PYTHON_EXECUTABLE} are missing (pybind11-dev, python3-dev)")
    endif()
  endif()
endmacro()
