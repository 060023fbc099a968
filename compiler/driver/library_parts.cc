#include "compiler/driver/library_parts.h"

#include <algorithm>

#include "compiler/base/ascii.h"
#include "compiler/base/source.h"

namespace wf::driver {
namespace {

bool IsOfWord(char c) { return base::IsLetter(c) || base::IsDigit(c) || c == '_'; }

// The word that begins at `from`, perhaps an empty one.
std::string_view WordAt(std::string_view text, size_t from) {
  size_t end = from;
  while (end < text.size() && IsOfWord(text[end])) ++end;
  return text.substr(from, end - from);
}

// `softmax` of `fn softmax(x: f32[n])`.
std::string_view NameIn(std::string_view header) {
  std::string_view name = WordAt(header, 0);
  for (size_t at = name.size(); at < header.size() && header[at] == ' ';) {
    const std::string_view next = WordAt(header, at + 1);
    if (next.empty()) break;
    name = next;
    at += 1 + next.size();
  }
  return name;
}

}  // namespace

void LibraryParts::Name(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const std::string_view word = WordAt(text, at);
    if (!word.empty() && words_.insert(word).second) new_words_.push_back(word);
    at += std::max<size_t>(word.size(), 1);
  }
}

void LibraryParts::AddProgram(std::string_view text) { Name(text); }

void LibraryParts::AddPart(Module& module, size_t begin, size_t header, size_t end) {
  constexpr std::string_view kImport = "import ", kPackage = "package ", kType = "type ";
  const std::string_view text = module.text.substr(header, end - header);
  if (text.starts_with(kImport) || text.starts_with(kPackage)) {
    if (text.starts_with(kImport))
      module.imports.emplace_back(text.substr(kImport.size(), text.find_first_of(" ;", kImport.size()) - kImport.size()));
    module.parts.push_back({begin, header, end, true});
    return;
  }
  if (text.starts_with(kType)) Name(NameIn(text));
  by_name_.emplace(NameIn(text), Place{modules_.size(), module.parts.size()});
  module.parts.push_back({begin, header, end});
}

size_t LibraryParts::AddModule(std::string_view text) {
  Module module{text, {}, {}};
  size_t begin = 0, header = 0;  // of the declaration that is being read: with its comment, and without
  bool has_header = false, is_comment = false;
  for (size_t at = 0; at < text.size();) {
    const size_t next = source::EndOfLine(text, at).next;
    const bool starts = base::IsLetter(text[at]), comments = text[at] == '/';
    if (has_header && (starts || (comments && !is_comment))) {
      AddPart(module, begin, header, at);
      begin = at;
      has_header = false;
    }
    if (starts) {
      header = at;
      has_header = true;
    }
    is_comment = comments;
    at = next;
  }
  if (has_header) AddPart(module, begin, header, text.size());
  modules_.push_back(std::move(module));
  return modules_.size() - 1;
}

void LibraryParts::FollowNames() {
  while (!new_words_.empty()) {
    const std::string_view word = new_words_.back();
    new_words_.pop_back();
    for (auto [at, end] = by_name_.equal_range(word); at != end; ++at) {
      const Module& module = modules_[at->second.module];
      Part& part = modules_[at->second.module].parts[at->second.part];
      if (part.is_needed) continue;
      part.is_needed = true;
      Name(module.text.substr(part.header, part.end - part.header));
    }
  }
}

std::string LibraryParts::TextOf(size_t number) {
  FollowNames();
  const Module& module = modules_[number];
  std::string text(module.text);
  for (const Part& part : module.parts) {
    if (!part.is_needed) std::replace_if(&text[part.begin], &text[part.end], [](char c) { return c != '\n'; }, ' ');
  }
  return text;
}

}  // namespace wf::driver
