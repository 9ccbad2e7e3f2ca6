#include <cerrno>
#include <cstdio>
#include <map>
#include <memory>
#include <ostream>

#include "aie/stream/reports.h"
#include "base/python/failure.h"
#include "base/python/text.h"

namespace tracedb::stream {
namespace {

// Of a path with a part that Python cannot encode.
void check_encodable(const std::string& path) {
  std::size_t position = 0;
  for (std::size_t at = 0; at < path.size(); ++position) {
    const auto c = static_cast<std::uint32_t>(python::next_code_point(path, at));
    if (c < 0xD800 || c >= 0xE000) continue;
    throw python::failure("UnicodeEncodeError",
                          fmt::format("'utf-8' codec can't encode character '\\u{:04x}' in position {}: surrogates not "
                                      "allowed",
                                      c, position));
  }
}

void write_file(const std::string& path, std::string_view content) {
  if (path.find('\0') != std::string::npos) throw python::failure("ValueError", "embedded null byte");
  check_encodable(path);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "we"), std::fclose);
  if (!file) python::throw_os_error(errno, path);
  if (std::fwrite(content.data(), 1, content.size(), file.get()) != content.size() || std::fflush(file.get()) != 0) {
    python::throw_os_error(errno);
  }
}

class Writer {
 public:
  Writer(std::string folder, std::ostream& out) : folder_(std::move(folder)), out_(out) {}

  std::string write(const std::string& name, std::string_view content) {
    const std::string path = folder_ + "/" + name;
    // The program would follow a name out of the folder: that a trace may say where to write helps nobody.
    if (name.find('/') != std::string::npos) python::throw_os_error(ENOENT, path);
    write_file(path, content);
    out_ << "[write] " << path << '\n';
    return path;
  }

 private:
  std::string folder_;
  std::ostream& out_;
};

}  // namespace

void postprocess(const Options& options, std::ostream& out) {
  const std::vector<Core> cores = find_cores(read_trace_events(options.trace()), options.work);
  Writer writer(options.folder(), out);
  std::vector<std::string> written;
  std::map<std::string, const Core*> files;  // what each holds in the end
  for (const Core& core : cores) {
    written.push_back(writer.write(core.tile + ".json", core_json(core)));
    files[written.back()] = &core;
  }
  const std::string details = details_markdown(options, cores);
  if (!details.empty()) writer.write("details.md", details);
  files[writer.write("index.json", index_json(options, cores, !details.empty()))] = nullptr;
  // The program reads the files of its cores back.
  std::vector<const Core*> read_back;
  for (const std::string& path : written) read_back.push_back(files.at(path));
  writer.write("aggregate_perf.json", aggregate_json(options, read_back));
}

}  // namespace tracedb::stream
