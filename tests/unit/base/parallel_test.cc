#include "base/parallel.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "base/dense_index.h"

namespace tracedb {
namespace {

// Waits as long as it takes: a flag that is never raised is for the limit of the whole test to find.
void wait_for(const std::atomic<bool>* flag) {
  while (!flag->load()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST_CASE("without a limit the flag is the caller's") {
  const std::atomic<bool> cancel = false;
  const Deadline deadline(std::chrono::nanoseconds(0), &cancel);
  CHECK(deadline.flag() == &cancel);
  CHECK_FALSE(deadline.expired());
}

TEST_CASE("the flag is raised by the time and by the caller") {
  std::atomic<bool> cancel = false;
  const Deadline early(std::chrono::milliseconds(1), &cancel);
  wait_for(early.flag());
  CHECK(early.expired());
  const Deadline late(std::chrono::hours(1), &cancel);
  CHECK_FALSE(late.flag()->load());
  cancel = true;
  wait_for(late.flag());
  CHECK_FALSE(late.expired());
}

TEST_CASE("DenseIndex: keys are numbered as they come, whichever bits tell them apart") {
  for (const unsigned shift : {0U, 20U, 32U, 50U}) {
    DenseIndex index;
    bool right = true;
    for (int round = 0; round < 2; ++round) {
      for (std::uint32_t i = 0; i < 5000; ++i) {
        const DenseIndex::Entry entry = index.index_of(std::uint64_t{i} << shift);
        right = right && entry.index == i && entry.is_new == (round == 0);
      }
    }
    CHECK(right);
    CHECK(index.size() == 5000);
  }
}

TEST_CASE("DenseIndex: the last one can be forgotten, and the others are still found") {
  DenseIndex index;
  for (std::uint64_t i = 0; i < 3000; ++i) index.index_of(i << 40U);
  for (std::uint64_t i = 3000; i-- > 1000;) index.forget_last(i << 40U);
  CHECK(index.size() == 1000);
  bool found = true;
  for (std::uint64_t i = 0; i < 1000; ++i) found = found && !index.index_of(i << 40U).is_new;
  CHECK(found);
  CHECK(index.index_of(std::uint64_t{2000} << 40U).index == 1000);
}

TEST_CASE("items come out in sequence, whatever the order they went in") {
  OrderedQueue<int> queue(8);
  for (const int i : {2, 0, 1}) CHECK(queue.push(static_cast<std::uint64_t>(i), i * 10));
  queue.finish(3);
  CHECK(queue.pop() == 0);
  CHECK(queue.pop() == 10);
  CHECK(queue.pop() == 20);
  CHECK_FALSE(queue.pop());
  CHECK_FALSE(queue.pop());
}

TEST_CASE("finish before the last item does not lose it") {
  OrderedQueue<std::unique_ptr<int>> queue(2);
  queue.finish(1);
  std::thread producer([&] { queue.push(0, std::make_unique<int>(7)); });
  const auto item = queue.pop();
  producer.join();
  REQUIRE(item);
  CHECK(**item == 7);
  CHECK_FALSE(queue.pop());
}

TEST_CASE("an empty sequence ends at once") {
  OrderedQueue<int> queue(1);
  queue.finish(0);
  CHECK_FALSE(queue.pop());
}

TEST_CASE("several producers, one consumer, little room") {
  constexpr std::uint64_t kItems = 2000;
  OrderedQueue<std::uint64_t> queue(3);
  std::atomic<std::uint64_t> next{0};
  std::vector<std::thread> producers;
  for (int i = 0; i < 4; ++i) {
    producers.emplace_back([&] {
      for (std::uint64_t sequence = next++; sequence < kItems; sequence = next++) queue.push(sequence, sequence * 3);
    });
  }
  queue.finish(kItems);
  std::uint64_t expected = 0;
  while (const auto item = queue.pop()) {
    if (*item != expected * 3) break;
    ++expected;
  }
  for (auto& producer : producers) producer.join();
  CHECK(expected == kItems);
}

TEST_CASE("cancel wakes a waiting producer and a waiting consumer") {
  OrderedQueue<int> queue(1);
  std::atomic<bool> pushed{true};
  std::thread producer([&] { pushed = queue.push(5, 1); });
  std::thread consumer([&] { CHECK_FALSE(queue.pop()); });
  queue.cancel();
  producer.join();
  consumer.join();
  CHECK_FALSE(pushed);
  CHECK_FALSE(queue.push(0, 1));
}

}  // namespace
}  // namespace tracedb
