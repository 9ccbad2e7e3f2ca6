// What the virtual tables of all connections of the process read from, one list for each kind of Source: SQLite keeps
// the tables, each with its connection, and gives nobody but itself a way to them. Any thread.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "sql/database.h"

namespace tracedb {

template <class Source>
class KnownSources {
 public:
  static KnownSources& of_process() {
    // Never destroyed: a program that loaded us may close its connections after that.
    static KnownSources* const kKnown = std::make_unique<KnownSources>().release();
    return *kKnown;
  }

  // The source is not owned, and must be removed before it ends.
  void add(Source& source) {
    const std::lock_guard lock(mutex_);
    sources_.push_back(&source);
  }
  void remove(const Source& source) {
    const std::lock_guard lock(mutex_);
    std::erase(sources_, &source);
  }

  // The first source of the connection that fits; nullptr if none does.
  template <class Fits>
  Source* find(const Database& database, Fits fits) {
    const std::lock_guard lock(mutex_);
    for (Source* const source : sources_) {
      if (&source->database == &database && fits(*source)) return source;
    }
    return nullptr;
  }

  template <class Visit>
  void for_each(const Database& database, Visit visit) {
    const std::lock_guard lock(mutex_);
    for (Source* const source : sources_) {
      if (&source->database == &database) visit(*source);
    }
  }

 private:
  std::mutex mutex_;
  std::vector<Source*> sources_;
};

}  // namespace tracedb
