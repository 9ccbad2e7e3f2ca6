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

  // The method of the real file, called as it is.
  template <auto method, class... Arguments>
  static int pass(sqlite3_file* file, Arguments... arguments) {
    sqlite3_file* real = as_file(file).real();
    return (real->pMethods->*method)(real, arguments...);
  }
  // Unless this call is one that fails.
  template <VfsCall call, auto method, class... Arguments>
  static int pass_unless_failing(sqlite3_file* file, Arguments... arguments) {
    FailingVfs& vfs = *as_file(file).vfs;
    return vfs.fails(call) ? vfs.code_ : pass<method>(file, arguments...);
  }

  // Version 1 of the methods: no shared memory, no mapping.
  static const sqlite3_io_methods* methods() {
    using Methods = sqlite3_io_methods;
    static const Methods kMethods = [] {
      Methods all{};
      all.iVersion = 1;
      all.xClose = pass<&Methods::xClose>;
      all.xRead = pass_unless_failing<VfsCall::kRead, &Methods::xRead>;
      all.xWrite = pass_unless_failing<VfsCall::kWrite, &Methods::xWrite>;
      all.xTruncate = pass_unless_failing<VfsCall::kTruncate, &Methods::xTruncate>;
      all.xSync = pass_unless_failing<VfsCall::kSync, &Methods::xSync>;
      all.xFileSize = pass<&Methods::xFileSize>;
      all.xLock = pass<&Methods::xLock>;
      all.xUnlock = pass<&Methods::xUnlock>;
      all.xCheckReservedLock = pass<&Methods::xCheckReservedLock>;
      all.xFileControl = pass<&Methods::xFileControl>;
      all.xSectorSize = pass<&Methods::xSectorSize>;
      all.xDeviceCharacteristics = pass<&Methods::xDeviceCharacteristics>;
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
