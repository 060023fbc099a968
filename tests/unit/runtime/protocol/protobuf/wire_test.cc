#include "runtime/protocol/protobuf/wire.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace wf::protobuf {
namespace {

std::string Text(wf_sink& sink) {
  std::string text;
  for (const base::SinkPiece& piece : sink.Pieces()) text.append(reinterpret_cast<const char*>(piece.data), piece.bytes);
  return text;
}

// "1=5 2=[text] ", and "!" where the message is broken.
std::string Fields(const std::string& message) {
  const std::vector<uint8_t> exact(message.begin(), message.end());  // a read past the end is seen
  Reader reader({exact.data(), exact.size()});
  Field field;
  std::string fields;
  while (reader.Next(&field)) {
    fields += std::to_string(field.number) + "=";
    fields += field.wire == Wire::kBytes ? "[" + std::string(field.text()) + "] " : std::to_string(field.value) + " ";
  }
  return fields + (reader.broken() ? "!" : "");
}

TEST(ProtobufReader, WalksTheFieldsOfAMessage) {
  using namespace std::string_literals;
  EXPECT_EQ(Fields(""), "");
  EXPECT_EQ(Fields("\x08\x05\x12\x02hi"s), "1=5 2=[hi] ");
  EXPECT_EQ(Fields("\x09\x01\0\0\0\0\0\0\x80\x15\xff\xff\xff\xff"s), "1=9223372036854775809 2=4294967295 ");
  EXPECT_EQ(Fields("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s), "1=18446744073709551615 ");
  EXPECT_EQ(Fields("\x08\x80\x00"s), "1=0 ") << "a longer form of a varint";
  EXPECT_EQ(Fields("\xf8\xff\xff\xff\x0f\x01"s), "536870911=1 ") << "the greatest number";
  EXPECT_EQ(Fields("\x12\0"s), "2=[] ");
}

TEST(ProtobufReader, PassesGroupsOver) {
  using namespace std::string_literals;
  EXPECT_EQ(Fields("\x0b\x10\x05\x13\x1a\x01x\x14\x0c\x18\x07"s), "3=7 ");
  EXPECT_EQ(Fields("\x0b\x14"s), "!") << "ends another group";
  EXPECT_EQ(Fields("\x0b\x10"s), "!");
  EXPECT_EQ(Fields("\x0c"s), "!") << "ends none";
  EXPECT_EQ(Fields(std::string(32, '\x0b') + std::string(32, '\x0c')), "");
  EXPECT_EQ(Fields(std::string(33, '\x0b') + std::string(33, '\x0c')), "!");
  EXPECT_EQ(Fields(std::string(1'000'000, '\x0b')), "!");
}

TEST(ProtobufReader, ALimitHoldsForAMessageAndWhatItHolds) {
  const auto walk = [](std::string_view message, FieldLimit* limit) {
    Reader reader({reinterpret_cast<const uint8_t*>(message.data()), message.size()}, limit);
    Field field;
    int fields = 0;
    while (reader.Next(&field)) ++fields;
    return reader.broken() ? -1 : fields;
  };
  FieldLimit limit = {5};
  EXPECT_EQ(walk("\x12\x02hi\x08\x05", &limit), 2);
  EXPECT_EQ(walk("\x0b\x10\x05\x0c\x08\x05", &limit), -1) << "a group, what stands in it, its end, and a field";
  EXPECT_TRUE(limit.passed);
  limit = {2};
  EXPECT_EQ(walk("\x12\x02hi\x08\x05", &limit), 2);
  EXPECT_FALSE(limit.passed) << "just as many";
  EXPECT_EQ(walk("\x12\x02hi", &limit), -1);
  EXPECT_TRUE(limit.passed);
}

TEST(ProtobufReader, RefusesWhatIsNoField) {
  using namespace std::string_literals;
  for (const std::string& message : {
           "\x08"s,                                              // no value
           "\x08\x80"s,                                          // cut off
           "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"s,      // 65 bits
           "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s,  // 11 bytes
           "\0\x05"s,                                            // number 0
           "\x80\x80\x80\x80\x10\x05"s,                          // number 2^29
           "\xf8\xff\xff\xff\xff\xff\xff\xff\xff\x01\x05"s,      // a number of 61 bits
           "\x12\x03hi"s,                                        // longer than the rest
           "\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01hi"s,    // 2^64-1 bytes
           "\x12\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01hi"s,    // 2^63 bytes
           "\x09\x01\x02\x03\x04\x05\x06\x07"s,                  // seven of eight
           "\x0d\x01\x02\x03"s,                                  // three of four
           "\x0e\x01"s,                                          // wire types 6 and 7
           "\x0f\x01"s,
       }) {
    EXPECT_EQ(Fields(message), "!");
  }
}

TEST(ProtobufWriter, WritesWhatTheReaderReads) {
  wf_sink inner, out;
  PutText(&inner, 1, "x");
  PutInteger(&inner, 2, std::numeric_limits<uint64_t>::max());
  PutMessage(&out, 5, &inner);
  PutInteger(&out, 3, 300);
  EXPECT_EQ(Text(out), std::string("\x2a\x0e\x0a\x01x\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x18\xac\x02", 19));
  EXPECT_EQ(Fields(Text(out)).substr(Fields(Text(out)).find("3=")), "3=300 ");
}

TEST(ProtobufWriter, CountsBytesOfVarints) {
  for (int bits = 0; bits < 64; ++bits) {
    for (const uint64_t value : {UINT64_C(1) << bits, (UINT64_C(1) << bits) - 1}) {
      wf_sink out;
      PutVarint(&out, value);
      EXPECT_EQ(VarintBytes(value), out.size()) << value;
      const std::string text = Text(out);
      const auto* at = reinterpret_cast<const uint8_t*>(text.data());
      uint64_t read = 0;
      EXPECT_TRUE(TakeVarint(&at, at + text.size(), &read));
      EXPECT_EQ(read, value);
    }
  }
}

TEST(ProtobufWriter, CountsBytesOfFields) {
  for (const uint32_t number : {1U, 15U, 16U, 2048U}) {
    for (const size_t bytes : {0, 1, 127, 128, 20'000}) {
      wf_sink out;
      PutText(&out, number, std::string(bytes, 'x'));
      EXPECT_EQ(FieldBytes(number, bytes), out.size()) << number << " " << bytes;
      EXPECT_EQ(Fields(Text(out)), std::to_string(number) + "=[" + std::string(bytes, 'x') + "] ");
    }
  }
}

}  // namespace
}  // namespace wf::protobuf
