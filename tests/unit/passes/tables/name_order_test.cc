#include "passes/tables/name_order.h"

#include <doctest/doctest.h>

#include <vector>

namespace tracedb {
namespace {

// Layers of five kernels: norm, GEMM, attention, rotary, a large GEMM; each repetition some percent off.
constexpr std::int64_t kTimesOfNames[] = {4'200, 12'000, 20'000, 4'400, 130'000};

Replay layers(std::size_t count, std::size_t seed = 0) {
  Replay replay;
  for (std::size_t i = 0; i < 5 * count; ++i) {
    const std::int64_t usual = kTimesOfNames[i % 5];
    replay.dur.push_back(usual + usual * static_cast<std::int64_t>((7 * i + seed) % 10) / 100);
    replay.name.push_back(static_cast<std::uint32_t>(1 + i % 5));
  }
  return replay;
}

// From `from` on, each kernel has the name of the one `by` places behind it.
Replay shifted(Replay replay, std::size_t from, std::size_t by) {
  const std::vector<std::uint32_t> names = replay.name;
  for (std::size_t i = from; i < names.size(); ++i) replay.name[i] = names[(i + by) % names.size()];
  return replay;
}

NameOrder found(const std::vector<Replay>& replays) { return find_names_out_of_step(replays); }

}  // namespace

TEST_CASE("names in step raise nothing") {
  CHECK(found({}).kernels == 0);
  CHECK(found({layers(1)}).kernels == 0);
  CHECK(found({layers(40)}).kernels == 0);
  CHECK(found({layers(40), layers(40, 3), layers(40, 5), layers(7)}).kernels == 0);
}

TEST_CASE("names that slip inside a replay are found, with their time") {
  const Replay half = shifted(layers(40), 120, 1);
  const NameOrder order = found({half});
  CHECK(order.kernels == 80);
  std::int64_t time = 0;
  for (std::size_t i = 120; i < half.dur.size(); ++i) time += half.dur[i];
  CHECK(order.time == time);
  CHECK(found({shifted(layers(40), 60, 2)}).kernels > 0);  // more than half of the names are wrong
  CHECK(found({layers(40), shifted(layers(40), 100, 1)}).kernels == 100);
}

TEST_CASE("replays that repeat no layers are compared with each other") {
  Replay replay;
  for (std::size_t i = 0; i < 60; ++i) {
    replay.dur.push_back(static_cast<std::int64_t>(3'000 + 2'000 * ((i * i * 7) % 53)));
    replay.name.push_back(static_cast<std::uint32_t>(i));
  }
  CHECK(found({replay, replay, replay, replay}).kernels == 0);
  CHECK(found({replay, replay, replay, shifted(replay, 20, 1)}).kernels > 30);
  std::vector<Replay> many(4, replay);
  many.push_back(shifted(replay, 10, 1));
  many.push_back(shifted(replay, 10, 1));
  CHECK(found(many).kernels > 50);
}

TEST_CASE("layers that differ, other shapes and single odd kernels are no slip") {
  Replay alternating = layers(40);  // every other layer has another attention, three times as long
  for (std::size_t i = 2; i < alternating.dur.size(); i += 10) {
    alternating.name[i] = 99;
    alternating.dur[i] *= 3;
  }
  CHECK(found({alternating}).kernels == 0);
  Replay shapes = layers(40);  // one name for two GEMMs of different shape
  for (std::size_t i = 1; i < shapes.name.size(); i += 5) shapes.name[i] = 5;
  CHECK(found({shapes}).kernels == 0);
  Replay variant = layers(40);  // the library takes another kernel for the same GEMM now and then
  for (std::size_t i = 1; i < variant.name.size(); i += 15) variant.name[i] = 77;
  CHECK(found({variant}).kernels == 0);
  CHECK(found({shifted(layers(40), 195, 1)}).kernels == 0);
}

}  // namespace tracedb
