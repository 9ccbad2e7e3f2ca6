#include "export/folded_stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/text/numbered_texts.h"
#include "base/unknown.h"
#include "base/version.h"
#include "export/trace_events.h"
#include "report/escape.h"
#include "trace/event_names.h"

namespace tracedb {
namespace {

std::string frame_of_line(const std::string& name) {
  std::string frame = escape_text(name);
  std::replace(frame.begin(), frame.end(), ';', ',');
  return frame;
}

// A frame for the path that stands for no path.
void add_rest(FoldedStacks& out, std::string_view name, const PathTime& rest) {
  if (rest.time <= 0) return;
  out.stacks.push_back({{static_cast<std::uint32_t>(out.names.size())}, rest.time});
  out.names.emplace_back(name);
}

// Frames that several profiles share, each once.
std::string frames_json(const NumberedTexts& frames) {
  std::string json;
  for (const std::string& name : frames.all()) {
    const FrameLabel label = frame_label(name);
    JsonWriter frame;
    frame.member("name", name);
    if (!label.file.empty()) frame.member("file", label.file).member("line", label.line);
    json += (json.empty() ? "\n{" : ",\n{") + frame.str() + "}";
  }
  return json;
}

std::string profile_json(const SpeedscopeProfile& profile, NumberedTexts& frames) {
  std::string samples, weights;
  std::int64_t total = 0;
  for (const FoldedStack& stack : profile.stacks.stacks) {
    samples += samples.empty() ? "[" : ",[";
    for (std::size_t i = 0; i < stack.frames.size(); ++i) {
      samples += fmt::format("{}{}", i == 0 ? "" : ",", frames.number(profile.stacks.names[stack.frames[i]]));
    }
    samples += "]";
    weights += fmt::format("{}{}", weights.empty() ? "" : ",", stack.time);
    total = saturating_add(total, stack.time);
  }
  JsonWriter members;
  members.member("type", "sampled")
      .member("name", profile.name)
      .member("unit", profile.cycles ? "none" : "nanoseconds");
  members.member("startValue", 0).member("endValue", total);
  members.key("samples").json("[" + samples + "]").key("weights").json("[" + weights + "]");
  return "{" + members.str() + "}";
}

}  // namespace

FoldedStacks folded_stacks(const StackTimes& times, Frames which) {
  FoldedStacks out;
  out.names = times.frames;
  const std::vector<CallNode> tree = call_tree(times.stacks, times.times, TreeSide::kOutside);
  for (const CallNode& node : tree) {
    if (node.self <= 0) continue;
    FoldedStack stack{{node.frame}, node.self};
    for (std::uint32_t up = node.parent; up != kNoNode; up = tree[up].parent) stack.frames.push_back(tree[up].frame);
    std::ranges::reverse(stack.frames);
    out.stacks.push_back(std::move(stack));
  }
  add_rest(out, kNoStack, times.times[0]);
  add_rest(out, passed_over_text(which), times.passed_over);
  return out;
}

// Calls visit(path, time) for each stack.
template <class Visit>
static void for_each_line(const FoldedStacks& stacks, Visit visit) {
  std::vector<std::string> frames(stacks.names.size());
  std::ranges::transform(stacks.names, frames.begin(), frame_of_line);
  std::string path;
  for (const FoldedStack& stack : stacks.stacks) {
    path.clear();
    for (const std::uint32_t frame : stack.frames) path.append(path.empty() ? "" : ";").append(frames[frame]);
    visit(path, stack.time);
  }
}

void write_folded(std::ostream& out, const FoldedStacks& stacks) {
  for_each_line(stacks, [&](const std::string& path, std::int64_t time) { out << fmt::format("{} {}\n", path, time); });
}

void write_folded_difference(std::ostream& out, const FoldedStacks& baseline, const FoldedStacks& candidate) {
  std::map<std::string, std::array<std::int64_t, 2>> times;
  for_each_line(baseline, [&](const std::string& path, std::int64_t time) { times[path][0] += time; });
  for_each_line(candidate, [&](const std::string& path, std::int64_t time) { times[path][1] += time; });
  for (const auto& [path, both] : times) out << fmt::format("{} {} {}\n", path, both[0], both[1]);
}

void write_speedscope(std::ostream& out, std::string_view name, std::span<const SpeedscopeProfile> profiles) {
  NumberedTexts frames;
  std::string all;
  for (const SpeedscopeProfile& profile : profiles) all += (all.empty() ? "" : ",\n") + profile_json(profile, frames);
  JsonWriter members;
  members.member("$schema", "https://www.speedscope.app/file-format-schema.json");
  members.member("name", name).member("activeProfileIndex", 0).member("exporter", "tracedb " + std::string(kVersion));
  members.key("shared").json("{\"frames\":[" + frames_json(frames) + "]}").key("profiles").json("[\n" + all + "]");
  out << "{" << members.str() << "}\n";
}

}  // namespace tracedb
