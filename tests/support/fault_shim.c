// Makes the system fail on purpose: preloaded into a program (LD_PRELOAD), it stands before the calls that touch files
// and lets one of them, or several, go wrong. What the program says and leaves behind is for the test to judge.
//
// The environment says which calls (a kind not named in FAULT_CALLS is passed on untouched):
//   FAULT_CALLS   kinds with a blank after each: "open " "create " "read " "write " "sync " "truncate " "rename "
//                 "unlink " "close "
//   FAULT_PATH    only files whose path contains this
//   FAULT_AT      number of the first matching call that goes wrong, from 1
//   FAULT_STEP    0: only that one (default); 1: all from there on; 2: every second one
//   FAULT_ERRNO   it fails with this; 0: it is done, but a read or write only for a part of what was asked
//   FAULT_SIGNAL  instead, the process gets this signal before the call; FAULT_AFTER=1: after it
//   FAULT_MARK    file that is made once a call went wrong, with what was hit
//   FAULT_CLOCK   the clock of the process (not that of the file system) is wrong by so many seconds
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// The address of the function that this one stands before.
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

typedef enum { kDo, kFail, kShorten, kSignalAfter } Fate;

static long number_of(const char* name) {
  const char* text = getenv(name);
  return text != NULL ? atol(text) : 0;
}

static void mark(const char* kind, const char* path) {
  const char* name = getenv("FAULT_MARK");
  if (name == NULL) return;
  const int descriptor = (int)syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (descriptor < 0) return;
  syscall(SYS_write, descriptor, kind, strlen(kind));
  syscall(SYS_write, descriptor, path, strlen(path));
  syscall(SYS_close, descriptor);
}

static int is_due(void) {
  static atomic_long calls;
  const long call = atomic_fetch_add(&calls, 1) + 1;
  const long at = number_of("FAULT_AT");
  const long step = number_of("FAULT_STEP");
  return call >= at && (step == 0 ? call == at : (call - at) % step == 0);
}

static Fate fate_of(const char* kind, const char* path) {
  const char* kinds = getenv("FAULT_CALLS");
  const char* part = getenv("FAULT_PATH");
  if (kinds == NULL || strstr(kinds, kind) == NULL) return kDo;
  if (part != NULL && strstr(path, part) == NULL) return kDo;
  if (!is_due()) return kDo;
  mark(kind, path);
  const int signal = (int)number_of("FAULT_SIGNAL");
  if (signal != 0 && number_of("FAULT_AFTER") != 0) return kSignalAfter;
  if (signal != 0) kill(getpid(), signal);
  errno = (int)number_of("FAULT_ERRNO");
  return errno == 0 ? kShorten : kFail;
}

static Fate fate_of_descriptor(const char* kind, int descriptor) {
  char name[32] = "/proc/self/fd/";
  char digits[16];
  char path[PATH_MAX];
  int count = 0;
  for (int rest = descriptor; rest > 0 || count == 0; rest /= 10) digits[count++] = (char)('0' + rest % 10);
  size_t end = strlen(name);
  while (count > 0) name[end++] = digits[--count];
  name[end] = '\0';
  const int kept = errno;
  const ssize_t length = descriptor < 0 ? -1 : readlink(name, path, sizeof path - 1);
  errno = kept;
  if (length < 0) return kDo;
  path[length] = '\0';
  return fate_of(kind, path);
}

static long after(Fate fate, long result) {
  if (fate == kSignalAfter) kill(getpid(), (int)number_of("FAULT_SIGNAL"));
  return result;
}

static size_t part_of(Fate fate, size_t size) { return fate == kShorten && size > 1 ? size / 2 : size; }

static Fate fate_of_open(const char* path, int flags) {
  const int creates = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  const Fate fate = creates ? fate_of("create ", path) : kDo;
  return fate != kDo ? fate : fate_of("open ", path);
}

#define OPEN(name)                                          \
  int name(const char* path, int flags, ...) {              \
    va_list arguments;                                      \
    va_start(arguments, flags);                             \
    const mode_t mode = va_arg(arguments, mode_t);          \
    va_end(arguments);                                      \
    const Fate fate = fate_of_open(path, flags);            \
    if (fate == kFail) return -1;                           \
    return (int)after(fate, NEXT(name)(path, flags, mode)); \
  }
OPEN(open)
OPEN(open64)

#define ON_DESCRIPTOR(name, kind, parameters, arguments)    \
  int name parameters {                                     \
    const Fate fate = fate_of_descriptor(kind, descriptor); \
    if (fate == kFail) return -1;                           \
    return (int)after(fate, NEXT(name) arguments);          \
  }
ON_DESCRIPTOR(fsync, "sync ", (int descriptor), (descriptor))
ON_DESCRIPTOR(fdatasync, "sync ", (int descriptor), (descriptor))
ON_DESCRIPTOR(ftruncate, "truncate ", (int descriptor, off_t size), (descriptor, size))
ON_DESCRIPTOR(ftruncate64, "truncate ", (int descriptor, off64_t size), (descriptor, size))

// Like the system's: the descriptor is gone even where closing it reports an error.
int close(int descriptor) {
  const Fate fate = fate_of_descriptor("close ", descriptor);
  const int error = errno;
  const int result = NEXT(close)(descriptor);
  if (fate != kFail) return (int)after(fate, result);
  errno = error;
  return -1;
}

#define TRANSFER(name, kind, parameters, arguments)         \
  ssize_t name parameters {                                 \
    const Fate fate = fate_of_descriptor(kind, descriptor); \
    if (fate == kFail) return -1;                           \
    size = part_of(fate, size);                             \
    return after(fate, NEXT(name) arguments);               \
  }
TRANSFER(read, "read ", (int descriptor, void* to, size_t size), (descriptor, to, size))
TRANSFER(write, "write ", (int descriptor, const void* from, size_t size), (descriptor, from, size))
TRANSFER(pread, "read ", (int descriptor, void* to, size_t size, off_t at), (descriptor, to, size, at))
TRANSFER(pread64, "read ", (int descriptor, void* to, size_t size, off64_t at), (descriptor, to, size, at))
TRANSFER(pwrite, "write ", (int descriptor, const void* from, size_t size, off_t at), (descriptor, from, size, at))
TRANSFER(pwrite64, "write ", (int descriptor, const void* from, size_t size, off64_t at), (descriptor, from, size, at))

#define ON_PATH(name, kind, parameters, arguments) \
  int name parameters {                            \
    const Fate fate = fate_of(kind, path);         \
    if (fate == kFail) return -1;                  \
    return (int)after(fate, NEXT(name) arguments); \
  }
ON_PATH(rename, "rename ", (const char* path, const char* to), (path, to))
ON_PATH(unlink, "unlink ", (const char* path), (path))
ON_PATH(remove, "unlink ", (const char* path), (path))

int clock_gettime(clockid_t clock, struct timespec* time) {
  const int result = NEXT(clock_gettime)(clock, time);
  if (result == 0 && clock == CLOCK_REALTIME) time->tv_sec += number_of("FAULT_CLOCK");
  return result;
}
