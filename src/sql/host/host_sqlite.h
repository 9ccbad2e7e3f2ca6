// The SQLite of a program that loaded us as an extension, and its connection: what src/sql has besides in such a place.
// All of src/sql runs inside that program then and calls that program's SQLite: the host's may be linked statically,
// and a second one in a process would take away the file locks of the first. Part of the extension only.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "sql/database.h"

struct sqlite3;
struct sqlite3_api_routines;

namespace tracedb {

// Makes all of src/sql call these functions: before anything else of it is called. Throws Error{kUsage} for an SQLite
// that is too old, and where another SQLite of the same process came first.
void use_host_sqlite(const sqlite3_api_routines* routines);

// The file of the schema "main"; nullopt: there is none, it is in memory.
std::optional<std::filesystem::path> main_file(Database& host);

// Whether that name means another file by now than the one that the host reads.
bool has_main_moved(Database& host);

bool has_function(Database& host, const std::string& call);  // "f()"

// Destroys `owned` when the connection is closed.
void keep_until_closed(Database& host, std::shared_ptr<void> owned);

// For the entry point of an extension: returns what says that loading failed, with the text as the reason.
int fail_loading(const sqlite3_api_routines* routines, char** message, std::string_view text);

}  // namespace tracedb
