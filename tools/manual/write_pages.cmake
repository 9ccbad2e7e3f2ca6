# cmake -DINGEST=... -DQUERY=... -DMAKE_TRACE=... -DPAGES=folder -P write_pages.cmake: the manual pages that the programs
# print of themselves, in PAGES/man1 and PAGES/man5.
cmake_policy(VERSION 3.21)
file(REMOVE_RECURSE ${PAGES})
file(MAKE_DIRECTORY ${PAGES}/man1 ${PAGES}/man5)

function(write_page page)
  execute_process(COMMAND ${ARGN} OUTPUT_FILE ${PAGES}/${page} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}: ended with ${status}")
  endif()
endfunction()

write_page(man1/trace-ingest.1 ${INGEST} --man)
write_page(man1/make-trace.1 ${MAKE_TRACE} --man)
write_page(man1/trace-query.1 ${QUERY} --man)
write_page(man5/tracedb.5 ${QUERY} --man tracedb)
# Each line of the answer is a command, a TAB and its summary.
execute_process(COMMAND ${QUERY} --complete help "" OUTPUT_VARIABLE commands COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "(^|\n)[a-z-]+\t" commands "${commands}")
foreach(command IN LISTS commands)
  string(STRIP "${command}" command)
  write_page(man1/trace-query-${command}.1 ${QUERY} ${command} --man)
endforeach()
