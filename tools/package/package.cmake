# What `cmake --install` copies besides the programs, and the package that cpack makes: a .deb or, with TRACEDB_STATIC, a
# .tar.gz for any Linux.
include(GNUInstallDirs)

set(data ${CMAKE_INSTALL_DATADIR}/tracedb)
install(DIRECTORY schema/rules DESTINATION ${data} FILES_MATCHING PATTERN *.rules)
install(DIRECTORY schema DESTINATION ${data} FILES_MATCHING PATTERN *.sql PATTERN rules EXCLUDE)
# Where links of one document lead to another, as in the sources.
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY src/manual DESTINATION ${CMAKE_INSTALL_DOCDIR}/src)
install(FILES tools/python/README.md tools/python/tour.ipynb DESTINATION ${CMAKE_INSTALL_DOCDIR}/tools/python)
install(FILES schema/README.md schema/METRICS.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/schema)

if(TRACEDB_STATIC)
  set(CPACK_GENERATOR TGZ)
  set(CPACK_PACKAGING_INSTALL_PREFIX /)
else()
  set(CPACK_GENERATOR DEB)
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
endif()
set(CPACK_PACKAGE_NAME tracedb)
set(CPACK_PACKAGE_VENDOR "The tracedb authors")
set(CPACK_PACKAGE_CONTACT "The tracedb authors <maintainers@tracedb.invalid>" CACHE STRING "Maintainer of the packages")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/package)
set(CPACK_STRIP_FILES ON)
string(TOLOWER "${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}" system)
set(CPACK_PACKAGE_FILE_NAME tracedb-${PROJECT_VERSION}-${system})
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/debian_files.cmake)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS OFF)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "sqlite3, python3")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
    "trace-ingest turns a profiler trace of any size into one small SQLite file;\n\
trace-query answers questions from it: kernels, operations, steps, layers, idle\n\
time and its causes, comparisons of two traces with reasons, and any SQL.")
include(CPack)
