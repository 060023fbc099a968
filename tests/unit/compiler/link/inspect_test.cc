#include "compiler/link/inspect.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <vector>

namespace wf::link {
namespace {

class InspectTest : public ::testing::Test {
 protected:
  std::string path_ = "/tmp/wf-inspect-test-" + std::to_string(getpid());
  void TearDown() override { unlink(path_.c_str()); }
  base::Result<std::string> Read(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary) << bytes;
    return ReadNote(path_);
  }
  // An ELF file with one PT_NOTE segment that holds `notes`.
  static std::string Elf(const std::string& notes) {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_machine = EM_X86_64;
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 1;
    Elf64_Phdr segment{};
    segment.p_type = PT_NOTE;
    segment.p_offset = sizeof header + sizeof segment;
    segment.p_filesz = notes.size();
    return std::string(reinterpret_cast<const char*>(&header), sizeof header) +
           std::string(reinterpret_cast<const char*>(&segment), sizeof segment) + notes;
  }
  static std::string Note(const std::string& name, uint32_t type, const std::string& text) {
    const uint32_t head[] = {static_cast<uint32_t>(name.size() + 1), static_cast<uint32_t>(text.size()), type};
    std::string note(reinterpret_cast<const char*>(head), sizeof head);
    note += name + std::string(4 - name.size() % 4, '\0') + text;
    return note + std::string((4 - note.size() % 4) % 4, '\0');
  }
};

TEST_F(InspectTest, FindsOurNoteAmongOthers) {
  EXPECT_EQ(*Read(Elf(Note("GNU", 3, "abcde") + Note("wfc", 2, "other") + Note("wfc", 1, "{\"a\":1}"))), "{\"a\":1}");
}

TEST_F(InspectTest, RefusesWhatIsNoServer) {
  EXPECT_EQ(ReadNote("/no/such/file").status().code(), base::kNotFound);
  EXPECT_FALSE(ReadNote("/tmp").ok());
  for (const std::string& bytes : {std::string(), std::string("text"), std::string(200, '\xff'), Elf(""), Elf(Note("GNU", 1, "x"))}) {
    EXPECT_EQ(Read(bytes).status().code(), base::kInvalidArgument);
  }
}

TEST_F(InspectTest, EveryCutAndEveryFlippedByteIsSafe) {
  const std::string whole = Elf(Note("GNU", 3, "abcde") + Note("wfc", 1, "{\"a\":1}"));
  for (size_t n = 0; n < whole.size(); ++n) EXPECT_FALSE(Read(whole.substr(0, n)).ok() && n < whole.size() - 4) << n;
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string bytes = whole;
    bytes[i] = i % 2 == 0 ? '\xff' : '\x7f';
    (void)Read(bytes).ok();
  }
}

}  // namespace
}  // namespace wf::link
