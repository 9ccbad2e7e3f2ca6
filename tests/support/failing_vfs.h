// A layer under SQLite, over the system's own, that lets the n-th call of one kind fail: the same as fault_shim.c, but
// within the process, so that sanitizers watch what happens then. It is SQLite's default while the object lives.
//
// One at a time, one thread.
#pragma once

#include <sqlite3.h>

#include <new>

namespace tracedb {

enum class VfsCall { kOpen, kRead, kWrite, kSync, kTruncate, kDelete };

class FailingVfs {
 public:
  // The `at`-th call of this kind (from 1) fails with `code`, an SQLite result code, and so do all after it.
  FailingVfs(VfsCall call, int at, int code) : real_(sqlite3_vfs_find(nullptr)), call_(call), at_(at), code_(code) {
    vfs_ = *real_;
    vfs_.zName = "failing";
    vfs_.szOsFile = static_cast<int>(sizeof(File)) + real_->szOsFile;
    vfs_.pAppData = this;
    vfs_.xOpen = open;
    vfs_.xDelete = remove;
    vfs_.xAccess = [](sqlite3_vfs* vfs, const char* name, int flags, int* out) {
      return self(vfs).real_->xAccess(self(vfs).real_, name, flags, out);
    };
    vfs_.xFullPathname = [](sqlite3_vfs* vfs, const char* name, int size, char* out) {
      return self(vfs).real_->xFullPathname(self(vfs).real_, name, size, out);
    };
    sqlite3_vfs_register(&vfs_, 1);
  }
  ~FailingVfs() {
    sqlite3_vfs_unregister(&vfs_);
    sqlite3_vfs_register(real_, 1);
  }
  FailingVfs(const FailingVfs&) = delete;
  FailingVfs& operator=(const FailingVfs&) = delete;

  [[nodiscard]] bool failed() const { return calls_ >= at_; }

 private:
  struct File {
    sqlite3_file base;  // first: what SQLite sees
    FailingVfs* vfs;
    [[nodiscard]] sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
  };

  static FailingVfs& self(sqlite3_vfs* vfs) { return *static_cast<FailingVfs*>(vfs->pAppData); }
  static File& as_file(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }

  bool fails(VfsCall call) { return call == call_ && ++calls_ >= at_; }

  static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
    File& wrapped = *new (file) File{{nullptr}, &self(vfs)};
    wrapped.real()->pMethods = nullptr;
    if (self(vfs).fails(VfsCall::kOpen)) return SQLITE_CANTOPEN;
    const int result = self(vfs).real_->xOpen(self(vfs).real_, name, wrapped.real(), flags, out_flags);
    if (result == SQLITE_OK) wrapped.base.pMethods = methods();
    return result;
  }
  static int remove(sqlite3_vfs* vfs, const char* name, int sync) {
    return self(vfs).fails(VfsCall::kDelete) ? SQLITE_IOERR_DELETE
                                             : self(vfs).real_->xDelete(self(vfs).real_, name, sync);
  }

  // Calls `method` of the real file, unless this call is one that fails.
  template <class Method, class... Arguments>
  static int pass(VfsCall call, sqlite3_file* file, Method method, Arguments... arguments) {
    File& wrapped = as_file(file);
    if (wrapped.vfs->fails(call)) return wrapped.vfs->code_;
    return (wrapped.real()->pMethods->*method)(wrapped.real(), arguments...);
  }

  // Version 1 of the methods: no shared memory, no mapping.
  static const sqlite3_io_methods* methods() {
    using Methods = sqlite3_io_methods;
    static const Methods kMethods = [] {
      Methods all{};
      all.iVersion = 1;
      all.xClose = [](sqlite3_file* f) { return as_file(f).real()->pMethods->xClose(as_file(f).real()); };
      all.xRead = [](sqlite3_file* f, void* to, int size, sqlite3_int64 at) {
        return pass(VfsCall::kRead, f, &Methods::xRead, to, size, at);
      };
      all.xWrite = [](sqlite3_file* f, const void* from, int size, sqlite3_int64 at) {
        return pass(VfsCall::kWrite, f, &Methods::xWrite, from, size, at);
      };
      all.xTruncate = [](sqlite3_file* f, sqlite3_int64 size) {
        return pass(VfsCall::kTruncate, f, &Methods::xTruncate, size);
      };
      all.xSync = [](sqlite3_file* f, int flags) { return pass(VfsCall::kSync, f, &Methods::xSync, flags); };
      all.xFileSize = [](sqlite3_file* f, sqlite3_int64* size) {
        return as_file(f).real()->pMethods->xFileSize(as_file(f).real(), size);
      };
      all.xLock = [](sqlite3_file* f, int level) {
        return as_file(f).real()->pMethods->xLock(as_file(f).real(), level);
      };
      all.xUnlock = [](sqlite3_file* f, int level) {
        return as_file(f).real()->pMethods->xUnlock(as_file(f).real(), level);
      };
      all.xCheckReservedLock = [](sqlite3_file* f, int* out) {
        return as_file(f).real()->pMethods->xCheckReservedLock(as_file(f).real(), out);
      };
      all.xFileControl = [](sqlite3_file* f, int what, void* argument) {
        return as_file(f).real()->pMethods->xFileControl(as_file(f).real(), what, argument);
      };
      all.xSectorSize = [](sqlite3_file* f) { return as_file(f).real()->pMethods->xSectorSize(as_file(f).real()); };
      all.xDeviceCharacteristics = [](sqlite3_file* f) {
        return as_file(f).real()->pMethods->xDeviceCharacteristics(as_file(f).real());
      };
      return all;
    }();
    return &kMethods;
  }

  sqlite3_vfs* real_;
  sqlite3_vfs vfs_{};
  VfsCall call_;
  int at_;
  int code_;
  int calls_ = 0;
};

}  // namespace tracedb
