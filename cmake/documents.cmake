# Writes what goes beside the installed program and comes from its own --help: manual pages (where help2man is
# installed) and completions. cmake -DPROGRAM=... -DVERSION=... -DHELP2MAN=... -DOUT=... -P documents.cmake
function(run_program output)
  execute_process(COMMAND ${PROGRAM} ${ARGN} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  set(${output} "${text}" PARENT_SCOPE)
endfunction()

# Manual pages name-command.1 from "name command", as those of git.
function(write_manual page summary command)
  execute_process(COMMAND ${HELP2MAN} --no-info "--name=${summary}" "--version-string=${page} ${VERSION}"
                          --include=${OUT}/see-also "${PROGRAM}${command}"
                  OUTPUT_FILE ${OUT}/man/${page}.1 COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${OUT})
file(MAKE_DIRECTORY ${OUT}/man)
foreach(shell IN ITEMS bash zsh fish)
  run_program(script completion ${shell})
  file(WRITE ${OUT}/orrery.${shell} "${script}")
endforeach()

if(HELP2MAN)
  run_program(help --help)
  string(REGEX REPLACE ".*\nSubcommands:\n" "" list "${help}")
  string(REGEX MATCHALL "\n  [a-z]+ " commands "\n${list}")
  list(TRANSFORM commands STRIP)
  set(others "orrery(1)")
  foreach(command IN LISTS commands)
    string(APPEND others ", orrery-${command}(1)")
  endforeach()
  file(WRITE ${OUT}/see-also "[see also]\n${others}\n")
  write_manual(orrery "simulate LLM training clusters" "")
  foreach(command IN LISTS commands)
    run_program(help ${command} --help)
    string(REGEX MATCH "^[^\n]*" summary "${help}")
    write_manual(orrery-${command} "${summary}" " ${command}")
  endforeach()
endif()
