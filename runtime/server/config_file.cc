#include "runtime/server/config_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <utility>

#include "runtime/base/descriptor.h"
#include "runtime/base/system_error.h"
#include "runtime/base/text.h"

namespace wf::server {
namespace {

constexpr size_t kMaxDepth = 8, kMaxKeyBytes = 256, kMaxValueBytes = 4096;

// Events of libyaml, freed as they are replaced.
class Events {
 public:
  explicit Events(std::string_view text) : text_(text) {
    ready_ = yaml_parser_initialize(&parser_) == 1;
    if (!ready_) return;
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
  }
  ~Events() {
    if (has_event_) yaml_event_delete(&event_);
    if (ready_) yaml_parser_delete(&parser_);
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  bool Next() {
    if (has_event_) yaml_event_delete(&event_);
    has_event_ = ready_ && yaml_parser_parse(&parser_, &event_) == 1;
    return has_event_;
  }
  yaml_event_type_t type() const { return event_.type; }
  int line() const { return static_cast<int>(event_.start_mark.line) + 1; }
  std::string_view scalar() const { return {reinterpret_cast<const char*>(event_.data.scalar.value), event_.data.scalar.length}; }
  bool plain() const { return event_.data.scalar.style == YAML_PLAIN_SCALAR_STYLE; }
  bool has_tag() const {
    return (event_.type == YAML_SCALAR_EVENT && event_.data.scalar.tag != nullptr) ||
           (event_.type == YAML_MAPPING_START_EVENT && event_.data.mapping_start.tag != nullptr);
  }
  ConfigEntry Problem() const {
    if (!ready_) return At(0, "no memory to read it");
    if (parser_.error == YAML_READER_ERROR) {  // bytes, not tokens: only their offset is known
      const auto* const begin = reinterpret_cast<const uint8_t*>(text_.data());
      const auto bad = static_cast<size_t>(base::FindBadUtf8(begin, begin + text_.size()) - begin);
      const size_t offset = std::min(parser_.problem_offset, text_.size());
      if (bad <= offset && bad < text_.size()) return At(LinesBefore(bad), "not UTF-8");
      return At(LinesBefore(offset), std::string("not YAML: ") + parser_.problem);
    }
    const size_t last = LinesBefore(text_.find_last_not_of(" \t\r\n") + 1);  // what lacks its end is found behind it
    return At(std::min(parser_.problem_mark.line, last),
              std::string("not YAML: ") + (parser_.problem == nullptr ? "cannot be read" : parser_.problem));
  }

 private:
  static ConfigEntry At(size_t lines_before, std::string problem) {
    ConfigEntry entry;
    entry.line = static_cast<int>(lines_before) + 1;
    entry.problem = std::move(problem);
    return entry;
  }
  size_t LinesBefore(size_t offset) const {
    return static_cast<size_t>(std::count(text_.begin(), text_.begin() + static_cast<ptrdiff_t>(offset), '\n'));
  }

  std::string_view text_;
  yaml_parser_t parser_;
  yaml_event_t event_;
  bool ready_ = false, has_event_ = false;
};

// Puts events together to entries.
class Reader {
 public:
  explicit Reader(std::string_view text) : events_(text) {}

  std::vector<ConfigEntry> Read() {
    bool goes_on = true;
    while (goes_on && events_.Next()) {
      if (events_.type() == YAML_STREAM_END_EVENT) return std::move(entries_);
      goes_on = events_.has_tag() ? Passes("expected a value without a tag") : Take();
    }
    if (goes_on) entries_.push_back(events_.Problem());
    return std::move(entries_);
  }

