# Run by cpack on the files of a .deb before they are packed: what Debian's policy asks of them.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()
set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr)
set(documents ${root}/share/doc/tracedb)
file(RENAME ${documents}/LICENSE ${documents}/copyright)
file(RENAME ${documents}/CHANGELOG.md ${documents}/changelog)
file(RENAME ${root}/share/zsh/site-functions ${root}/share/zsh/vendor-completions)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # of SOURCE_DATE_EPOCH, where it is set
file(WRITE ${documents}/changelog.Debian
     "tracedb (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium\n\n  * Release ${CPACK_PACKAGE_VERSION}; "
     "/usr/share/doc/tracedb/changelog.gz says what changed.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
file(GLOB pages ${root}/share/man/man*/*.[15])
execute_process(COMMAND gzip -9n ${pages} ${documents}/changelog ${documents}/changelog.Debian COMMAND_ERROR_IS_FATAL ANY)
file(GLOB_RECURSE entries LIST_DIRECTORIES true ${root}/*)
foreach(entry ${entries})
  if(IS_DIRECTORY ${entry} OR entry MATCHES "/bin/")
    file(CHMOD ${entry} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  else()
    file(CHMOD ${entry} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  endif()
endforeach()
