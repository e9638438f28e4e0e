"""Quotas that lend, on a real control plane: guaranteed pods take their GPUs back from borrowers, and from nobody else."""

from cluster import ABOVE, PODS
from taking_back import GPUS, TakingBack

TRIES = 3


def test_guaranteed_pods_take_gpus_back(live):
    """take_back has the times of many tries."""
    full = TakingBack(live)
    for _ in range(TRIES):
        _, _, gone = full.run()
        assert len(gone) >= GPUS and all(name.startswith("borrower-") for name in gone), gone


def test_the_guarantee_is_all_that_is_taken(live):
    """8 GPUs are guaranteed, so the third pod of 4 waits and evicts nobody, though borrowers are left."""
    full = TakingBack(live)
    for number in (1, 2):
        live.create(f"guaranteed-pod-{number}", GPUS, models="H100", priority_class=ABOVE)
        live.node_of(f"guaranteed-pod-{number}")
    live.wait_until_told()
    before = set(full.there())
    live.create("over", GPUS, models="H100", priority_class=ABOVE)
    live.refusal_of("over")
    assert set(full.there()) == before | {"over"}
    assert live.api.get(f"{PODS}/guaranteed-pod-1")["spec"]["nodeName"] != "h100-2"