 private:
  void Tell(int line, std::string problem) { entries_.push_back({{}, {}, line, false, false, std::move(problem)}); }
  // What follows cannot be understood. Of what stands in place of a value the key is known.
  bool Ends(std::string problem) {
    const bool is_value = has_key_ && events_.type() != YAML_MAPPING_START_EVENT;
    if (!is_value) Tell(events_.line(), std::move(problem));
    if (is_value) Add({}, false, std::move(problem));
    return false;
  }
  // The same of what stands in place of a value, behind which the file goes on.
  bool Passes(std::string problem) {
    if (!has_key_) return Ends(std::move(problem));
    const bool is_mapping = events_.type() == YAML_MAPPING_START_EVENT;
    if (is_mapping) Tell(events_.line(), std::move(problem));
    if (!is_mapping) Add({}, false, std::move(problem));
    has_key_ = false;
    repeats_ = 0;
    int depth = Deeper();
    const auto is_inside = [&] { return depth > 0 && depth <= static_cast<int>(kMaxDepth); };  // what is deeper takes libyaml too long
    for (; is_inside(); depth += Deeper()) {
      if (events_.Next()) continue;
      entries_.push_back(events_.Problem());  // libyaml has no more: it would say so forever
      return false;
    }
    return depth <= static_cast<int>(kMaxDepth);
  }
  // By how much what stands here nests deeper.
  int Deeper() const {
    const yaml_event_type_t type = events_.type();
    if (type == YAML_SEQUENCE_START_EVENT || type == YAML_MAPPING_START_EVENT) return 1;
    return type == YAML_SEQUENCE_END_EVENT || type == YAML_MAPPING_END_EVENT ? -1 : 0;
  }
  // Of the key that has come.
  void Add(std::string_view value, bool no_value, std::string problem = {}) {
    entries_.push_back({path_, std::string(value), key_line_, no_value, false, std::move(problem), section_lines_});
    entries_.back().path.push_back(std::move(key_));
    has_key_ = false;
  }
  std::string Key(std::string_view last) const {
    std::string joined;
    for (const std::string& part : path_) joined += part + ".";
    return joined + std::string(last);
  }

  bool Take() {
    switch (events_.type()) {
      case YAML_DOCUMENT_START_EVENT:
        return ++documents_ == 1 || Ends("expected the end, found a second document");
      case YAML_SCALAR_EVENT:
        return has_key_ ? TakeValue() : TakeKey();
      case YAML_MAPPING_START_EVENT:
        if (in_root_ && !has_key_) return Ends("expected a key, found a mapping");
        if (path_.size() == kMaxDepth) return Passes("nested deeper than 8");
        if (in_root_) {
          const bool is_repeated = repeats_ != 0;
          if (is_repeated) TellRepeated();
          path_.push_back(std::move(key_));
          section_lines_.push_back(key_line_);
          if (is_repeated) ForgetKeysInside();
        }
        in_root_ = true;
        has_key_ = false;
        is_fresh_ = true;
        return true;
      case YAML_MAPPING_END_EVENT:
        if (is_fresh_ && !path_.empty())
          entries_.push_back({path_, {}, key_line_, false, true, {}, {section_lines_.begin(), section_lines_.end() - 1}});
        is_fresh_ = false;
        in_root_ = !path_.empty();
        if (in_root_) {
          path_.pop_back();
          section_lines_.pop_back();
        }
        return true;
      case YAML_SEQUENCE_START_EVENT:
        return Passes(has_key_ ? "expected a value for " + Quoted(Key(key_)) + ", found a list; several are one text, as \"a, b\""
                               : "expected `key: value`, found a list");
      case YAML_ALIAS_EVENT:
        return Passes("expected a value, found an alias");
      default:
        return true;
    }
  }

  bool TakeKey() {
    const std::string_view key = events_.scalar();
    if (!in_root_) return key.empty() || Ends("expected `key: value`, found " + Quoted(key));
    if (key.empty()) return Ends("a key is empty");
    if (key.size() > kMaxKeyBytes) return Ends("the key " + Quoted(key) + " is longer than 256 bytes");
    key_ = key;
    key_line_ = events_.line();
    has_key_ = true;
    is_fresh_ = false;
    std::vector<std::string> whole = path_;
    whole.push_back(key_);
    const auto [first, fresh] = seen_.emplace(std::move(whole), key_line_);
    repeats_ = fresh ? 0 : first->second;
    return true;
  }

