#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/driver/options.h"
#include "compiler/ir/ir.h"

namespace wf::driver {

// What `wfc graph` and the note of a server show of a program: names instead of numbers, effective values instead of tables.
struct Graph {
  struct Port {
    std::string name, type, default_value;  // default_value: empty without one
    bool required = true;
  };
  struct Task {
    std::string id, kind, what;      // "t3", "model", the model's name or the result's
    std::vector<std::string> reads;  // ids of tasks
    std::vector<std::string> marks;  // "control", "blocking", "compute"
  };
  struct Node {
    std::string name, path;
    uint32_t line = 0;
    std::vector<std::string> reads;                             // names of nodes, of workflows called on the way too
    std::vector<std::string> models;                            // that it calls
    std::vector<std::pair<std::string, std::string>> settings;  // in force: {"batch", "32 within 2ms"}
    bool fallback = false;
    std::vector<Task> tasks;
  };
  struct Stage {
    std::string name;
    bool written = false;
    std::vector<Node> nodes;
    std::vector<std::string> after;  // stages whose nodes its nodes read
  };
  struct Workflow {
    std::string service, name;
    bool is_default = false;
    std::vector<Port> in, out;
    std::vector<std::pair<std::string, std::string>> settings;
    std::vector<Stage> stages;    // a nameless one holds what belongs to no stage
    std::vector<Task> own_tasks;  // checks, branches and the return
  };
  std::string source;
  std::vector<Workflow> workflows;
};

Graph GraphOf(const ir::Program& program);

std::string GraphText(const Graph& graph, Level level);
std::string GraphDot(const Graph& graph, Level level);
std::string GraphMermaid(const Graph& graph, Level level);
std::string GraphSvg(const Graph& graph, Level level);   // a drawing that needs no other file
std::string GraphJson(const Graph& graph, Level level);  // one object, one line

}  // namespace wf::driver
