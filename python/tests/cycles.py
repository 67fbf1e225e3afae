# SPDX-License-Identifier: Apache-2.0
"""Many questions and answers of a study, with every other kind of call among them: `leaks` watches the library meanwhile."""
import sys

import kerf

for cycle in range(int(sys.argv[1])):
    if cycle % 1000 == 0:
        study = kerf.Study({"x": [1, 2], "y": [4, 8]}, policy="null", subject_to=["p99_ms <= 30"])
        try:
            kerf.estimate(model="no_such_model", system="h100", layout="tp=1", global_batch=8)
        except kerf.Error:
            pass
    setting = study.ask()
    study.tell(setting or {"x": 1, "y": 4}, 1.5, p99_ms=20)
kerf.plan(model="llama3_8b", system="h100", gpus=16, global_batch=64)
kerf.schedule("zb_h1", devices=4, microbatches=8)
print(sys.argv[1], "cycles")
