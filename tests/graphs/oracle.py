"""What ONNX Runtime answers: nodes alone, each by its own session, and whole models. Nothing is optimised there, so that each node computes what it says."""
import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

DOMAINS = {"com.microsoft": 1, "ai.onnx.ml": 3}
IR_VERSION = 10


class Refused(Exception):
    """ONNX Runtime does not take it, or the standard does not say what it computes."""


def type_of(array):
    return helper.np_dtype_to_tensor_dtype(array.dtype)


def described(name, array, shape=None):
    return helper.make_tensor_value_info(name, type_of(array), array.shape if shape is None else shape)


def model_of(nodes, inputs, outputs, constants, opset):
    """`inputs` are described, `outputs` names or described, `constants` {name: array}."""
    outputs = [helper.make_empty_tensor_value_info(each) if isinstance(each, str) else each for each in outputs]
    graph = helper.make_graph(nodes, "g", inputs, outputs, [numpy_helper.from_array(array, name) for name, array in constants.items()])
    imports = [helper.make_opsetid("", opset)] + [helper.make_opsetid(domain, DOMAINS[domain]) for domain in sorted({node.domain for node in nodes} - {""})]
    return helper.make_model(graph, opset_imports=imports, ir_version=IR_VERSION)


class Session:
    def __init__(self, model):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        try:
            self.session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # its own kinds, which are no subclasses of one
            raise Refused(str(error)) from None

    def run(self, feeds):
        try:
            own = {name: array.copy() for name, array in feeds.items()}  # BatchNormalization that trains writes over its inputs
            return [np.asarray(array) for array in self.session.run(None, own)]
        except Exception as error:
            raise Refused(str(error)) from None


def session_of(nodes, values, wanted, opset):
    """A session for nodes whose inputs are `values` {name: (array, whether it is constant)}."""
    inputs = [described(name, array) for name, (array, constant) in values.items() if not constant]
    constants = {name: array for name, (array, constant) in values.items() if constant}
    return Session(model_of(nodes, inputs, wanted, constants, opset))
