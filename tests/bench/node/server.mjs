// server.mjs MODEL PORT: what one writes to serve a model with Node. JSON with `x`, four numbers, is answered with the model's `y`.
import { createServer } from "node:http";
import { InferenceSession, Tensor } from "onnxruntime-node";

const session = await InferenceSession.create(process.argv[2], { intraOpNumThreads: 1, interOpNumThreads: 1 });

async function answer(text) {
  const x = new Tensor("float32", Float32Array.from(JSON.parse(text).x), [1, 4]);
  const { y } = await session.run({ x });
  return JSON.stringify({ y: Array.from(y.data) });
}

createServer((request, reply) => {
  let text = "";
  request.setEncoding("utf8");
  request.on("data", (part) => (text += part));
  request.on("end", async () => {
    const body = await answer(text);
    reply.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
    reply.end(body);
  });
}).listen(Number(process.argv[3]), "127.0.0.1");
