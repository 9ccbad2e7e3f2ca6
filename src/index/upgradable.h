// Which indexes of versions before this one need not be made again from their traces (ingest/upgrade.h).
#pragma once

#include <filesystem>

namespace tracedb {

// Looks at the first 100 bytes only.
bool is_upgradable(const std::filesystem::path& path);

}  // namespace tracedb
