// Values of existing meta rows of an index that nobody sees yet: there is no journal, a failure leaves it useless.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace tracedb {

// False when it could not be written; never throws for that.
bool update_meta(const std::filesystem::path& index, const std::vector<std::pair<std::string, std::string>>& values);

}  // namespace tracedb
