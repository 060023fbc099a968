#include "runtime/workbench/commands.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/check.h"
#include "runtime/kernels/operation.h"
#include "runtime/workbench/npy.h"
#include "tests/unit/runtime/onnx/builder.h"

namespace wf::workbench {
namespace {

namespace fs = std::filesystem;
using testing::Builder;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A folder of its own, and what commands say there.
class Commands : public ::testing::Test {
 protected:
  Commands() {
    std::string pattern = (fs::temp_directory_path() / "wf_workbench_XXXXXX").string();
    WF_CHECK(mkdtemp(pattern.data()) != nullptr);
    folder_ = pattern;
  }
  ~Commands() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  void Write(const std::string& name, const std::string& bytes) const {
    fs::create_directories(fs::path(Path(name)).parent_path());
    std::ofstream(Path(name), std::ios::binary) << bytes;
  }
  std::string ReadText(const std::string& name) const {
    std::ifstream file(Path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  int Run(std::vector<std::string> arguments) {
    out_.str("");
    err_.str("");
    return RunCommand(arguments, out_, err_);
  }
  std::string out() const { return out_.str(); }
  std::string err() const { return err_.str(); }

  // y = x + x, of [n, 2]
  static std::string Doubles() {
    Builder builder;
    builder.Input("x", {"n", 2}).Output("y");
    builder.Node("Add", {"x", "x"}, {"y"}, "twice");
    return builder.Bytes();
  }
  static std::string Pb(const std::vector<int64_t>& dim, const std::vector<float>& numbers) {
    onnx::pb::TensorProto tensor;
    tensor.set_data_type(onnx::pb::FLOAT);
    for (const int64_t extent : dim) tensor.add_dims(extent);
    Builder::SetFloats(tensor, numbers);
    return tensor.SerializeAsString();
  }
  static std::string Npy(const std::vector<int64_t>& dim, const std::vector<float>& numbers) {
    auto tensor = MakeTensor(WF_F32, dim);
    std::copy(numbers.begin(), numbers.end(), reinterpret_cast<float*>(tensor->elements.get()));
    const auto bytes = *WriteNpy(*tensor);
    return {bytes.begin(), bytes.end()};
  }
  void WriteCase(const std::string& name, const std::string& model, const std::string& input, const std::string& output) const {
    Write(name + "/model.onnx", model);
    Write(name + "/test_data_set_0/input_0.pb", input);
    Write(name + "/test_data_set_0/output_0.pb", output);
  }

 private:
  std::string folder_;
  std::ostringstream out_, err_;
};

TEST_F(Commands, TestCountsWhatPassedFailedAndIsNotBuilt) {
  Builder unknown;
  unknown.Input("x", {2}).Output("y");
  unknown.Node("NoSuchOperator", {"x"}, {"y"});
  WriteCase("all/a_right", Doubles(), Pb({1, 2}, {1, 2}), Pb({1, 2}, {2, 4}));
  WriteCase("all/deep/b_wrong", Doubles(), Pb({1, 2}, {1, 2}), Pb({1, 2}, {2, 5}));
  WriteCase("all/c_unknown", unknown.Bytes(), Pb({2}, {1, 2}), Pb({2}, {1, 2}));
  WriteCase("all/d_torn", Doubles(), "torn", Pb({1, 2}, {2, 4}));
  WriteCase("all/e_no_output", Doubles(), Pb({1, 2}, {1, 2}), "");
  fs::remove(Path("all/e_no_output/test_data_set_0/output_0.pb"));
  EXPECT_EQ(Run({"test", Path("all")}), kFailed);
  EXPECT_THAT(out(), HasSubstr("FAIL b_wrong: output `y`: element [0, 1] is 4, expected 5; 1 of 2 differ\n"));
  EXPECT_THAT(out(), HasSubstr("unsupported c_unknown: node `n` (NoSuchOperator): operator `NoSuchOperator` of ai.onnx, opset 17,"));
  EXPECT_THAT(out(), HasSubstr("FAIL d_torn: "));
  EXPECT_THAT(out(), HasSubstr("FAIL e_no_output: the model has 1 outputs, the data set 0\n"));
  EXPECT_THAT(out(), ::testing::EndsWith("\n1 passed, 3 failed, 1 unsupported\n"));
  EXPECT_EQ(Run({"test", "--filter=right", "--verbose", "--", Path("all")}), kFine);
  EXPECT_EQ(out(), "ok a_right\n1 passed, 0 failed, 0 unsupported\n");
  EXPECT_EQ(Run({"test", Path("none")}), kFailed);
  EXPECT_THAT(err(), HasSubstr("is no folder"));
}

TEST_F(Commands, TestRunsEveryDataSet) {
  WriteCase("c", Doubles(), Pb({1, 2}, {1, 2}), Pb({1, 2}, {2, 4}));
  Write("c/test_data_set_1/input_0.pb", Pb({3, 2}, {1, 2, 3, 4, 5, 6}));
  Write("c/test_data_set_1/output_0.pb", Pb({3, 2}, {2, 4, 6, 8, 10, 0}));
  EXPECT_EQ(Run({"test", Path("c/")}), kFailed);
  EXPECT_THAT(out(), StartsWith("FAIL c: test_data_set_1: output `y`: element [2, 1] is 12, expected 0"));
}

TEST_F(Commands, TestTakesTheTensorThatZipMapGivesForMaps) {
  Builder b;
  onnx::pb::OperatorSetIdProto& set = *b.model().add_opset_import();
  set.set_domain("ai.onnx.ml");
  set.set_version(3);
  b.Input("x", {"n", 2}).Output("maps");
  onnx::pb::NodeProto& zip = b.Node("ZipMap", {"x"}, {"maps"});
  zip.set_domain("ai.onnx.ml");
  Builder::Ints(zip, "classlabels_int64s", {4, 7});
  b.graph.mutable_output(0)->mutable_type()->mutable_sequence_type()->mutable_elem_type()->mutable_map_type();
  WriteCase("zip/a_tensor", b.Bytes(), Pb({1, 2}, {1, 2}), Pb({1, 2}, {1, 2}));
  WriteCase("zip/b_maps", b.Bytes(), Pb({1, 2}, {1, 2}), std::string("\x10\x04\x32\x02\x10\x07", 6));
  EXPECT_EQ(Run({"test", "--verbose", "--", Path("zip")}), kFine);
  EXPECT_THAT(out(), StartsWith("ok a_tensor\nunsupported b_maps: "));
  EXPECT_THAT(out(), HasSubstr("a sequence of maps is not supported; a tensor with a column for each key is\n"));
}

TEST_F(Commands, RunTakesTensorsFromFilesOfEachKind) {
  Write("x.onnx", Doubles());
  Write("a.npy", Npy({2, 2}, {1, 2, 3, 4}));
  Write("a.pb", Pb({2, 2}, {1, 2, 3, 4}));
  Write("a.json", R"({"x": [[1, 2], [3, 4]]})");
  Write("bare.json", "[[1, 2], [3, 4]]");
  for (const char* given : {"a.npy", "a.pb", "a.json", "bare.json"}) {
    EXPECT_EQ(Run({"run", Path("x.onnx"), Path(given)}), kFine) << err();
    EXPECT_EQ(out(), "{\"y\": [[2, 4], [6, 8]]}\n") << given;
  }
  EXPECT_EQ(Run({"run", Path("x.onnx"), "x=" + Path("bare.json")}), kFine) << err();
  EXPECT_EQ(Run({"run", Path("x.onnx"), "x=" + Path("a.json")}), kFine) << err();
  EXPECT_EQ(Run({"run", "--output=" + Path("out"), "--", Path("x.onnx"), Path("a.npy")}), kFine) << err();
  EXPECT_EQ(ReadText("out/y.npy"), Npy({2, 2}, {2, 4, 6, 8}));
}

TEST_F(Commands, RunTellsWhichInputIsWrong) {
  Write("x.onnx", Doubles());
  Write("a.npy", Npy({2, 3}, {1, 2, 3, 4, 5, 6}));
  Write("a.json", R"({"z": [[1, 2]]})");
  const auto error_of = [&](const std::vector<std::string>& arguments) {
    EXPECT_EQ(Run(arguments), kFailed);
    EXPECT_EQ(out(), "");
    return err();
  };
  EXPECT_THAT(error_of({"run", Path("x.onnx")}), HasSubstr("no file is given for the input `x: f32[n, 2]`"));
  EXPECT_THAT(error_of({"run", Path("x.onnx"), Path("a.npy")}), HasSubstr("input `x`: axis 1 is 3, wanted 2"));
  EXPECT_THAT(error_of({"run", Path("x.onnx"), Path("a.npy"), Path("a.npy")}), HasSubstr("every input has a file already"));
  EXPECT_THAT(error_of({"run", Path("x.onnx"), Path("a.json")}), HasSubstr("no input is called `z`"));
  EXPECT_THAT(error_of({"run", Path("x.onnx"), "q=" + Path("a.npy")}), HasSubstr("no input is called `q`"));
  EXPECT_THAT(error_of({"run", Path("x.onnx"), Path("a.txt")}), HasSubstr(".npy, .pb or .json"));
  EXPECT_THAT(error_of({"run", Path("x.onnx"), Path("none.npy")}), HasSubstr("none.npy"));
  EXPECT_THAT(error_of({"run", Path("none.onnx")}), HasSubstr("none.onnx"));
  for (const std::string& out : {Path("a.npy"), std::string("/dev/full")})
    EXPECT_THAT(error_of({"run", "--random=1", "--output=" + out, "--", Path("x.onnx")}), HasSubstr("`" + out + "` is no folder"));
}

TEST_F(Commands, NamesOfOutputsLeaveNoFolder) {
  Builder builder;
  builder.Input("x", {2}).Output("../../y").Output(".hidden").Output("a/b").Output("a b");
  for (const char* name : {"../../y", ".hidden", "a/b", "a b"}) builder.Node("Relu", {"x"}, {name});
  Write("x.onnx", builder.Bytes());
  ASSERT_EQ(Run({"run", "--random=1", "--output=" + Path("out"), "--", Path("x.onnx")}), kFine) << err();
  std::vector<std::string> names;
  for (const auto& each : fs::directory_iterator(Path("out"))) names.push_back(each.path().filename());
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("_.._.._y.npy", "_.hidden.npy", "a_b.npy", "a_b_.npy"));
}

TEST_F(Commands, MadeUpInputsAreTheSameForTheSameSeed) {
  Write("x.onnx", Doubles());
  const auto answer = [&](const std::string& seed) {
    EXPECT_EQ(Run({"run", "--random=" + seed, "--batch=2", "--", Path("x.onnx")}), kFine) << err();
    return out();
  };
  EXPECT_EQ(answer("7"), answer("7"));
  EXPECT_NE(answer("7"), answer("8"));
}

TEST_F(Commands, MadeUpIndicesFitTheirAxis) {
  Builder builder;
  builder.Input("at", {4}, onnx::pb::INT64).Output("y");
  builder.Floats("table", {2, 3}, 6);
  builder.Node("Gather", {"table", "at"}, {"y"});
  Write("x.onnx", builder.Bytes());
  EXPECT_EQ(Run({"run", "--random=1", "--", Path("x.onnx")}), kFine) << err();
}

TEST_F(Commands, ARunTakesAndGivesStrings) {
  Builder builder(20);
  builder.Input("x", {2}, onnx::pb::STRING).Output("y", {2}, onnx::pb::STRING);
  builder.Tensor("end", {1}, onnx::pb::STRING).add_string_data("!\"");
  builder.Node("StringConcat", {"x", "end"}, {"y"});
  Write("x.onnx", builder.Bytes());
  Write("x.json", R"({"x": ["a\u00e9", ""]})");
  ASSERT_EQ(Run({"run", "--", Path("x.onnx"), Path("x.json")}), kFine) << err();
  EXPECT_EQ(out(), "{\"y\": [\"a\u00e9!\\\"\", \"!\\\"\"]}\n");
  onnx::pb::TensorProto tensor;
  tensor.set_data_type(onnx::pb::STRING);
  tensor.add_dims(2);
  for (const char* text : {"b", "c"}) tensor.add_string_data(text);
  Write("x.pb", tensor.SerializeAsString());
  ASSERT_EQ(Run({"run", "--", Path("x.onnx"), Path("x.pb")}), kFine) << err();
  EXPECT_EQ(out(), "{\"y\": [\"b!\\\"\", \"c!\\\"\"]}\n");
  EXPECT_EQ(Run({"run", "--random=1", "--", Path("x.onnx")}), kFine) << err();
  Write("x.json", R"({"x": ["a", 1]})");
  EXPECT_EQ(Run({"run", "--", Path("x.onnx"), Path("x.json")}), kFailed);
  EXPECT_THAT(err(), HasSubstr("element [1] is no string"));
  ASSERT_EQ(Run({"run", "--output=" + Path("out"), "--", Path("x.onnx"), Path("x.pb")}), kFine) << err();
  ASSERT_EQ(Run({"run", "--", Path("x.onnx"), Path("out/y.npy")}), kFine) << err();
  EXPECT_EQ(out(), "{\"y\": [\"b!\\\"!\\\"\", \"c!\\\"!\\\"\"]}\n");
}

TEST_F(Commands, ARunTakesAndGivesWhatIsOnlyStored) {
  Builder builder(21);
  builder.Input("x", {3}, onnx::pb::INT4).Output("y", {3}, onnx::pb::INT4).Output("z", {3}, onnx::pb::FLOAT8E5M2);
  builder.Node("Identity", {"x"}, {"y"});
  Builder::Int(builder.Node("Cast", {"x"}, {"z"}), "to", onnx::pb::FLOAT8E5M2);
  Write("x.onnx", builder.Bytes());
  onnx::pb::TensorProto tensor;
  tensor.set_data_type(onnx::pb::INT4);
  tensor.add_dims(3);
  tensor.set_raw_data("\x7f\x08");
  Write("x.pb", tensor.SerializeAsString());
  ASSERT_EQ(Run({"run", "--", Path("x.onnx"), Path("x.pb")}), kFine) << err();
  EXPECT_EQ(out(), "{\"y\": [-1, 7, -8],\n \"z\": [-1, 7, -8]}\n");
  ASSERT_EQ(Run({"run", "--output=" + Path("out"), "--", Path("x.onnx"), Path("x.pb")}), kFine) << err();
  const std::string npy = ReadText("out/y.npy");
  const auto y = ReadNpy({reinterpret_cast<const uint8_t*>(npy.data()), npy.size()}, "y.npy");
  ASSERT_TRUE(y.ok()) << y.status().message();
  EXPECT_EQ(y->ToString(), "i8[3]");
  EXPECT_EQ(Run({"run", "--random=1", "--", Path("x.onnx")}), kFailed);
  EXPECT_THAT(err(), HasSubstr("no numbers of type i4 are made up"));
  EXPECT_EQ(Run({"inspect", "--", Path("x.onnx")}), kFine) << err();
  EXPECT_THAT(out(),
              HasSubstr("note: no program can give input `x`, which is of i4\nnote: programs do not have output `y`, which is of i4\n"));
}

TEST_F(Commands, NamedAxesGetTheirExtent) {
  Builder builder;
  builder.Input("x", {"n", "width", 3}).Output("y");
  builder.Node("Relu", {"x"}, {"y"});
  Write("x.onnx", builder.Bytes());
  ASSERT_EQ(Run({"inspect", "--format=json", "--dim=width=7", "--batch=2", "--", Path("x.onnx")}), kFine) << err();
  EXPECT_THAT(out(), HasSubstr(R"("run": {"inputs": [{"name": "x", "type": "f32", "shape": [2, 7, 3]}])"));
  EXPECT_EQ(Run({"inspect", "--dim=hight=7", "--", Path("x.onnx")}), kFine);
  EXPECT_THAT(out(), HasSubstr("no axis of an input is called `hight`"));
  EXPECT_EQ(Run({"inspect", "--dim=n=3", "--", Path("x.onnx")}), kFine);
  EXPECT_THAT(out(), HasSubstr("`n` counts the samples of a run; `--batch 3` says how many there are"));
  EXPECT_EQ(Run({"inspect", "--dim=width", "--", Path("x.onnx")}), kUsage);
}

TEST_F(Commands, InspectShowsWhatRunsWhere) {
  Write("x.onnx", Doubles());
  ASSERT_EQ(Run({"inspect", Path("x.onnx")}), kFine) << err();
  EXPECT_THAT(out(), HasSubstr("inputs\n  x: f32[n, 2]\noutputs\n  y: f32[n, 2]\n"));
  EXPECT_THAT(out(), HasSubstr("operators: 1 node\n  Add "));
  EXPECT_THAT(out(), HasSubstr("node `twice` (Add)"));
}

TEST_F(Commands, BenchReportsTimesAndTheOperatorsThatTakeThem) {
  Write("x.onnx", Doubles());
  ASSERT_EQ(
      Run({"bench", "--seconds=0.05", "--threads=2", "--profile", "--format=json", "--trace=" + Path("t.json"), "--", Path("x.onnx")}),
      kFine)
      << err();
  for (const char* member : {"ready_ms", "p50_ms", "p99_ms", "per_second"})
    EXPECT_THAT(out(), HasSubstr(std::string("\"") + member + "\": "));
  EXPECT_THAT(out(), HasSubstr(R"("operators": [{"operator": "Add", "kernel": ")"));
  EXPECT_THAT(ReadText("t.json"), HasSubstr(R"x("node": "node `twice` (Add)")x"));
  EXPECT_EQ(Run({"bench", "--seconds=0.05", "--precision=i8", "--", Path("x.onnx")}), kFailed);
  EXPECT_THAT(err(), HasSubstr("not built yet"));
}

TEST_F(Commands, SeveralThreadsWorkAtARun) {
  Write("x.onnx", Doubles());
  EXPECT_EQ(Run({"bench", "--seconds=0.05", "--run-threads=2", "--", Path("x.onnx")}), kFine) << err();
  EXPECT_THAT(out(), HasSubstr("x.onnx: 1 sample a run, 1 thread of 2 each, "));
  EXPECT_EQ(Run({"bench", "--seconds=0.05", "--run-threads=2", "--format=json", "--", Path("x.onnx")}), kFine) << err();
  EXPECT_THAT(out(), HasSubstr(R"("threads": 1, "run_threads": 2, )"));
}

TEST_F(Commands, PrecisionIsThatOfTheRunWhereTheMachineHasIt) {
  Write("x.onnx", Doubles());
  const int here = kernels::MultipliesBf16() ? kFine : kFailed;
  EXPECT_EQ(Run({"bench", "--seconds=0.05", "--precision=bf16", "--format=json", "--", Path("x.onnx")}), here);
  EXPECT_THAT(here == kFine ? out() : err(), HasSubstr(here == kFine ? R"("precision": "bf16")" : "no instructions for bf16"));
  EXPECT_EQ(Run({"compare", "--precision=bf16", "--", Path("x.onnx")}), here) << err();
  EXPECT_EQ(Run({"compare", "--", Path("x.onnx")}), kUsage);
  EXPECT_THAT(err(), HasSubstr("or one and `--precision=bf16`"));
}

TEST_F(Commands, CompareToleratesWhatItIsTold) {
  const auto scaled = [](float by) {
    Builder builder;
    builder.Input("x", {"n", 2}).Output("out");
    Builder::SetFloats(builder.Tensor("by", {1}, onnx::pb::FLOAT), {by});
    builder.Node("Mul", {"x", "by"}, {"out"});
    return builder.Bytes();
  };
  Write("a.onnx", Doubles());
  Write("b.onnx", scaled(2.01F));
  Write("c.onnx", scaled(2));
  EXPECT_EQ(Run({"compare", Path("a.onnx"), Path("c.onnx")}), kFine) << out() << err();
  EXPECT_THAT(out(), StartsWith("ok   y: largest difference 0, relative 0; 0 of 8 elements"));
  EXPECT_EQ(Run({"compare", Path("a.onnx"), Path("b.onnx")}), kFailed);
  EXPECT_THAT(out(), StartsWith("FAIL y: "));
  EXPECT_EQ(Run({"compare", "--tolerance=0.01", "--format=json", "--", Path("a.onnx"), Path("b.onnx")}), kFine) << out();
  EXPECT_THAT(out(), HasSubstr(R"("output": "y", "agrees": true, "max_absolute": )"));
}

TEST_F(Commands, CompareRefusesModelsThatTakeDifferentInputs) {
  Builder other;
  other.Input("x", {"n", 2}, onnx::pb::INT64).Output("y");
  other.Node("Add", {"x", "x"}, {"y"});
  Write("a.onnx", Doubles());
  Write("b.onnx", other.Bytes());
  EXPECT_EQ(Run({"compare", Path("a.onnx"), Path("b.onnx")}), kFailed);
  EXPECT_THAT(err(), HasSubstr("input 0 is `x: f32[n, 2]`"));
}

}  // namespace
}  // namespace wf::workbench
