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
      const auto read = ReadNpy(WriteNpy(*tensor), "x");
      ASSERT_TRUE(read.ok()) << read.status().message();
      EXPECT_EQ(read->dim, dim);
      EXPECT_EQ(read->dtype, dtype == WF_BF16 ? int{WF_F32} : int{dtype});
      EXPECT_EQ((WriteNpy(*tensor).size() - static_cast<size_t>(read->size_bytes())) % 64, 0U);
    }
  }
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
