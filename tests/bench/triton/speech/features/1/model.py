"""A recording as how loud bands of frequencies are, every hundredth of a second."""
import io

import librosa
import numpy as np
import soundfile
import triton_python_backend_utils as triton

RATE, FFT, HOP, BANDS, LONGEST = 8000, 256, 80, 40, 30


def prepared(recording):
    try:
        samples, rate = soundfile.read(io.BytesIO(recording), dtype="float32", always_2d=True)
    except soundfile.LibsndfileError as error:
        raise ValueError("the body is no WAV or FLAC file") from error
    seconds = len(samples) / rate
    if not 0.1 <= seconds <= LONGEST:
        raise ValueError("the recording is too short or too long")
    x = librosa.resample(samples.mean(1), orig_sr=rate, target_sr=RATE, res_type="polyphase")
    loud = librosa.feature.melspectrogram(y=x, sr=RATE, n_fft=FFT, hop_length=HOP, n_mels=BANDS)
    level = np.log(np.maximum(loud, 1e-10))
    level = (level - level.mean(1, keepdims=True)) / np.sqrt(level.var(1, keepdims=True) + 1e-5)
    return level[None].astype(np.float32), np.array([seconds])


class TritonPythonModel:
    def execute(self, requests):
        responses = []
        for request in requests:
            try:
                loud, seconds = prepared(triton.get_input_tensor_by_name(request, "recording").as_numpy().tobytes())
                responses.append(triton.InferenceResponse([triton.Tensor("loud", loud), triton.Tensor("seconds", seconds)]))
            except ValueError as error:
                responses.append(triton.InferenceResponse(error=triton.TritonError(str(error))))
        return responses
