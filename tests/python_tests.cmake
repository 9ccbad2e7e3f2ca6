# Tests in Python, standard library only: a file is a test (README.md). 77: everything in it was skipped, for reasons it printed.
# The limit of time only ends what hangs.
foreach(folder golden property reliability browser fleet)
  file(GLOB files CONFIGURE_DEPENDS ${folder}/*_test.py)
  foreach(file ${files})
    cmake_path(GET file STEM name)
    string(REGEX REPLACE "(.*)_test" "${folder}.\\1" name ${name})
    add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} -I ${CMAKE_CURRENT_SOURCE_DIR} ${name})
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900
                                            ENVIRONMENT "TRACEDB_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  endforeach()
endforeach()

# On servers of Debian's packages: tools/fleet/check.sh runs them, elsewhere they say so and are skipped.
set_tests_properties(fleet.ingest_task fleet.loader fleet.slurm fleet.warehouse PROPERTIES LABELS fleet)
set_tests_properties(fleet.slurm fleet.warehouse PROPERTIES RUN_SERIAL TRUE)

# The longest begin first: none runs alone at the end.
set_tests_properties(reliability.linear_work browser.report browser.page golden.reports golden.kineto_counts property.compare
                     PROPERTIES COST 1)
