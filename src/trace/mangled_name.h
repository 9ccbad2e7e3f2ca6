// Symbols that the C++ runtime's demangler does not know (newer manglings) or must not be given: a symbol of a few
// hundred bytes can name its own parts again and again, so that its demangled form has gigabytes. Reads identifiers
// only, in time linear in the symbol; no substitution is followed.
#pragma once

#include <string>
#include <string_view>

namespace tracedb {

// Whether the demangled form has at most some megabytes, whatever the symbol. "_Z..." only.
bool demangling_is_bounded(std::string_view symbol);

// "ns::function<ns::type<...>, 256, true>": the function's qualified name and its template arguments as far as they can
// be read; "ref" stands for what refers to an earlier part. Empty where the symbol has no readable name.
std::string outline_symbol(std::string_view symbol);

}  // namespace tracedb
