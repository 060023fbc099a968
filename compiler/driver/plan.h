#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/driver/graph.h"
#include "compiler/interface/interface.h"
#include "compiler/ir/policy_text.h"
#include "compiler/sema/typed.h"

namespace wf::driver {

// What `wfc plan` shows: what a build makes of a program, and what a server will hold, as far as it is known before there is one.
struct Plan {
  struct Endpoint {
    std::string call, route;         // "Service/call", "/Service/call"
    std::string raw_body;            // the parameter that the body may be
    std::vector<std::string> names;  // of the Open Inference Protocol
  };
  struct Workflow {
    std::string call;
    size_t stages = 0, nodes = 0, tasks = 0;
    uint32_t frame_bytes = 0;  // with which each request starts
  };
  struct Batcher {
    std::string model;
    ir::Settings settings;                               // in force, of all its nodes
    std::vector<std::pair<std::string, int64_t>> nodes;  // path of each that shares it, and how long its rows wait for others
    uint32_t instances = 1;
    uint64_t rows = 1;
    std::optional<uint64_t> row_bytes;  // of inputs; nothing: requests decide
  };
  struct Version {
    int64_t number = 0;
    std::string file;
    uint64_t file_bytes = 0, weight_bytes = 0;  // weight_bytes: in memory
  };
  struct Model {
    std::string name, path;         // as the program says
    std::vector<Version> versions;  // that a server would load now, newest first
    std::string missing;            // why there are none: it is looked at when the server starts
  };
  struct Extern {
    std::string name, source;  // source: the C++ file
    bool is_node = false;
  };
  Graph graph;
  std::vector<Endpoint> endpoints;
  std::vector<Workflow> workflows;
  std::vector<Batcher> batchers;
  std::vector<Model> models;
  std::vector<Extern> externs;
};

// `folder`: of the program, with its slash; paths of models start there.
Plan PlanOf(const sema::Program& checked, const ir::Program& program, const interface::Interface& interface, const std::string& folder);

std::string PlanText(const Plan& plan);
std::string PlanJson(const Plan& plan);  // one object, one line

}  // namespace wf::driver
