#include "compiler/sema/npy.h"

#include <gtest/gtest.h>

namespace wf::sema {
namespace {

std::string File(std::string header, std::string_view elements, char version = 1) {
  header.resize((header.size() + 64) / 64 * 64, ' ');
  std::string text = "\x93NUMPY" + std::string{version, 0};
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) text += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return text + header + std::string(elements);
}

constexpr std::string_view kSix{"\0\0\x80?\0\0\0@\0\0@@\0\0\x80@\0\0\xa0@\0\0\xc0@", 24};

TEST(Npy, ReadsTheHeaderInAnyOrderAndFormat) {
  for (const char version : {1, 2, 3}) {
    for (const char* header :
         {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", "{\"shape\":(2,3),\"fortran_order\":False,\"descr\":\"<f4\"}",
          " { 'fortran_order' : False , 'shape' : ( 2 , 3 , ) , 'descr' : '<f4' } "}) {
      const std::string text = File(header, kSix, version);
      const auto array = ReadNpy(text);
      ASSERT_TRUE(array.ok()) << header << array.status().message();
      EXPECT_EQ(array->dtype, ir::DType::kF32);
      EXPECT_EQ(array->dims, (std::vector<int64_t>{2, 3}));
      EXPECT_EQ(array->elements, kSix);
    }
  }
}

TEST(Npy, RefusesWhatEndsEarly) {
  const std::string text = File("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", kSix);
  for (size_t size = 0; size < text.size(); ++size) EXPECT_FALSE(ReadNpy(std::string_view(text).substr(0, size)).ok()) << size;
  EXPECT_FALSE(ReadNpy(text + '\0').ok());
}

TEST(Npy, SurvivesEachByteChanged) {
  const std::string text = File("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", kSix);
  for (size_t at = 0; at < text.size(); ++at) {
    for (const char byte : {'\0', '\xff', '(', ')', '{', '}', '\'', ',', '9', '-', 'T'}) {
      std::string changed = text;
      changed[at] = byte;
      const auto array = ReadNpy(changed);
      if (!array.ok()) {
        EXPECT_FALSE(array.status().message().empty());
      }
    }
  }
}

TEST(Npy, SaysWhatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 9223372036854775807), }",
       "more bytes of elements than any memory has"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", "no extent"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", "no extent"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4), }", "needs 32 bytes of elements, found 24"},
      {"{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", "column by column"},
      {"{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2, 3), }", "neither True nor False"},
      {"{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }", "big-endian"},
      {"{'descr': '<c8', 'fortran_order': False, 'shape': (2, 3), }", "`<c8`"},
      {"{'descr': '<f4', 'shape': (2, 3), }", "lacks"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } x", "does not end"},
      {"{'descr': '<f4' 'fortran_order': False}", "no dictionary"},
      {"[]", "no dictionary"},
  };
  for (const auto& [header, message] : wrong) {
    const std::string text = File(header, kSix);
    const auto array = ReadNpy(text);
    ASSERT_FALSE(array.ok()) << header;
    EXPECT_NE(array.status().message().find(message), std::string::npos) << header << ": " << array.status().message();
  }
}

}  // namespace
}  // namespace wf::sema
