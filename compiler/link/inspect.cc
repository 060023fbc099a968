#include "compiler/link/inspect.h"

#include <elf.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "runtime/base/system_error.h"

namespace wf::link {
namespace {

constexpr uint64_t kMaxNoteBytes = 64u << 20;
constexpr size_t kMaxSegments = 256;
constexpr uint32_t kNoteType = 1;

base::Status NotOurs(const std::string& why) { return {base::kInvalidArgument, why}; }

template <typename T>
bool ReadAt(std::ifstream& file, uint64_t offset, T* value) {
  file.clear();
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(value), sizeof(T));
  return static_cast<bool>(file);
}

// The description of the note with our name, if `notes` holds one.
std::optional<std::string> FindNote(const std::string& notes) {
  size_t at = 0;
  while (notes.size() - at >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr head;
    std::memcpy(&head, notes.data() + at, sizeof head);
    at += sizeof head;
    const uint64_t name = (uint64_t{head.n_namesz} + 3) / 4 * 4, description = (uint64_t{head.n_descsz} + 3) / 4 * 4;
    if (name > notes.size() - at || head.n_descsz > notes.size() - at - name) return std::nullopt;
    if (head.n_type == kNoteType && head.n_namesz == 4 && std::memcmp(notes.data() + at, "wfc", 4) == 0)
      return notes.substr(at + name, head.n_descsz);
    if (description > notes.size() - at - name) return std::nullopt;
    at += name + description;
  }
  return std::nullopt;
}

}  // namespace

base::Result<std::string> ReadNote(const std::string& path) {
  std::error_code unknown;
  const auto type = std::filesystem::status(path, unknown).type();
  if (type == std::filesystem::file_type::directory) return NotOurs("it is a folder");
  if (std::filesystem::exists(std::filesystem::file_status(type)) && type != std::filesystem::file_type::regular)
    return NotOurs("it is not a regular file");
  std::ifstream file(path, std::ios::binary);
  if (!file) return base::Status(base::kNotFound, base::TextOfErrno(errno));
  file.seekg(0, std::ios::end);
  const auto end = static_cast<std::streamoff>(file.tellg());
  if (end < 0) return NotOurs("it is not a regular file");
  const auto size = static_cast<uint64_t>(end);
  Elf64_Ehdr header;
  if (size < sizeof header || !ReadAt(file, 0, &header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return NotOurs("not an ELF file");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64 || header.e_phentsize != sizeof(Elf64_Phdr)) {
    return NotOurs("not an ELF file for x86-64");
  }
  for (size_t i = 0; i < header.e_phnum && i < kMaxSegments; ++i) {
    Elf64_Phdr segment;
    const uint64_t at = header.e_phoff + i * sizeof segment;
    if (header.e_phoff > size || size - header.e_phoff < (i + 1) * sizeof segment || !ReadAt(file, at, &segment)) break;
    if (segment.p_type != PT_NOTE || segment.p_offset > size || segment.p_filesz > size - segment.p_offset ||
        segment.p_filesz > kMaxNoteBytes)
      continue;
    std::string notes(segment.p_filesz, '\0');
    file.clear();
    file.seekg(static_cast<std::streamoff>(segment.p_offset));
    if (!file.read(notes.data(), static_cast<std::streamsize>(notes.size()))) continue;
    if (auto found = FindNote(notes)) return *std::move(found);
  }
  return NotOurs("no note of this compiler in it: not built by `wfc`, or its notes were removed");
}

}  // namespace wf::link
