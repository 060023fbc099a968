"""What tests of library functions beside a reference in Python share: a server of the program that they write, and calls with raw tensors."""
import harness

import numpy as np
import tritonclient.http as triton
from tritonclient.utils import np_to_triton_dtype


class NativeCase(harness.ServerCase):
    """Its service has the class's name."""
    program = None  # the text, from a function without arguments

    @classmethod
    def setUpClass(cls):
        cls.source = harness.scratch() / f"{cls.__name__.lower()}.wf"
        cls.source.write_text(cls.program())
        super().setUpClass()
        cls.client = triton.InferenceServerClient("%s:%d" % cls.server.addresses["http"], network_timeout=60)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        super().tearDownClass()

    def raw(self, name, outputs, /, **parameters):
        """The results of a call with raw tensors, which may hold what JSON cannot."""
        inputs = []
        for key, value in parameters.items():
            array = np.asarray(value, object) if isinstance(value, bytes) else np.asarray(value)
            inputs.append(triton.InferInput(key, list(array.shape), np_to_triton_dtype(array.dtype)))
            inputs[-1].set_data_from_numpy(np.ascontiguousarray(array).reshape(array.shape))
        result = self.client.infer(f"{type(self).__name__}.{name}", inputs, outputs=[triton.InferRequestedOutput(key) for key in outputs])
        return [result.as_numpy(key) for key in outputs]
