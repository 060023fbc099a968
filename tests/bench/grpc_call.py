"""A call of gRPC as bytes: ModelInfer of the Open Inference Protocol with one text, answered by ours and by Google's server alike."""
import struct

PATH = "/inference.GRPCInferenceService/ModelInfer"
HEADERS = ("te: trailers", "content-type: application/grpc")


def field(number, content):
    """A field of bytes, short enough for a length of one byte."""
    assert number < 16 and len(content) < 128
    return bytes([number << 3 | 2, len(content)]) + content


def infer(model, name, text):
    contents = field(8, text)
    message = field(1, model) + field(5, field(1, name) + field(2, b"BYTES") + field(3, b"\x01") + field(5, contents))
    return struct.pack(">BI", 0, len(message)) + message
