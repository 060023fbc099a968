#pragma once

#include "runtime/protocol/oip/fields.h"
#include "runtime/protocol/oip/question_body.h"
#include "runtime/server/workflow_site.h"

namespace wf::server {

// What both dialects of the Open Inference Protocol ask besides `infer`.

// The workflow and version that exchange.oip names, else a refusal. Afterwards no part of the route is a view of a path or message.
bool FindModel(const WorkflowSite& site, Exchange& exchange);

// Writes the answer to exchange.oip.call, any but kInfer and kNone; the failure, if any, is recorded in `scratch`.
// REQUIRES: FindModel was called where a model is named.
wf_code PutAnswer(const WorkflowSite& site, const Exchange& exchange, wf_ctx* scratch, oip::QuestionBody body, oip::Fields& fields);

}  // namespace wf::server
