// What a server says of itself, in both dialects: JSON as it is written, messages as protobuf's own code reads them.
#include "runtime/protocol/oip/metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "runtime/protocol/oip/open_inference_grpc.pb.h"
#include "runtime/protocol/oip/question_body.h"
#include "runtime/protocol/oip/settings.h"
#include "tests/unit/runtime/protocol/fake_job.h"
#include "tests/unit/runtime/protocol/oip/scratch.h"
#include "tests/unit/runtime/protocol/oip/types_plan.h"

namespace wf::oip {
namespace {

using testing::ElementsAre;

std::string Text(wf_sink& sink) {
  std::string text;
  for (const base::SinkPiece& piece : sink.Pieces()) text.append(reinterpret_cast<const char*>(piece.data), piece.bytes);
  return text;
}

template <typename Put>
std::string Json(Put&& put, bool bare = false) {
  wf_sink out;
  {
    JsonFields fields(&out, bare);
    put(fields);
  }
  return Text(out);
}

template <typename Message, typename Put>
Message Parsed(Put&& put) {
  wf_sink out;
  MessageFields fields(&out);
  put(fields);
  Message message;
  EXPECT_TRUE(message.ParseFromString(Text(out)));
  EXPECT_TRUE(message.GetReflection()->GetUnknownFields(message).empty());
  return message;
}

constexpr int64_t kVersions[] = {3, 12};
ModelFacts All() { return {"Types.All", &test::TypesPlan().workflows[0], kVersions, true}; }

// And inputs without axes of their own have one of extent 1, as in a configuration.
TEST(OipMetadata, ShapesBeginWithTheAxisOfSamples) {
  const auto put = [](Fields& fields) { PutModelMetadata(fields, test::TypesPlan(), All()); };
  const std::string text = Json(put);
  EXPECT_TRUE(text.starts_with(
      R"({"name":"Types.All","versions":["3","12"],"platform":"wf","inputs":[{"name":"yes","datatype":"BOOL","shape":[-1,1]})"))
      << text;
  for (const char* part :
       {R"({"name":"words","datatype":"BYTES","shape":[-1,-1]})", R"({"name":"numbers","datatype":"FP32","shape":[-1,-1]})",
        R"({"name":"matrix","datatype":"FP32","shape":[-1,2,-1]})", R"({"name":"point","datatype":"BYTES","shape":[-1,1]})"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
  const size_t outputs = text.find("\"outputs\"");
  EXPECT_LT(text.find(R"({"name":"maybe","datatype":"INT64","shape":[-1,1]})"), outputs);
  EXPECT_NE(text.find(R"({"name":"maybe","datatype":"BYTES","shape":[-1]})", outputs), std::string::npos);

  const auto message = Parsed<inference::ModelMetadataResponse>(put);
  EXPECT_EQ(message.name(), "Types.All");
  EXPECT_EQ(message.platform(), "wf");
  EXPECT_THAT(message.versions(), ElementsAre("3", "12"));
  ASSERT_EQ(message.inputs_size(), test::TypesPlan().workflows[0].n_in);
  EXPECT_EQ(message.inputs(16).name(), "matrix");
  EXPECT_EQ(message.inputs(16).datatype(), "FP32");
  EXPECT_THAT(message.inputs(16).shape(), ElementsAre(-1, 2, -1));
  EXPECT_EQ(message.outputs(20).datatype(), "BYTES");
}

TEST(OipMetadata, AConfigurationHasTheDimsOfOneSample) {
  const auto put = [](Fields& fields) { PutModelConfig(fields, test::TypesPlan(), All()); };
  const std::string text = Json(put);
  EXPECT_TRUE(text.starts_with(
      R"({"name":"Types.All","platform":"wf","backend":"wf","version_policy":{"specific":{"versions":[3,12]}},"max_batch_size":8,"input":[)"
      R"({"name":"yes","data_type":"TYPE_BOOL","dims":[1],"reshape":{"shape":[]},"optional":true})"))
      << text;
  EXPECT_NE(text.find(R"({"name":"matrix","data_type":"TYPE_FP32","dims":[2,-1],"optional":true})"), std::string::npos) << text;

  const auto config = Parsed<inference::ModelConfig>(put);
  EXPECT_EQ(config.backend(), "wf");
  EXPECT_EQ(config.max_batch_size(), 8);
  EXPECT_THAT(config.version_policy().specific().versions(), ElementsAre(3, 12));
  EXPECT_EQ(config.input(11).data_type(), inference::TYPE_STRING);
  EXPECT_TRUE(config.input(0).has_reshape());
  EXPECT_THAT(config.input(16).dims(), ElementsAre(2, -1));
  EXPECT_FALSE(config.input(16).has_reshape());
  EXPECT_THAT(config.output(16).dims(), ElementsAre(2, -1));
  constexpr inference::DataType kScalars[] = {inference::TYPE_BOOL,   inference::TYPE_INT8,  inference::TYPE_INT16,  inference::TYPE_INT32,
                                              inference::TYPE_INT64,  inference::TYPE_UINT8, inference::TYPE_UINT16, inference::TYPE_UINT32,
                                              inference::TYPE_UINT64, inference::TYPE_FP32,  inference::TYPE_FP64};
  for (int i = 0; i < 11; ++i) EXPECT_EQ(config.output(i).data_type(), kScalars[i]) << i;
}

TEST(OipMetadata, TheServerSaysWhatItIs) {
  EXPECT_EQ(Json(PutServerMetadata), R"({"name":"wf","version":")" WF_VERSION R"(","extensions":["binary_tensor_data","classification",)"
                                     R"("logging","model_configuration","model_repository","parameters","statistics","trace"]})");
  const auto message = Parsed<inference::ServerMetadataResponse>(PutServerMetadata);
  EXPECT_EQ(message.version(), WF_VERSION);
  EXPECT_EQ(message.extensions_size(), 8);
  const auto ready = [](Fields& fields) { PutModelReady(fields, "M", true); };
  EXPECT_EQ(Json(ready), R"({"name":"M","ready":true})");
  EXPECT_TRUE(Parsed<inference::ModelReadyResponse>(ready).ready());
}

TEST(OipMetadata, StatisticsAreCountsAndTimes) {
  const Statistics counted = {
      1'700'000'000'000, 640, {10, 5000}, {2, 300}, 77, 4500, {{1, {6, 30, 3000, 20}}, {100, {2.9999999, 300, 900, 200}}},
      {0.5, 3, 100, 2}};
  const auto put = [&counted](Fields& fields) {
    fields.BeginList({"model_stats", 1});
    PutStatistics(fields, "M", 1, counted);
    fields.EndList();
  };
  EXPECT_EQ(Json(put),
            R"({"model_stats":[{"name":"M","version":"1","last_inference":1700000000000,"inference_count":640,"execution_count":9,)"
            R"("inference_stats":{"success":{"count":10,"ns":5000},"fail":{"count":2,"ns":300},"queue":{"count":10,"ns":77},)"
            R"("compute_input":{"count":10,"ns":333},"compute_infer":{"count":10,"ns":4500},"compute_output":{"count":10,"ns":222},)"
            R"("cache_hit":{"count":0,"ns":0},"cache_miss":{"count":0,"ns":0}},)"
            R"("batch_stats":[{"batch_size":1,"compute_input":{"count":6,"ns":30},"compute_infer":{"count":6,"ns":3000},)"
            R"("compute_output":{"count":6,"ns":20}},{"batch_size":100,"compute_input":{"count":3,"ns":300},)"
            R"("compute_infer":{"count":3,"ns":900},"compute_output":{"count":3,"ns":200}}]}]})");
  const auto message = Parsed<inference::ModelStatisticsResponse>(put);
  ASSERT_EQ(message.model_stats_size(), 1);
  EXPECT_EQ(message.model_stats(0).last_inference(), 1'700'000'000'000U);
  EXPECT_EQ(message.model_stats(0).inference_stats().fail().ns(), 300U);
  EXPECT_EQ(message.model_stats(0).inference_stats().compute_infer().count(), 10U);
  ASSERT_EQ(message.model_stats(0).batch_stats_size(), 2);
  EXPECT_EQ(message.model_stats(0).batch_stats(1).batch_size(), 100U);
  EXPECT_EQ(message.model_stats(0).batch_stats(1).compute_output().ns(), 200U);
}

TEST(OipMetadata, TheIndexHasALineForEachVersion) {
  const auto put = [](Fields& fields) {
    fields.BeginList({"models", 1});
    PutIndex(fields, All());
    fields.EndList();
  };
  EXPECT_EQ(Json(put, true), R"([{"name":"Types.All","version":"3","state":"READY","reason":""},)"
                             R"({"name":"Types.All","version":"12","state":"READY","reason":""}])");
  const auto message = Parsed<inference::RepositoryIndexResponse>(put);
  ASSERT_EQ(message.models_size(), 2);
  EXPECT_EQ(message.models(1).version(), "12");
  const auto put_none = [](Fields& fields) {
    fields.BeginList({"models", 1});
    fields.EndList();
  };
  EXPECT_EQ(Json(put_none, true), "[]");
}

TEST(OipSettings, AreReadInBothDialects) {
  Setting rows[6];
  const std::span<const Setting> log = LogSettings({true, false, false}, rows);
  EXPECT_EQ(Json([log](Fields& fields) { PutSettings(fields, log); }),
            R"({"log_file":"","log_info":false,"log_warning":true,"log_error":true,"log_verbose_level":0,"log_format":"json"})");
  const auto message = Parsed<inference::LogSettingsResponse>([log](Fields& fields) { PutSettings(fields, log); });
  EXPECT_EQ(message.settings_size(), 6);
  EXPECT_TRUE(message.settings().at("log_warning").bool_param());
  EXPECT_EQ(message.settings().at("log_info").parameter_choice_case(), inference::LogSettingsResponse::SettingValue::kBoolParam);
  EXPECT_EQ(message.settings().at("log_verbose_level").uint32_param(), 0U);
  EXPECT_EQ(message.settings().at("log_format").string_param(), "json");
  const auto trace = [](Fields& fields) { PutSettings(fields, TraceSettings()); };
  EXPECT_EQ(Json(trace), R"({"trace_level":["OFF"],"trace_rate":"1000","trace_count":"-1","log_frequency":"0","trace_mode":"triton"})");
  EXPECT_THAT(Parsed<inference::TraceSettingResponse>(trace).settings().at("trace_level").value(), ElementsAre("OFF"));
  EXPECT_THAT(Parsed<inference::TraceSettingResponse>(trace).settings().at("trace_count").value(), ElementsAre("-1"));
}

struct Asked {
  const char* json;
  wf_code code;
};

wf_code Checked(const char* json, std::span<const Setting> settings) {
  test::Scratch scratch(test::TypesPlan());
  const wf_code code = CheckSettings(scratch.ctx(), fake::Body(json).view(), settings);
  return code == 0 ? 0 : scratch.TakeFailure(code).code;
}

template <typename Message>
wf_code CheckedMessage(const Message& message, std::span<const Setting> settings) {
  test::Scratch scratch(test::TypesPlan());
  const wf_code code = CheckSettingsMessage(scratch.ctx(), fake::Bytes(message.SerializeAsString()), settings);
  return code == 0 ? 0 : scratch.TakeFailure(code).code;
}

TEST(OipSettings, MayBeAskedForAsTheyStandByMessages) {
  Setting rows[6];
  const std::span<const Setting> log = LogSettings({true, true, false}, rows);
  inference::LogSettingsRequest asked;
  EXPECT_EQ(CheckedMessage(asked, log), 0);
  (*asked.mutable_settings())["log_info"].set_bool_param(true);
  (*asked.mutable_settings())["log_verbose_level"].set_uint32_param(0);
  (*asked.mutable_settings())["log_format"].set_string_param("json");
  (*asked.mutable_settings())["log_file"];
  EXPECT_EQ(CheckedMessage(asked, log), 0);
  (*asked.mutable_settings())["log_verbose_level"].set_uint32_param(1);
  EXPECT_EQ(CheckedMessage(asked, log), 3000);
  (*asked.mutable_settings())["log_verbose_level"].set_string_param("0");
  EXPECT_EQ(CheckedMessage(asked, log), 5000);
  inference::TraceSettingRequest trace;
  (*trace.mutable_settings())["trace_level"].add_value("OFF");
  EXPECT_EQ(CheckedMessage(trace, TraceSettings()), 0);
  (*trace.mutable_settings())["trace_level"].set_value(0, "TIMESTAMPS");
  EXPECT_EQ(CheckedMessage(trace, TraceSettings()), 3000);
  (*trace.mutable_settings())["trace_level"].clear_value();
  EXPECT_EQ(CheckedMessage(trace, TraceSettings()), 0);
  for (const char* part : {"O", "FF"}) (*trace.mutable_settings())["trace_level"].add_value(part);
  EXPECT_EQ(CheckedMessage(trace, TraceSettings()), 3000);
  (*trace.mutable_settings())["trace_level"].clear_value();
  (*trace.mutable_settings())["trace_rate"].add_value("1000");
  EXPECT_EQ(CheckedMessage(trace, TraceSettings()), 0);
  (*trace.mutable_settings())["trace_rate"].set_value(0, "1");
  EXPECT_EQ(CheckedMessage(trace, TraceSettings()), 3000);
  (*trace.mutable_settings())["trace_rtae"];
  (*trace.mutable_settings())["trace_rate"].clear_value();
  EXPECT_EQ(CheckedMessage(trace, TraceSettings()), 5000);
}

TEST(OipRepository, BodiesSayWhatIsAskedFor) {
  test::Scratch scratch(test::TypesPlan());
  bool ready = false;
  const auto index = [&](const std::string& body, bool is_message) {
    scratch.Reset();
    return ReadIndexRequest(scratch.ctx(), {fake::Body(body).view(), is_message}, &ready);
  };
  EXPECT_TRUE(index("", false) == 0 && !ready);
  EXPECT_TRUE(index(R"({"other":[1],"ready":true})", false) == 0 && ready);
  EXPECT_NE(index(R"({"ready":1})", false), 0);
  inference::RepositoryIndexRequest asked;
  EXPECT_TRUE(index(asked.SerializeAsString(), true) == 0 && !ready);
  asked.set_ready(true);
  asked.set_repository_name("r");
  EXPECT_TRUE(index(asked.SerializeAsString(), true) == 0 && ready);
  EXPECT_NE(index(asked.SerializeAsString().substr(0, 2), true), 0);

  const auto load = [&](const std::string& body, bool is_message) {
    scratch.Reset();
    const wf_code code = CheckLoad(scratch.ctx(), {fake::Body(body).view(), is_message});
    return code == 0 ? 0 : scratch.TakeFailure(code).code;
  };
  EXPECT_EQ(load("", false), 0);
  EXPECT_EQ(load(R"({"parameters":{}})", false), 0);
  EXPECT_EQ(load(R"({"parameters":{"config":"{}"}})", false), 3000);
  EXPECT_EQ(load(R"({"parameters":[]})", false), 5000);
  inference::RepositoryModelLoadRequest wish;
  wish.set_model_name("M");
  EXPECT_EQ(load(wish.SerializeAsString(), true), 0);
  (*wish.mutable_parameters())["config"].set_string_param("{}");
  EXPECT_EQ(load(wish.SerializeAsString(), true), 3000);
}

TEST(OipSettings, MayBeAskedForAsTheyStand) {
  Setting rows[6];
  const std::span<const Setting> log = LogSettings({true, true, false}, rows);
  for (const Asked& row :
       {Asked{"", 0}, Asked{"{}", 0}, Asked{R"({"log_info":true, "log_verbose_level": 0, "log_file":""})", 0},
        Asked{R"({"log_info":false})", 3000}, Asked{R"({"log_file":"/x"})", 3000}, Asked{R"({"log_inof":true})", 5000}, Asked{"[]", 5000},
        Asked{R"({"log_info":)", 5000}, Asked{R"({"log_info":null})", 0}, Asked{R"({"log_info":"true"})", 5000},
        Asked{R"({"log_info":[true]})", 5000}, Asked{R"({"log_verbose_level":"0"})", 5000}, Asked{R"({"log_verbose_level":{}})", 5000},
        Asked{R"({"log_format":7})", 5000}, Asked{R"({"log_inof":null})", 5000}}) {
    EXPECT_EQ(Checked(row.json, log), row.code) << row.json;
  }
  for (const Asked& row :
       {Asked{R"({"trace_level":["OFF"]})", 0}, Asked{R"({"trace_level":[]})", 0}, Asked{R"({"trace_level":null})", 0},
        Asked{R"({"trace_level":["TIMESTAMPS"]})", 3000}, Asked{R"({"trace_level":["OFF","OFF"]})", 3000},
        Asked{R"({"trace_level":"OFF"})", 0}, Asked{R"({"trace_level":[["OFF"]]})", 5000}, Asked{R"({"trace_level":["OFF",1]})", 5000},
        Asked{R"({"trace_level":[null]})", 5000}, Asked{R"({"trace_level":true})", 5000}, Asked{R"({"trace_rate":null})", 0},
        Asked{R"({"trace_rate":"1000","trace_count":["-1"]})", 0}, Asked{R"({"trace_rate":1000})", 5000},
        Asked{R"({"trace_rate":"1"})", 3000}, Asked{R"({"trace_level":["OFF")", 5000}, Asked{R"({"trace_file":"x"})", 5000}}) {
    EXPECT_EQ(Checked(row.json, TraceSettings()), row.code) << row.json;
  }
}

}  // namespace
}  // namespace wf::oip
