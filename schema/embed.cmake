# cmake -DROOT=dir -DFILES=a.sql;b.rules -DOUTPUT=x.cc -P embed.cmake: writes the files as C++ raw strings.
set(out "#include \"sql/scripts.h\"\n\nnamespace tracedb {\nnamespace {\nconstexpr Script kScripts[] = {\n")
foreach(file IN LISTS FILES)
  file(READ ${ROOT}/${file} text)
  string(REGEX REPLACE "\\.(sql|rules|py)$" "" name ${file})
  string(APPEND out "    {\"${name}\", R\"sql_text(${text})sql_text\"},\n")
endforeach()
string(APPEND out "};\n}  // namespace\nstd::span<const Script> scripts() { return kScripts; }\n}  // namespace tracedb\n")
file(WRITE ${OUTPUT} "${out}")
