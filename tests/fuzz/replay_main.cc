// Gives a fuzz target every file of a corpus, prefixes and mutations of it, the more the fewer files there are: the same ones in every run.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" __attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed);

namespace {

constexpr size_t kMaxOfFile = 300;    // prefixes, and as many mutations
constexpr size_t kMaxOfAll = 20'000;  // of a corpus, likewise: one that fuzzing has filled has them among its files

// In a block of exactly its size, so that a sanitizer sees a read past the end.
void Give(const std::vector<uint8_t>& input) {
  const std::unique_ptr<uint8_t[]> exact(new uint8_t[input.size()]);
  std::copy(input.begin(), input.end(), exact.get());
  LLVMFuzzerTestOneInput(exact.get(), input.size());
}

struct Dice {
  uint64_t state;
  uint64_t Roll(uint64_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
  }
};

void MutateAsTarget(std::vector<uint8_t>& input, Dice& dice) {
  const size_t size = input.size();
  input.resize(2 * size);
  input.resize(LLVMFuzzerCustomMutator(input.data(), size, input.size(), static_cast<unsigned>(dice.Roll(UINT32_MAX))));
}

void Mutate(std::vector<uint8_t>& input, Dice& dice) {
  if (LLVMFuzzerCustomMutator != nullptr && dice.Roll(2) == 0) return MutateAsTarget(input, dice);
  for (uint64_t changes = 1 + dice.Roll(4); changes > 0 && !input.empty(); --changes) {
    const auto at = static_cast<ptrdiff_t>(dice.Roll(input.size()));
    switch (dice.Roll(4)) {
      case 0:
        input[at] = static_cast<uint8_t>(dice.Roll(256));
        break;
      case 1:
        input[at] ^= static_cast<uint8_t>(1U << dice.Roll(8));
        break;
      case 2:
        input.erase(input.begin() + at);
        break;
      default:
        input.insert(input.begin() + at, input[dice.Roll(input.size())]);
        break;
    }
  }
}

void Replay(const std::vector<uint8_t>& file, size_t count) {
  Give(file);
  const size_t step = file.size() / count + 1;
  for (size_t length = 0; length < file.size(); length += step) Give({file.begin(), file.begin() + static_cast<ptrdiff_t>(length)});
  Dice dice{file.size() * 2 + 1};
  for (size_t i = 0; i < count; ++i) {
    std::vector<uint8_t> changed = file;
    Mutate(changed, dice);
    Give(changed);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const auto& path : files) {
    std::ifstream stream(path, std::ios::binary);
    Replay({std::istreambuf_iterator<char>(stream), {}}, std::clamp<size_t>(kMaxOfAll / files.size(), 1, kMaxOfFile));
  }
  std::printf("%zu files\n", files.size());
  return files.empty() ? 1 : 0;
}
