#include "runtime/workbench/npy.h"

#include <cstring>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace wf::workbench {
namespace {

using ::testing::HasSubstr;

// A file of version 1 with this head and these elements.
std::vector<uint8_t> File(const std::string& head, const std::string& elements, uint8_t version = 1) {
  std::string text = "\x93NUMPY";
  text += {static_cast<char>(version), '\0', static_cast<char>(head.size() & 0xff), static_cast<char>(head.size() >> 8)};
  if (version > 1) text += std::string(2, '\0');
  text += head + elements;
  return {text.begin(), text.end()};
}

template <typename T>
std::string Bytes(const std::vector<T>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), sizeof(T) * numbers.size()};
}

template <typename T>
std::vector<T> Elements(const Tensor& tensor) {
  std::vector<T> elements(static_cast<size_t>(tensor.count()));
  std::memcpy(elements.data(), tensor.elements.get(), sizeof(T) * elements.size());
  return elements;
}

TEST(Npy, RowsAreReadInTheOrderOfTheFile) {
  for (const uint8_t version : {1, 2, 3}) {
    const auto read =
        ReadNpy(File("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", Bytes<float>({1, 2, 3, 4, 5, 6}), version), "x");
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(read->ToString(), "f32[2, 3]");
    EXPECT_EQ(Elements<float>(*read), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  }
}

TEST(Npy, ColumnsComeToStandInRows) {
  const auto read = ReadNpy(File("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }", Bytes<int16_t>({1, 4, 2, 5, 3, 6})), "x");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(Elements<int16_t>(*read), (std::vector<int16_t>{1, 2, 3, 4, 5, 6}));
}

TEST(Npy, BigEndianNumbersAreTurned) {
  const auto read = ReadNpy(File("{'descr': '>u2', 'fortran_order': False, 'shape': (1,), }", std::string("\1\2", 2)), "x");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(Elements<uint16_t>(*read), (std::vector<uint16_t>{0x0102}));
}

TEST(Npy, ScalarsAndEmptyArraysHaveTheirShape) {
  const auto scalar = ReadNpy(File("{\"descr\": \"<i8\", \"fortran_order\": False, \"shape\": ()}", Bytes<int64_t>({7})), "x");
  ASSERT_TRUE(scalar.ok()) << scalar.status().message();
  EXPECT_EQ(scalar->ToString(), "i64");
  const auto empty = ReadNpy(File("{'descr': '<f8', 'fortran_order': True, 'shape': (0, 9), }", ""), "x");
  ASSERT_TRUE(empty.ok()) << empty.status().message();
  EXPECT_EQ(empty->ToString(), "f64[0, 9]");
}

TEST(Npy, BoolsAreZeroOrOne) {
  const auto read = ReadNpy(File("{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }", std::string("\0\1\7", 3)), "x");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(Elements<uint8_t>(*read), (std::vector<uint8_t>{0, 1, 1}));
}

TEST(Npy, WhatIsWrittenReadsBack) {
  for (uint8_t dtype = WF_BOOL; dtype < WF_DTYPE_COUNT; ++dtype) {
    for (const std::vector<int64_t>& dim : {std::vector<int64_t>{}, {3}, {2, 2}, {0, 4}}) {
      auto tensor = MakeTensor(dtype, dim);
      ASSERT_TRUE(tensor.ok());
      const auto written = WriteNpy(*tensor);
      ASSERT_TRUE(written.ok()) << written.status().message();
      const auto read = ReadNpy(*written, "x");
      ASSERT_TRUE(read.ok()) << read.status().message();
      EXPECT_EQ(read->dim, dim);
      EXPECT_EQ(read->dtype, dtype == WF_BF16 ? int{WF_F32} : int{dtype});
      EXPECT_EQ((written->size() - static_cast<size_t>(read->size_bytes())) % 64, 0U);
    }
  }
}

std::vector<std::string> Texts(const Tensor& tensor) {
  std::vector<std::string> texts;
  for (int64_t at = 0; at < tensor.count(); ++at) texts.emplace_back(TextAt(tensor, at));
  return texts;
}

// Characters of 32 bits with zeros behind them, as `numpy.save` writes an array of str.
TEST(Npy, StringsAreReadWithoutWhatFillsThemUp) {
  const std::string head = "', 'fortran_order': False, 'shape': (2, 2), }";
  const std::u32string characters = {U'a', 0, 0xe9, U'b', 0, 0, 0x1f600, 0x20ac};
  std::string little, big;
  for (const char32_t c : characters) {
    for (int i = 0; i < 4; ++i) {
      little += static_cast<char>(c >> 8 * i);
      big += static_cast<char>(c >> 8 * (3 - i));
    }
  }
  for (const auto& [type, elements] : {std::pair{"<U2", little}, {">U2", big}}) {
    const auto read = ReadNpy(File(std::string("{'descr': '") + type + head, elements), "x");
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(read->ToString(), "string[2, 2]");
    EXPECT_EQ(Texts(*read), (std::vector<std::string>{"a", "\u00e9b", "", "\U0001f600\u20ac"}));
  }
  const auto columns = ReadNpy(File("{'descr': '|S2', 'fortran_order': True, 'shape': (1, 3), }", std::string("a\0bc\0\0", 6)), "x");
  ASSERT_TRUE(columns.ok()) << columns.status().message();
  EXPECT_EQ(Texts(*columns), (std::vector<std::string>{"a", "bc", ""}));
  const auto turned = ReadNpy(File("{'descr': '|S1', 'fortran_order': True, 'shape': (2, 2), }", "abcd"), "x");
  EXPECT_EQ(Texts(*turned), (std::vector<std::string>{"a", "c", "b", "d"}));
  const auto none = ReadNpy(File("{'descr': '<U0', 'fortran_order': True, 'shape': (0, 2), }", ""), "x");
  ASSERT_TRUE(none.ok()) << none.status().message();
}

TEST(Npy, StringsThatAreWrittenReadBack) {
  for (const std::vector<std::string>& texts :
       std::vector<std::vector<std::string>>{{}, {"", ""}, {"a", "long \u00e9\u20ac\U0001f600"}, {"\xff\xfe", "bytes"}}) {
    const auto tensor = MakeTexts(texts, {static_cast<int64_t>(texts.size())});
    ASSERT_TRUE(tensor.ok());
    const auto written = WriteNpy(*tensor);
    ASSERT_TRUE(written.ok()) << written.status().message();
    const auto read = ReadNpy(*written, "x");
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(Texts(*read), texts);
  }
  std::vector<std::string> texts(1 << 20);
  texts[0] = std::string(1 << 11, 'a');  // 8 GiB with the others as long
  const auto tensor = MakeTexts(texts, {1 << 20});
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(WriteNpy(*tensor).status().code(), base::kOutOfRange);
}

TEST(Npy, StringsThatAreNoneAreRefused) {
  const auto error = [](const std::string& type, const std::string& shape, const std::string& elements) {
    return ReadNpy(File("{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }", elements), "x").status().message();
  };
  EXPECT_EQ(error("<U1", "(1,)", std::string("\0\xd8\0\0", 4)), "`x`: 0xd800 is no character");
  EXPECT_EQ(error("<U1", "(1,)", std::string("\0\0\x11\0", 4)), "`x`: 0x110000 is no character");
  EXPECT_EQ(error("<U1", "(1,)", "abc"), "`x`: 3 bytes of elements where 1 strings have 4 each");
  EXPECT_EQ(error("<U0", "(1000000,)", ""), "`x`: strings of length 0, for which it has no elements");
  EXPECT_THAT(error("|S3", "(4611686018427387904,)", ""), HasSubstr("has more than"));
  EXPECT_THAT(error("<U4294967296", "(4294967,)", ""), HasSubstr("0 bytes of elements"));
  EXPECT_THAT(error("<Ux", "(1,)", ""), HasSubstr("`<Ux`"));
}

TEST(Npy, WhatIsNoFileOfOneArrayIsRefused) {
  const std::string sound = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  const std::string elements = Bytes<float>({1, 2});
  std::string deep = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
  for (int i = 0; i < 1000; ++i) deep += "1, ";
  const std::vector<std::vector<uint8_t>> files = {
      {},
      {0x93, 'N', 'U', 'M', 'P', 'Y'},
      File(sound, elements, 4),
      File("", elements),
      File("{", elements),
      File("{'descr': '<f4', 'shape': (2,), }", elements),
      File("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", elements),
      File("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", elements),
      File("{'descr': '<f4', 'fortran_order': 0, 'shape': (2,), }", elements),
      File("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", elements),
      File("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", elements),
      File("{'descr': '<f4', 'fortran_order': False, 'shape': 2, }", elements),
      File(sound + "x", elements),
      File(sound, elements + "x"),
      File(sound, "x"),
      File(deep + "), }", elements),
  };
  for (size_t i = 0; i < files.size(); ++i) {
    const auto read = ReadNpy(files[i], "x.npy");
    ASSERT_FALSE(read.ok()) << i;
    EXPECT_EQ(read.status().code(), base::kInvalidArgument) << i << ": " << read.status().message();
    EXPECT_THAT(read.status().message(), HasSubstr("`x.npy`: "));
  }
}

TEST(Npy, AHeadThatEndsBeyondTheFileIsRefused) {
  std::vector<uint8_t> file = File("{}", "");
  file[8] = file[9] = 0xff;
  EXPECT_FALSE(ReadNpy(file, "x").ok());
}

TEST(Npy, NoMemoryIsTakenForExtentsThatTheFileOnlyClaims) {
  for (const char* shape :
       {"(4611686018427387904,)", "(3037000500, 3037000500, 4)", "(0, 9223372036854775807)", "(2147483648, 2147483648)"}) {
    const auto read = ReadNpy(File(std::string("{'descr': '<f4', 'fortran_order': False, 'shape': ") + shape + ", }", ""), "x");
    ASSERT_FALSE(read.ok()) << shape;
    EXPECT_EQ(read.status().code(), base::kOutOfRange) << shape;
  }
}

TEST(Npy, TypesThatModelsDoNotTakeAreNamed) {
  const auto read = ReadNpy(File("{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", ""), "x");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.status().code(), base::kUnimplemented);
  EXPECT_THAT(read.status().message(), HasSubstr("`|O`"));
}

}  // namespace
}  // namespace wf::workbench
