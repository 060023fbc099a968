#include "runtime/kernels/choices_file.h"

#include <cpuid.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "runtime/base/descriptor.h"
#include "runtime/base/replace_file.h"
#include "runtime/base/system_error.h"
#include "runtime/kernels/onednn/onednn.h"

namespace wf::kernels {
namespace {

using base::Status;

constexpr std::string_view kKind = "wf-kernel-cache ", kMachine = "machine ", kEnd = "end ";
constexpr int kVersion = 1;
constexpr int kKernels = 2;  // rises when a way computes otherwise, or is measured otherwise
constexpr size_t kMostFileBytes = size_t{64} << 20;

uint64_t SumOf(std::string_view text) {  // FNV-1a
  uint64_t sum = 0xcbf2'9ce4'8422'2325u;
  for (const char c : text) sum = (sum ^ static_cast<uint8_t>(c)) * 0x100'0000'01b3u;
  return sum;
}

// Takes the first line off; nothing of a line that does not end.
bool TakeLine(std::string_view& text, std::string_view& line) {
  const size_t end = text.find('\n');
  if (end == std::string_view::npos) return false;
  line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return true;
}

Status SystemFailure(const std::string& file, const char* what, int error) {
  return {base::CodeOfErrno(error), fmt::format("`{}`: {}: {}", file, what, base::TextOfErrno(error))};
}

Status Unwritten(const std::string& file, const Status& why) {
  return why.ok() ? why : Status(why.code(), fmt::format("`{}`: cannot be written: {}", file, why.message()));
}

// Errors: why it cannot be read; kNotFound: it is not there.
Status ReadText(const std::string& file, std::string& text) {
  const base::Descriptor opened(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (opened.get() < 0) return SystemFailure(file, "cannot be read", errno);
  struct stat about{};
  if (fstat(opened.get(), &about) != 0) return SystemFailure(file, "cannot be read", errno);
  if (!S_ISREG(about.st_mode)) return {base::kFailedPrecondition, fmt::format("`{}` is no regular file", file)};
  if (static_cast<uint64_t>(about.st_size) > kMostFileBytes)
    return {base::kOutOfRange, fmt::format("`{}` has more than {} bytes", file, kMostFileBytes)};
  text.resize(static_cast<size_t>(about.st_size));
  size_t have = 0;
  while (have < text.size()) {
    const ssize_t got = read(opened.get(), text.data() + have, text.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemFailure(file, "cannot be read", errno);
    if (got == 0) break;
    have += static_cast<size_t>(got);
  }
  text.resize(have);
  return {};
}

// What the lines behind the head say; false: they are not whole.
bool ReadLines(std::string_view text, std::string_view rest, std::map<std::string, std::string>& way) {
  std::string_view line;
  while (TakeLine(rest, line)) {
    if (line.starts_with(kEnd)) {
      const auto before = static_cast<size_t>(line.data() - text.data());
      return rest.empty() && line == fmt::format("{}{} {:016x}", kEnd, way.size(), SumOf(text.substr(0, before)));
    }
    const size_t tab = line.find('\t');
    if (tab == std::string_view::npos) return false;
    way.emplace(line.substr(tab + 1), line.substr(0, tab));
  }
  return false;
}

}  // namespace

std::string MachineText() {
  std::array<unsigned, 12> brand{};
  std::string name, features;
  std::array<unsigned, 4> r{};
  if (__get_cpuid_max(0x8000'0000u, nullptr) >= 0x8000'0004u) {
    for (unsigned i = 0; i < 3; ++i) __get_cpuid(0x8000'0002u + i, &brand[4 * i], &brand[4 * i + 1], &brand[4 * i + 2], &brand[4 * i + 3]);
    name.assign(reinterpret_cast<const char*>(brand.data()), sizeof brand);
    name.resize(std::strlen(name.c_str()));
    std::replace_if(name.begin(), name.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  }
  if (__get_cpuid(1, &r[0], &r[1], &r[2], &r[3]) != 0) features += fmt::format(" {:x} {:x} {:x}", r[0], r[2], r[3]);
  for (const unsigned leaf : {0u, 1u}) {
    if (__get_cpuid_count(7, leaf, &r[0], &r[1], &r[2], &r[3]) != 0)
      features += fmt::format(" {:x} {:x} {:x} {:x}", r[0], r[1], r[2], r[3]);
  }
  return fmt::format("{}, features{}, {}, kernels {}", name, features, onednn::Description(), kKernels);
}

ChoicesRead ReadChoices(const std::string& file, const std::string& machine) {
  ChoicesRead read;
  std::string text;
  if (const Status status = ReadText(file, text); !status.ok()) {
    if (status.code() == base::kNotFound) return read;
    return {{}, status.message(), false};
  }
  std::string_view rest = text, line;
  if (text.empty()) return read;  // as mktemp leaves it
  if (!rest.starts_with(kKind)) return {{}, fmt::format("`{}` holds no kernel choices, and is left as it is", file), false};
  if (!TakeLine(rest, line) || line.substr(kKind.size()) != std::to_string(kVersion))
    return {{}, fmt::format("`{}` is in another version's form", file), true};
  if (!TakeLine(rest, line) || !line.starts_with(kMachine)) return {{}, fmt::format("`{}` is cut off or damaged", file), true};
  if (line.substr(kMachine.size()) != machine)
    return {{}, fmt::format("`{}` was measured on another machine, or with other libraries", file), true};
  if (!ReadLines(text, rest, read.way)) return {{}, fmt::format("`{}` is cut off or damaged", file), true};
  return read;
}

Status CheckWritable(const std::string& file) { return Unwritten(file, base::MayReplace(file)); }

Status WriteChoices(const std::string& file, const std::string& machine, const std::map<std::string, std::string>& way) {
  std::string text = fmt::format("{}{}\n{}{}\n", kKind, kVersion, kMachine, machine);
  for (const auto& [key, chosen] : way) text += fmt::format("{}\t{}\n", chosen, key);
  text += fmt::format("{}{} {:016x}\n", kEnd, way.size(), SumOf(text));
  return Unwritten(file, base::ReplaceFile(file, text));
}

}  // namespace wf::kernels
