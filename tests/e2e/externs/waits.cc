#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <sys/mman.h>

// The header of the program comes before this text, included or not.

namespace {

// A thread of the user's, where `new` throws as it does in the extern.
wf::String FarTooMuchElsewhere() {
  wf::String text = "there was room";
  std::thread([&text] {
    try {
      const std::vector<char> bytes(size_t{1} << 46);
    } catch (const std::bad_alloc&) {
      text = "caught";
    }
  }).join();
  return text;
}

// All the memory that there is, while this lives.
class Everything {
 public:
  Everything() {
    for (size_t bytes = size_t{1} << 24; bytes >= sizeof(Block); bytes /= 2) {
      while (void* const memory = std::malloc(bytes)) first_ = new (memory) Block{first_};
    }
  }
  ~Everything() {
    while (first_ != nullptr) std::free(std::exchange(first_, first_->next));
  }
  Everything(const Everything&) = delete;
  Everything& operator=(const Everything&) = delete;

 private:
  struct Block {
    Block* next;
  };
  Block* first_ = nullptr;
};

}  // namespace

wf::String externs::raises(wf::Context& context, int64_t how) {
  if (how == 1) throw wf::Failure(externs::errors::Cold, "it is cold");
  if (how == 2) throw std::runtime_error("no such table");
  if (how == 3) throw 7;
  if (how == 4) throw std::bad_alloc();
  if (how == 5) throw wf::Failure(0, "no code");
  if (how == 6) throw std::runtime_error("\xff\xfe");
  if (how == 8) throw std::runtime_error("");
  if (how == 7) return context.Copy(std::string(static_cast<size_t>(-1) - 8, 'x'));
  if (how == 9) return context.Copy(std::string(std::vector<char>(size_t{1} << 46).data()));                         // more than there is
  if (how == 10 && mmap(nullptr, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED) return "refused";  // nothing is no map
  if (how == 11) return FarTooMuchElsewhere();
  if (how == 12) {
    const Everything held;
    return context.Copy("a little");
  }
  return "fine";
}

int64_t externs::sleeps(wf::Context& context, int64_t ms, bool listens) {
  for (int64_t slept = 0; slept < ms; ++slept) {
    if (listens && context.stopped()) return slept;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return ms;
}

int64_t externs::flaky(wf::Context&, const wf::String& key, int64_t failures) {
  static std::mutex mutex;
  static std::map<std::string, int64_t, std::less<>> calls;
  const std::lock_guard lock(mutex);
  const int64_t call = ++calls[std::string(key.view())];
  if (call <= failures) throw wf::Failure(8001, "call " + std::to_string(call) + " of " + std::string(key.view()));
  return call;
}

int64_t externs::memory(wf::Context& context, int64_t mib) { return context.NewTensor<uint8_t>(mib << 20).size(); }
