#include "base/python/display.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/python/text.h"

namespace tracedb::python {
namespace {

// Of a number; 2^61 - 1 is prime, and -1 stands for an error.
constexpr std::uint64_t kModulus = (std::uint64_t{1} << 61U) - 1;

std::int64_t signed_hash(std::uint64_t magnitude, bool negative) {
  const auto hash = static_cast<std::int64_t>(magnitude);
  if (!negative) return hash;
  return hash == 1 ? -2 : -hash;
}

std::int64_t hash_of_digits(std::string_view digits) {
  const bool negative = digits.starts_with('-');
  std::uint64_t hash = 0;
  for (const char c : digits.substr(negative ? 1 : 0)) {
    const std::uint64_t tenfold = (hash << 3U) % kModulus + (hash << 1U);  // 2^61 times 8 still fits
    hash = (tenfold + static_cast<unsigned>(c - '0')) % kModulus;
  }
  return signed_hash(hash, negative);
}

// The value of mantissa times a power of two, modulo the prime.
std::int64_t hash_of_real(double number) {
  constexpr int kBits = 61;
  constexpr int kStep = 28;
  int exponent = 0;
  double mantissa = std::frexp(std::fabs(number), &exponent);
  std::uint64_t hash = 0;
  while (mantissa != 0) {
    hash = ((hash << kStep) & kModulus) | hash >> (kBits - kStep);
    mantissa = std::ldexp(mantissa, kStep);
    exponent -= kStep;
    const auto digit = static_cast<std::uint64_t>(mantissa);
    mantissa -= static_cast<double>(digit);
    hash += digit;
    if (hash >= kModulus) hash -= kModulus;
  }
  const int turn = exponent >= 0 ? exponent % kBits : kBits - 1 - ((-1 - exponent) % kBits);
  hash = ((hash << turn) & kModulus) | hash >> (kBits - turn);
  return signed_hash(hash, number < 0);
}

std::optional<std::int64_t> hash_of(const Value& value) {
  switch (value.kind) {
    case Kind::kBool:
      return value.flag ? 1 : 0;
    case Kind::kInt:
      return hash_of_digits(value.text);
    case Kind::kFloat:
      if (!std::isfinite(value.number)) return std::nullopt;
      return hash_of_real(value.number);
    default:
      return std::nullopt;
  }
}

// The hash table of CPython's sets (Objects/setobject.c, 3.11).
class SetTable {
 public:
  void add(std::size_t value, std::int64_t hash) {
    insert({value, hash});
    if (++used_ * 5 >= mask() * 3) grow();
  }

  [[nodiscard]] std::vector<std::size_t> order() const {
    std::vector<std::size_t> out;
    for (const auto& slot : slots_) {
      if (slot) out.push_back(slot->first);
    }
    return out;
  }

 private:
  using Entry = std::pair<std::size_t, std::int64_t>;
  [[nodiscard]] std::size_t mask() const { return slots_.size() - 1; }

  void insert(const Entry& entry) {
    constexpr std::size_t kProbes = 9;
    constexpr unsigned kShift = 5;
    auto perturb = static_cast<std::uint64_t>(entry.second);
    std::size_t at = perturb & mask();
    for (;;) {
      const std::size_t last = at + kProbes <= mask() ? at + kProbes : at;
      for (std::size_t i = at; i <= last; ++i) {
        if (slots_[i]) continue;
        slots_[i] = entry;
        return;
      }
      perturb >>= kShift;
      at = (at * 5 + 1 + perturb) & mask();
    }
  }

  void grow() {
    constexpr std::size_t kLarge = 50000;
    const std::size_t least = used_ > kLarge ? used_ * 2 : used_ * 4;
    std::size_t size = kFirstSize;
    while (size <= least) size *= 2;
    const auto old = std::exchange(slots_, std::vector<std::optional<Entry>>(size));
    for (const auto& slot : old) {
      if (slot) insert(*slot);
    }
  }

  static constexpr std::size_t kFirstSize = 8;
  std::vector<std::optional<Entry>> slots_ = std::vector<std::optional<Entry>>(kFirstSize);
  std::size_t used_ = 0;
};

std::vector<std::size_t> set_order(const std::vector<Value>& values) {
  SetTable table;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto hash = hash_of(values[i]);
    if (!hash) {
      std::vector<std::size_t> as_given(values.size());
      for (std::size_t k = 0; k < as_given.size(); ++k) as_given[k] = k;
      return as_given;
    }
    table.add(i, *hash);
  }
  return table.order();
}

}  // namespace

std::string str(const Value& value) { return value.kind == Kind::kText ? value.text : repr(value); }

std::string repr(const Value& value) {
  std::string out;
  switch (value.kind) {
    case Kind::kNone:
      return "None";
    case Kind::kBool:
      return value.flag ? "True" : "False";
    case Kind::kInt:
      return value.text;
    case Kind::kFloat:
      return float_text(value.number);
    case Kind::kText:
      return repr(std::string_view(value.text));
    case Kind::kList:
      for (const Value& item : value.items) out += (out.empty() ? "" : ", ") + repr(item);
      return "[" + out + "]";
    case Kind::kDict:
      break;
  }
  // Where a key was repeated, the place is the first one's, the value the last one's.
  for (auto member = value.members.begin(); member != value.members.end(); ++member) {
    const bool repeats =
        std::any_of(value.members.begin(), member, [&](const auto& other) { return other.key == member->key; });
    if (!repeats)
      out += (out.empty() ? "" : ", ") + repr(std::string_view(member->key)) + ": " + repr(*value.find(member->key));
  }
  return "{" + out + "}";
}

std::string set_text(const std::vector<Value>& values) {
  if (values.empty()) return "set()";
  std::string out;
  for (const std::size_t i : set_order(values)) out += (out.empty() ? "{" : ", ") + repr(values[i]);
  return out + "}";
}

}  // namespace tracedb::python
