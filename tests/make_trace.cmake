add_test(NAME make_trace
         COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/property/make_trace_test.py $<TARGET_FILE:make-trace>)
