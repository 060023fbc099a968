#include "runtime/observe/log.h"

#include <unistd.h>

#include <charconv>
#include <cstring>
#include <ctime>
#include <memory>
#include <mutex>
#include <new>

#include "runtime/base/text.h"

namespace wf::observe {
namespace {

constexpr size_t kRingBytes = 64 * 1024;
constexpr size_t kLineBytes = 2048;

// One writer, one reader. Lives for ever, since its thread may end before it is drained.
struct Ring {
  std::atomic<uint64_t> written{0}, read{0};
  Ring* next = nullptr;
  char bytes[kRingBytes];

  bool Put(std::string_view line) {
    const uint64_t from = written.load(std::memory_order_relaxed);
    if (kRingBytes - (from - read.load(std::memory_order_acquire)) < line.size()) return false;
    const size_t at = from % kRingBytes, first = std::min(line.size(), kRingBytes - at);
    std::memcpy(bytes + at, line.data(), first);
    std::memcpy(bytes, line.data() + first, line.size() - first);
    written.store(from + line.size(), std::memory_order_release);
    return true;
  }
};

std::atomic<Ring*> all_rings{nullptr};
std::atomic<uint64_t> dropped{0};
std::atomic<Level> most_level{Level::kInfo};
std::mutex drain_mutex;

Ring* RingOfThisThread() {
  thread_local Ring* ring = [] {
    auto* made = new (std::nothrow) Ring;
    if (made == nullptr) return made;
    made->next = all_rings.load(std::memory_order_relaxed);
    while (!all_rings.compare_exchange_weak(made->next, made, std::memory_order_release, std::memory_order_relaxed)) {
    }
    return made;
  }();
  return ring;
}

// A line under construction; `full` when it does not fit.
struct Line {
  char bytes[kLineBytes];
  size_t size = 0;
  bool full = false;

  void Put(std::string_view text) {
    if (text.size() > kLineBytes - size) {
      full = true;
      return;
    }
    std::memcpy(bytes + size, text.data(), text.size());
    size += text.size();
  }
  void PutNumber(int64_t number) {
    char digits[24];
    Put({digits, static_cast<size_t>(std::to_chars(digits, digits + sizeof digits, number).ptr - digits)});
  }
  void PutString(std::string_view text) {
    Put("\"");
    const auto* at = reinterpret_cast<const uint8_t*>(text.data());
    const uint8_t* end = at + text.size();
    while (at < end && !full) {
      const uint8_t* bad = base::FindBadUtf8(at, end);
      for (; at < bad; ++at) PutByte(*at);
      if (at < end) {
        Put("\xef\xbf\xbd");
        ++at;
      }
    }
    Put("\"");
  }
  void PutByte(uint8_t byte) {
    constexpr char kHex[] = "0123456789abcdef";
    if (byte == '"' || byte == '\\') {
      const char text[2] = {'\\', static_cast<char>(byte)};
      Put({text, 2});
    } else if (byte < 0x20) {
      const char text[6] = {'\\', 'u', '0', '0', kHex[byte >> 4], kHex[byte & 15]};
      Put({text, 6});
    } else {
      const char plain = static_cast<char>(byte);
      Put({&plain, 1});
    }
  }
};

void PutTime(Line* line) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm parts{};
  gmtime_r(&now.tv_sec, &parts);
  char text[40];
  const size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  line->Put({text, size});
  const long ms = now.tv_nsec / 1'000'000;
  const char rest[5] = {'.', static_cast<char>('0' + ms / 100), static_cast<char>('0' + ms / 10 % 10), static_cast<char>('0' + ms % 10),
                        'Z'};
  line->Put({rest, 5});
}

bool WriteAll(int fd, const char* bytes, size_t count) {
  while (count != 0) {
    const ssize_t part = write(fd, bytes, count);
    if (part <= 0) return false;
    bytes += part;
    count -= static_cast<size_t>(part);
  }
  return true;
}

}  // namespace

void SetLogLevel(Level level) noexcept { most_level.store(level, std::memory_order_relaxed); }
bool LogsAt(Level level) noexcept { return level <= most_level.load(std::memory_order_relaxed); }
uint64_t DroppedLogLines() noexcept { return dropped.load(std::memory_order_relaxed); }

void Log(Level level, std::string_view message, std::initializer_list<Field> fields) noexcept {
  if (!LogsAt(level)) return;
  constexpr std::string_view kLevels[] = {"error", "warning", "info", "debug"};
  Line line;
  line.Put("{\"time\":\"");
  PutTime(&line);
  line.Put("\",\"level\":\"");
  line.Put(kLevels[static_cast<size_t>(level)]);
  line.Put("\",\"message\":");
  line.PutString(message);
  for (const Field& field : fields) {
    line.Put(",");
    line.PutString(field.name);
    line.Put(":");
    if (field.is_number)
      line.PutNumber(field.number);
    else
      line.PutString(field.text);
  }
  line.Put("}\n");
  Ring* ring = RingOfThisThread();
  if (line.full || ring == nullptr || !ring->Put({line.bytes, line.size})) dropped.fetch_add(1, std::memory_order_relaxed);
}

void DrainLogs(int fd) noexcept {
  const std::lock_guard lock(drain_mutex);
  for (Ring* ring = all_rings.load(std::memory_order_acquire); ring != nullptr; ring = ring->next) {
    const uint64_t from = ring->read.load(std::memory_order_relaxed), to = ring->written.load(std::memory_order_acquire);
    if (from == to) continue;
    const size_t at = from % kRingBytes, count = to - from, first = std::min(count, kRingBytes - at);
    if (WriteAll(fd, ring->bytes + at, first)) WriteAll(fd, ring->bytes, count - first);
    ring->read.store(to, std::memory_order_release);
  }
}

}  // namespace wf::observe
