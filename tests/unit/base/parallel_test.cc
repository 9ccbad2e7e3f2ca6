#include "base/parallel.h"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace tracedb {

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

}  // namespace tracedb
