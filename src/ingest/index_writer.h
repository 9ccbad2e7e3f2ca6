// Writes one index: rows as they arrive from the link passes, then dictionaries, sums, counts and meta, then the indexes
// and views of the schema; publish() makes the file appear under its name.
//
// The file is written under a private name beside its final one, without a journal: it is worthless until published and
// removed if it never is. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/cpu_links.h"
#include "ingest/device_links.h"
#include "ingest/devices.h"
#include "ingest/other_links.h"
#include "ingest/row_stream.h"
#include "ingest/trace_store.h"
#include "sql/bulk_insert.h"
#include "sql/database.h"

namespace tracedb {

class IndexWriter {
 public:
  explicit IndexWriter(const std::filesystem::path& index);
  ~IndexWriter();
  IndexWriter(const IndexWriter&) = delete;
  IndexWriter& operator=(const IndexWriter&) = delete;

  void add(const RowBlock& block);
  void add_counters(TraceStore& store);

  void write_dictionaries(const TraceStore& store, const CpuLinks& cpu, const DeviceLinks& devices);
  void write_tracks(const TraceStore& store, const std::vector<DeviceRow>& devices, std::int64_t rank);
  void write_steps(const CpuLinks& cpu);
  void write_kernel_sums(const DeviceLinks& devices);
  void write_collectives(const TraceStore& store, const DeviceLinks& devices);
  void write_counts(const TraceStore& store);
  void write_issues(const IssueLog& issues);
  void write_arguments(const TraceStore& store, const std::vector<ArgumentRow>& arguments);
  void write_flow_ids(const TraceStore& store, const std::vector<TextFlowId>& ids);
  void meta(std::string_view key, std::string_view value);
  void meta(std::string_view key, std::int64_t value);

  // Indexes, views, commit, fsync, rename, fsync of the directory. Returns the size of the file.
  std::uint64_t publish();

 private:
  std::filesystem::path index_;
  std::filesystem::path partial_;
  std::unique_ptr<Database> database_;
  std::array<std::unique_ptr<BulkInserter>, kEventTables> tables_;
  std::unique_ptr<Statement> meta_;
  bool published_ = false;
};

}  // namespace tracedb
