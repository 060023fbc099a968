#include "compiler/driver/parsed_files.h"

namespace wf::driver {

std::shared_ptr<const ast::File> ParsedFiles::Find(std::string_view name, source::FileId id, std::string_view text) const {
  const auto at = kept_.find({std::string(name), id});
  return at != kept_.end() && at->second.text == text ? at->second.file : nullptr;
}

void ParsedFiles::Add(std::string_view name, std::string_view text, std::shared_ptr<const ast::File> file) {
  if (bytes_ + text.size() > kMostBytes) {
    kept_.clear();
    bytes_ = 0;
  }
  if (text.size() > kMostBytes) return;
  const source::FileId id = file->id;
  Kept& kept = kept_[{std::string(name), id}];
  bytes_ += text.size() - kept.text.size();
  kept = {std::string(text), std::move(file)};
}

}  // namespace wf::driver