  // Of a mapping that is told as a repeated one: they are not told again.
  void ForgetKeysInside() {
    auto at = seen_.upper_bound(path_);
    while (at != seen_.end() && std::equal(path_.begin(), path_.end(), at->first.begin())) at = seen_.erase(at);
  }

  // What was set first holds; the keys of a mapping are looked at none the less.
  bool TellRepeated() {
    Tell(key_line_, Quoted(Key(key_)) + " is already set on line " + std::to_string(std::exchange(repeats_, 0)));
    has_key_ = false;
    return true;
  }

  bool TakeValue() {
    const std::string_view value = events_.scalar();
    if (value.size() > kMaxValueBytes) return Passes("the value of " + Quoted(Key(key_)) + " is longer than 4096 bytes");
    if (repeats_ != 0) return TellRepeated();
    const bool none = events_.plain() && (value.empty() || value == "~" || value == "null");
    Add(value, none);
    return true;
  }

  Events events_;
  std::vector<ConfigEntry> entries_;
  std::map<std::vector<std::string>, int> seen_;  // keys, those of mappings too, and their lines
  std::vector<std::string> path_;                 // keys of the mappings that are open, but for the root's
  std::vector<int> section_lines_;                // of those keys
  std::string key_;
  int key_line_ = 0, documents_ = 0;
  int repeats_ = 0;  // the line where the key came first; 0: here
  bool in_root_ = false, has_key_ = false;
  bool is_fresh_ = false;  // the mapping that is open: no key has come
};

// Up to one byte more than a file may have. 0, or what stands in the way.
int ReadAll(int fd, std::string* text) {
  text->resize(kMaxConfigBytes + 1);
  size_t size = 0;
  while (size < text->size()) {
    pollfd ready = {.fd = fd, .events = POLLIN, .revents = 0};  // of a pipe whose writer takes its time
    const ssize_t part = poll(&ready, 1, -1) < 0 ? -1 : read(fd, text->data() + size, text->size() - size);
    if (part < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (part < 0) return errno;
    if (part == 0) break;
    size += static_cast<size_t>(part);
  }
  text->resize(size);
  return 0;
}

}  // namespace

std::string ConfigEntry::key() const {
  std::string joined;
  for (const std::string& part : path) joined += (joined.empty() ? "" : ".") + part;
  return joined;
}

std::vector<ConfigEntry> ReadConfig(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return Reader(text).Read();
}

base::Result<std::string> ReadConfigFile(const std::string& path, bool again) {
  const auto failed = [&path](int error) { return base::Status(base::CodeOfErrno(error), path + ": " + base::TextOfErrno(error)); };
  const base::Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat found;
  if (file.get() < 0 || fstat(file.get(), &found) != 0) return failed(errno);
  if (again && !S_ISREG(found.st_mode))
    return base::Status(base::kFailedPrecondition, path + ": not a regular file, so it is read at the start alone");
  std::string text;
  if (const int error = ReadAll(file.get(), &text); error != 0) return failed(error);
  if (text.size() > kMaxConfigBytes) return base::Status(base::kOutOfRange, path + ": larger than 1 MiB");
  return text;
}

std::string Quoted(std::string_view text) {
  base::TextBuilder out;
  out << "`";
  out.Quote(text);
  out << "`";
  return out.str();
}

std::string DidYouMean(std::string_view name, const std::vector<std::string>& candidates) {
  if (name.size() > kMaxKeyBytes) return {};
  const std::vector<std::string_view> views(candidates.begin(), candidates.end());
  const std::string_view nearest = base::Nearest(name, views);
  return nearest.empty() ? "" : "; did you mean `" + std::string(nearest) + "`";
}

}  // namespace wf::server
