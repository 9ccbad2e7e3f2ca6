#include "trace/python_frame.h"

#include <doctest/doctest.h>

#include <string>

namespace tracedb {

TEST_CASE("whose code a frame is") {
  using enum FrameOrigin;
  for (const char* own :
       {"train.py(12): main", "vllm/model_executor/models/llama.py(374): forward", "/app/xDiT/xfuser/runner.py(3): run",
        "transformers/models/t5/modeling_t5.py(1): forward", "torchvision/models/resnet.py(266): forward",
        "/sgl-workspace/sglang/python/sglang/srt/managers/scheduler.py(9): event_loop",
        "/usr/lib/python3/dist-packages/vllm/worker.py(7): run", "/opt/venv/lib/python3.12/site-packages/x/y.py(1): f",
        "/home/me/python3/train.py(2): go"}) {
    CAPTURE(std::string(own));
    CHECK(frame_origin(own) == kOwn);
  }
  for (const char* library :
       {"torch/nn/modules/module.py(1755): _call_impl", "contextlib.py(79): inner", "<frozen os>(812): fsdecode",
        "multiprocessing/spawn.py(122): spawn_main", "tqdm/_monitor.py(60): run", "triton/runtime/jit.py(5): run",
        "/usr/lib/python3.10/threading.py(973): _bootstrap", "/usr/lib/python3/dist-packages/numpy/core/x.py(1): f",
        "/sgl-workspace/triton-custom/python/triton/runtime/jit.py(4): run",
        "/workspace/pytorch/torch/nn/functional.py(2): linear"}) {
    CAPTURE(std::string(library));
    CHECK(frame_origin(library) == kLibrary);
  }
  for (const char* generated :
       {"<string>(1): <module>", "<eval_with_key>.162(4): forward", "/tmp/torchinductor_root/dn/cdn.py(40): call",
        "/data/cache/vllm/torch_compile_cache/ab/rank_0_0/inductor_cache/cd/efg.py(7): call"}) {
    CAPTURE(std::string(generated));
    CHECK(frame_origin(generated) == kGenerated);
  }
  CHECK(frame_origin("nn.Module: LlamaForCausalLM_0") == kModule);
  CHECK(frame_origin("<built-in method replay of PyCapsule object at 0x7fecdbf584b0>") == kBuiltIn);
  CHECK(frame_origin("") == kBuiltIn);
}

TEST_CASE("frames in short") {
  CHECK(short_frame("vllm/model_executor/models/llama.py(374): forward") == "llama.py:374 forward");
  CHECK(short_frame("json/__init__.py(183): dumps") == "json/__init__.py:183 dumps");
  CHECK(short_frame("/app/pkg/__init__.py(1): f") == "pkg/__init__.py:1 f");
  CHECK(short_frame("train.py(3): <module>") == "train.py:3 <module>");
  CHECK(short_frame("nn.Module: Linear_3") == "nn.Module: Linear_3");
  CHECK(short_frame("<built-in method size of Tensor object at 0x7f12>") == "<built-in method size of Tensor object>");
}

}  // namespace tracedb
