#pragma once

#include <cstddef>
#include <optional>
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
    std::string inside;              // id of the task that enters the block that it stands in; empty: none
    bool begins = false;             // it reads nothing of that block
    std::vector<std::string> marks;  // "control", "blocking", "compute"
  };
  // What a running server took, since it started.
  struct Measured {
    std::string what;  // "compute", "queue"
    double seconds;    // the mean
    uint64_t count;
    std::vector<std::string> of;  // the workflows, as they are served, that it is of together; empty: of the one that it stands in
  };
  // A call of a model, of those in a node whose settings differ.
  struct Call {
    std::string model;
    std::vector<std::pair<std::string, std::string>> settings;  // in force for it, beside those of the node
    bool operator==(const Call&) const = default;
  };
  struct Node {
    std::string name, path;
    uint32_t line = 0;
    std::vector<std::string> reads;                             // names of nodes, of workflows called on the way too
    std::vector<std::string> after;                             // names of controls that decide whether it runs
    std::vector<std::string> inside;                            // the blocks that it stands in: "if line 3", "else line 9"
    std::vector<std::string> models;                            // that it calls
    std::vector<std::pair<std::string, std::string>> settings;  // in force: {"batch", "32 within 2ms"}; the same for all its calls
    std::vector<Call> calls;                                    // none where that is all
    std::vector<Measured> measured;
    bool fallback = false;
    std::vector<Task> tasks;
  };
  // Where a workflow may end early or takes a way: a `require`, an `if` that is a statement, the check of the parameters.
  struct Control {
    std::string name;  // "require line 4"; of workflows called on the way, "texts/Recognise/if line 7"
    uint32_t line = 0;
    std::vector<std::string> reads, after, inside;  // as those of nodes
  };
  struct Stage {
    std::string name, path;  // path: of the workflow that has it, as metrics say it
    bool written = false;
    std::vector<Node> nodes;
    std::vector<std::string> after;  // stages whose nodes its nodes read
    std::vector<std::string> waits;  // those that decide whether its nodes run, beside them
    std::vector<Measured> measured;
  };
  struct Workflow {
    std::string service, name, path;  // path: where those of its nodes begin; the same for all that serve one workflow
    bool is_default = false;
    std::vector<Port> in, out;
    std::vector<std::pair<std::string, std::string>> settings;
    std::vector<Measured> measured;
    std::vector<Stage> stages;  // a nameless one holds what belongs to no stage
    std::vector<Control> controls;
    std::vector<Task> own_tasks;  // checks, branches and the return
  };
  std::string source;
  std::vector<Workflow> workflows;
};

Graph GraphOf(const ir::Program& program);

std::string Spelling(const Graph::Workflow& workflow);            // "Digits/Classify"; of a program without a service, "Classify"
std::string Spelling(const Graph::Port& port);                    // "times: i64 = 1"
std::string Spelling(const Graph::Call& call);                    // "Detect: batch 8 within 1ms · queue 64"
std::string Spelling(const Graph::Measured& measured);            // "compute 12.3 us x 1000"
std::vector<std::string> LinesOf(const Graph::Node& node);        // what a box shows of it, its name first
std::vector<std::string> LinesOf(const Graph::Control& control);  // likewise
std::string GraphText(const Graph& graph, Level level);
std::string GraphDot(const Graph& graph, Level level);
std::string GraphMermaid(const Graph& graph, Level level);
std::string GraphJson(const Graph& graph, Level level);  // one object, one line

constexpr size_t kMostSteps = 100'000;                                 // that are drawn, as Steps counts them
std::optional<std::string> GraphSvg(const Graph& graph, Level level);  // a drawing that needs no other file; none where there are more

}  // namespace wf::driver
