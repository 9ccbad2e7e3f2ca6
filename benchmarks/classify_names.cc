// tracedb-classify FILE [RULES]: classifies the kernel names in FILE, one a line, once and cold, as a query does.
// Prints one JSON line: the CPU time to read and compile the rules, and to classify all names.
#include <fmt/format.h>

#include <ctime>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "passes/classify/classifier.h"

namespace {

// CPU time: a busy machine says nothing about the work.
double seconds_since(std::clock_t start) { return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC; }

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc < 2 || argc > 3) throw std::runtime_error("usage: tracedb-classify FILE [RULES]");
    std::ifstream in(argv[1]);
    std::vector<std::string> names;
    for (std::string line; std::getline(in, line);) names.push_back(line);
    const auto start = std::clock();
    tracedb::Classifier classifier(tracedb::load_rules(argc == 3 ? argv[2] : "default"));
    const double compiling = seconds_since(start);
    const auto begin = std::clock();
    for (const std::string& name : names) classifier.classify(name);
    const double classifying = seconds_since(begin);
    fmt::print(R"({{"names": {}, "classes": {}, "compile_seconds": {:.6f}, "classify_seconds": {:.6f}}})"
               "\n",
               names.size(), classifier.classes().size(), compiling, classifying);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "tracedb-classify: {}\n", error.what());
    return 1;
  }
}
