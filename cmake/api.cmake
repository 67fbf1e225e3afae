# The manual of the library, made from its headers: section-3 pages, and HTML where there is mandoc (docs/api).
set(api ${PROJECT_BINARY_DIR}/api)
file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/kerf/*.h)
add_custom_command(OUTPUT ${api}/made
  COMMAND ${PROJECT_SOURCE_DIR}/docs/api/make ${PROJECT_SOURCE_DIR}/include ${api}
  COMMAND ${CMAKE_COMMAND} -E touch ${api}/made
  DEPENDS ${headers} ${PROJECT_SOURCE_DIR}/docs/api/make ${PROJECT_SOURCE_DIR}/docs/api/manual.awk
          ${PROJECT_SOURCE_DIR}/docs/api/link.awk ${PROJECT_SOURCE_DIR}/docs/api/api.css
  COMMENT "Making the manual of the library" VERBATIM)
add_custom_target(api ALL DEPENDS ${api}/made)
install(DIRECTORY ${api}/man3 DESTINATION ${CMAKE_INSTALL_MANDIR})
install(DIRECTORY ${api}/html/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs/api OPTIONAL)
