// Updates existing meta rows of an index that is not published yet, without a journal: a failure leaves the file
// useless.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace tracedb {

// False when it could not be written; never throws for that.
bool update_meta(const std::filesystem::path& index, const std::vector<std::pair<std::string, std::string>>& values);

}  // namespace tracedb
