// Noise that depends on what it is for (seed, step, layer, slot), never on the order of calls: planting a fusion in one
// place leaves the jitter of every other kernel as it was. splitmix64 finaliser; the same numbers on every machine.
#pragma once

#include <cstdint>

namespace tracedb {

constexpr std::uint64_t mix64(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15ULL;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

constexpr std::uint64_t mix64(std::uint64_t seed, std::uint64_t key) { return mix64(mix64(seed) ^ key); }

// Uniform in [0, bound); `bound` > 0. The bias of the modulo is far below anything a trace shows.
constexpr std::int64_t uniform(std::uint64_t noise, std::int64_t bound) {
  return static_cast<std::int64_t>(noise % static_cast<std::uint64_t>(bound));
}

// Nearly normal: mean 0, standard deviation `sd`. Of whole numbers, so that it is the same everywhere.
constexpr std::int64_t normal(std::uint64_t noise, std::int64_t sd) {
  constexpr std::int64_t kUnit = 1'000'000;
  std::int64_t sum = -6 * kUnit;
  for (std::uint64_t i = 0; i < 12; ++i) sum += uniform(mix64(noise, i), kUnit);
  return sum * sd / kUnit;
}

// A sequence, for the host side, where order is all there is.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::int64_t below(std::int64_t bound) { return uniform(mix64(state_++), bound); }

 private:
  std::uint64_t state_;
};

}  // namespace tracedb
