#include "passes/sql/capture_words.h"

#include <unordered_map>

namespace tracedb {
namespace {

// Texts of a statement with one parameter, each asked for once.
class Texts {
 public:
  Texts(const Index& index, std::string_view sql, std::vector<std::string>& texts)
      : statement_(index.database(), sql), texts_(texts) {}

  // Place + 1; 0: there is none.
  std::uint32_t place(std::uint32_t id) {
    if (id == 0) return 0;
    const auto [entry, is_new] = places_.try_emplace(id, 0);
    if (!is_new) return entry->second;
    statement_.bind(1, std::int64_t{id});
    if (statement_.step() && !statement_.is_null(0)) {
      texts_.emplace_back(statement_.text(0));
      entry->second = static_cast<std::uint32_t>(texts_.size());
    }
    statement_.reset();
    return entry->second;
  }

 private:
  Statement statement_;
  std::vector<std::string>& texts_;
  std::unordered_map<std::uint32_t, std::uint32_t> places_;
};

// A parent comes before its children: one that does not is a damaged index and must not send us in circles.
constexpr std::string_view kModuleOfStack =
    "WITH RECURSIVE up(id, parent_id, frame_id) AS ("
    "SELECT id, parent_id, frame_id FROM stack WHERE id = ?1 UNION ALL "
    "SELECT b.id, b.parent_id, b.frame_id FROM up JOIN stack b ON b.id = up.parent_id AND b.id < up.id) "
    "SELECT substr(m.value, 12) FROM up JOIN frame f ON f.id = up.frame_id JOIN string m ON m.id = f.name_id "
    "WHERE m.value GLOB 'nn.Module: *' ORDER BY up.id DESC LIMIT 1";

}  // namespace

LentWords lent_words(const Capture& capture, const Index& capture_index, const LentLaunches& lent) {
  LentWords words;
  Texts operators(capture_index, "SELECT value FROM string WHERE id = ?1", words.texts);
  Texts modules(capture_index, kModuleOfStack, words.texts);
  words.op.assign(lent.launcher.size(), 0);
  words.module.assign(lent.launcher.size(), 0);
  for (std::size_t i = 0; i < lent.launcher.size(); ++i) {
    if (lent.launcher[i] == 0) continue;
    const Launcher& launcher = capture.launchers[lent.launcher[i] - 1];
    if (launcher.cpu_op < capture.operator_name.size()) {
      words.op[i] = operators.place(capture.operator_name[launcher.cpu_op]);
    }
    words.module[i] = modules.place(launcher.stack);
  }
  return words;
}

}  // namespace tracedb
