// Runs an action at the end of a scope, however it ends. The action must not throw.
#pragma once

#include <utility>

namespace tracedb {

template <class Action>
class ScopeExit {
 public:
  explicit ScopeExit(Action action) : action_(std::move(action)) {}
  ~ScopeExit() { action_(); }
  ScopeExit& operator=(ScopeExit&&) = delete;

 private:
  Action action_;
};

}  // namespace tracedb
