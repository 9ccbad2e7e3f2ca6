// Makes the functions of SQLite that src/sql calls those of the program that loaded us as an extension, through the
// table of functions that it gives us. The files of src/sql are compiled a second time for the extension, each with
// this before it (tools/CMakeLists.txt); the programs have the library's. golden.sqlite_extension fails if a call goes
// elsewhere.
#pragma once

#include <sqlite3ext.h>

SQLITE_EXTENSION_INIT3
