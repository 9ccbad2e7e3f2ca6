// The kind of work a kernel does, from the class of its name under the default rules, so that a kernel of class
// communication is communication in every report. Stored with the kernel when an index is built.
#pragma once

#include <string_view>

#include "passes/classify/classifier.h"
#include "trace/event_names.h"

namespace tracedb {

// Of a kernel of class `class_name`: kComm where communication is all of it, kCommCompute where it is a part
// ("communication+norm"), else kCompute.
KernelKind kind_of_class(std::string_view class_name);

class KernelKinds {
 public:
  KernelKinds();
  // Any text; mangled or not. A kernel that only copies is kCopyKernel whatever its class.
  KernelKind of(std::string_view name);

 private:
  Classifier classifier_;
};

}  // namespace tracedb
