/* A program with an SQLite of its own, linked statically, that loads the extension.
 *   extension-host load LIBRARY DATABASE SQL    as SQLite does it
 *   extension-host auto LIBRARY DATABASE SQL    into every connection of the process, by its entry point
 *   extension-host old LIBRARY                  pretends to be SQLite 3.37
 *   extension-host two LIBRARY                  pretends to be two copies of SQLite
 * Prints the rows, cells separated by "|", or the message of an error; exits with 1 then. */
#include <dlfcn.h>
#include <sqlite3ext.h>
#include <stdio.h>
#include <string.h>

#undef sqlite3_auto_extension
#undef sqlite3_close
#undef sqlite3_enable_load_extension
#undef sqlite3_errmsg
#undef sqlite3_exec
#undef sqlite3_load_extension
#undef sqlite3_open

typedef int (*Entry)(sqlite3*, char**, const sqlite3_api_routines*);

static const sqlite3_api_routines* routines;

static int take_routines(sqlite3* connection, char** message, const sqlite3_api_routines* given) {
  (void)connection;
  (void)message;
  routines = given;
  return SQLITE_OK;
}

static int old_number(void) { return 3037002; }
static const char* old_version(void) { return "3.37.2"; }

static int print_row(void* unused, int count, char** cells, char** names) {
  (void)unused;
  (void)names;
  for (int i = 0; i < count; ++i) printf("%s%s", i > 0 ? "|" : "", cells[i] != NULL ? cells[i] : "NULL");
  printf("\n");
  return 0;
}

static int fail(const char* message) {
  printf("%s\n", message != NULL ? message : "no message");
  return 1;
}

static int ask(sqlite3* connection, const char* sql) {
  char* message = NULL;
  if (sqlite3_exec(connection, sql, print_row, NULL, &message) != SQLITE_OK) return fail(message);
  return sqlite3_close(connection) == SQLITE_OK ? 0 : fail("not closed");
}

static int pretend(Entry entry, const char* mode) {
  sqlite3* connection = NULL;
  sqlite3_auto_extension((void (*)(void))take_routines);
  sqlite3_open(":memory:", &connection);
  sqlite3_api_routines changed = *routines;
  char* message = NULL;
  if (strcmp(mode, "old") == 0) {
    changed.libversion_number = old_number;
    changed.libversion = old_version;
  } else if (entry(connection, &message, routines) != SQLITE_OK) {
    return fail(message);
  }
  return entry(connection, &message, &changed) == SQLITE_OK ? 0 : fail(message);
}

int main(int argc, char** argv) {
  if (argc < 3) return fail("usage: extension-host load|auto|old|two LIBRARY [DATABASE SQL]");
  void* library = dlopen(argv[2], RTLD_NOW);
  Entry entry = NULL;
  if (library != NULL) *(void**)&entry = dlsym(library, "sqlite3_tracedbsqlite_init");
  if (entry == NULL) return fail(dlerror());
  if (argc < 5) return pretend(entry, argv[1]);
  sqlite3* connection = NULL;
  char* message = NULL;
  if (strcmp(argv[1], "auto") == 0) sqlite3_auto_extension((void (*)(void))entry);
  if (sqlite3_open(argv[3], &connection) != SQLITE_OK) return fail(sqlite3_errmsg(connection));
  sqlite3_enable_load_extension(connection, 1);
  if (strcmp(argv[1], "load") == 0 && sqlite3_load_extension(connection, argv[2], NULL, &message) != SQLITE_OK) {
    return fail(message);
  }
  return ask(connection, argv[4]);
}
