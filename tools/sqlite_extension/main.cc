// libtracedb_sqlite.so: a loadable extension of SQLite. `.load libtracedb_sqlite` in its shell, load_extension() in
// Python and elsewhere.
#include "base/failure.h"
#include "report/escape.h"
#include "sql/host/host_sqlite.h"
#include "sqlite_extension/host_index.h"

// SQLite looks for a function of this name in a library of that name.
extern "C" [[gnu::visibility("default")]] int sqlite3_tracedbsqlite_init(sqlite3* connection, char** message,
                                                                         const sqlite3_api_routines* routines) {
  // The host may load us into every connection, also those that we open.
  if (tracedb::HostIndex::is_opening()) return 0;
  const auto failure = tracedb::catch_error([&] {
    tracedb::use_host_sqlite(routines);
    tracedb::HostIndex::add_to(connection);
  });
  if (!failure) return 0;
  return tracedb::fail_loading(routines, message, tracedb::escape_text(failure->what()));
}
