// The one write to a published index: values of existing meta rows. Quiet: an index in a read-only place stays as it
// is.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace tracedb {

// All or nothing. False when it could not be written; never throws for that.
bool update_meta(const std::filesystem::path& index, const std::vector<std::pair<std::string, std::string>>& values);

}  // namespace tracedb
