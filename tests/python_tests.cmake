# Tests in Python, standard library only. 77: everything in the file was skipped, for reasons it printed.

function(tracedb_python_test name file timeout)
  add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} -I ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${timeout}
                                          ENVIRONMENT "TRACEDB_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
endfunction()

tracedb_python_test(golden.kineto_counts golden/kineto_counts_test.py 900)
tracedb_python_test(golden.tracelens golden/tracelens_test.py 300)
tracedb_python_test(golden.bad_input golden/bad_input_test.py 300)
tracedb_python_test(golden.readme golden/readme_test.py 300)
tracedb_python_test(golden.query_output golden/query_output_test.py 300)
tracedb_python_test(property.determinism property/determinism_test.py 600)
tracedb_python_test(reliability.batch reliability/batch_test.py 600)
tracedb_python_test(reliability.process reliability/process_test.py 600)
tracedb_python_test(reliability.housekeeping reliability/housekeeping_test.py 600)
tracedb_python_test(reliability.time_limit reliability/time_limit_test.py 600)
tracedb_python_test(reliability.refresh reliability/refresh_test.py 600)
tracedb_python_test(reliability.output_file reliability/output_file_test.py 300)
