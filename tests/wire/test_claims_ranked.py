"""prioritize ranks the nodes of a pod with resource claims by the devices that the claims would take there; the dry run agrees."""

import pytest
from objects import filter_args, merged, node
from test_claims_judged import DRIVER, NIC_CLASS, asks, asks_both, claim, device_class, dry_run, nics, of_kind, slice_of, template, using

PROFILE = "1g.10gb"


def device(name, model, memory, **attributes):
    texts = {"type": "gpu", "productName": model, "uuid": f"GPU-{name}", **attributes}
    return {
        "name": name,
        "attributes": {key: {"string": text} for key, text in texts.items()},
        "capacity": {"memory": {"value": memory}},
    }


def whole(node_name, count, model="NVIDIA H100 80GB HBM3", memory="80Gi"):
    return slice_of(node_name, *(device(f"{node_name}-{number}", model, memory) for number in range(count)))


def parts(node_name):
    """Two GPUs in two parts each."""
    made = []
    for gpu in range(2):
        for part in range(2):
            name = f"{node_name}-{gpu}-{part}"
            of = {"type": "mig", "profile": PROFILE, "parentUUID": f"{node_name}-{gpu}", "uuid": name}
            made.append(device(name, "NVIDIA H100 80GB HBM3", "10Gi", **of))
    return slice_of(node_name, *made)


def first_of(*models):
    """Alternatives, one for each model."""
    alternatives = [
        {
            "name": f"alternative-{number}",
            "deviceClassName": DRIVER,
            "selectors": [{"cel": {"expression": f"device.attributes['{DRIVER}'].productName.contains('{model}')"}}],
        }
        for number, model in enumerate(models)
    ]
    return {"devices": {"requests": [{"name": "gpus", "firstAvailable": alternatives}]}}


NAMES = ["a-empty", "b-begun", "c-small", "d-parts", "e-broken", "f-none", "g-small"]
MIG = f"device.attributes['{DRIVER}'].type == 'mig'"
GPU = f"device.attributes['{DRIVER}'].type == 'gpu'"
TEMPLATES = {
    "one": asks(1, f"{GPU} && device.attributes['{DRIVER}'].productName.contains('H100')"),
    "any": asks(1, GPU),
    "part": asks(1, MIG),
    "parts": asks(2, MIG),
    "small-first": first_of("T4", "H100"),
    "large-first": first_of("H100", "T4"),
    "by-uuid": asks(1, f"{GPU} && device.attributes['{DRIVER}'].uuid.startsWith('GPU-')"),
}


@pytest.fixture(scope="module")
def service(module_service):
    gpu_class = merged(device_class(), {"spec": {"extendedResourceName": "nvidia.com/gpu"}})
    objects = [
        *(node(name, None, None) for name in NAMES),
        gpu_class,
        whole("a-empty", 8),
        whole("b-begun", 8),
        whole("c-small", 8, "Tesla T4", "16Gi"),
        whole("g-small", 6, "Tesla T4", "16Gi"),  # as many T4 are free as H100
        parts("d-parts"),
        parts("e-broken"),
        claim("begun", on=("b-begun", "b-begun-0", "b-begun-1"), holders=1),
        claim("broken", on=("e-broken", "e-broken-0-0"), holders=1),
        *(template(name, spec) for name, spec in TEMPLATES.items()),
    ]
    return module_service(*objects)


def ranked(service, pod, names):
    """The names with the best score first, and what the decision says of claims."""
    scores = {item["Host"]: item["Score"] for item in service.post("/scheduler/prioritize", filter_args(pod, names)).json()}
    said = service.get("/v1/decisions?verb=prioritize&limit=1").json()["decisions"][0]["claims"]
    return sorted(scores, key=lambda name: (-scores[name], name)), said


@pytest.mark.parametrize(
    ("template_name", "best", "others"),
    [
        ("one", "b-begun", ["a-empty"]),  # keeps the empty node whole
        ("any", "c-small", ["a-empty"]),  # memory that it may not need
        ("part", "e-broken", ["d-parts"]),  # no further GPU is broken up
        ("parts", "d-parts", ["e-broken"]),  # one GPU instead of the rest of one and another: equal, so by name
        ("small-first", "c-small", ["b-begun", "a-empty"]),
        ("large-first", "b-begun", ["a-empty", "c-small"]),
        ("by-uuid", "c-small", ["a-empty"]),  # no node is like another
    ],
)
def test_best_node_by_the_devices_that_are_taken(service, template_name, best, others):
    pod = using(t_a=template_name)
    order, said = ranked(service, pod, sorted([best, *others]))
    assert (order[0], said) == (best, "ranked")
    if template_name.endswith("-first"):
        assert order == [best, *others]
    (workload,) = dry_run(service, pod)
    fitting = [item["node"] for item in workload["nodes"] if item["reason"] == "fits"]
    whole_order, _ = ranked(service, pod, sorted(fitting))
    assert workload["placements"][0]["node"] == whole_order[0], "the dry run and prioritize agree"


def test_filter_hands_on_all_nodes(service):
    """It judges no devices, as kube-scheduler has judged them, and leaves none to a shortlist."""
    answer = service.post("/scheduler/filter", filter_args(using(t_a="one"), NAMES)).json()
    assert answer["NodeNames"] == NAMES


def test_an_allocated_claim_takes_nothing_more(service):
    """After an Error of bind, kube-scheduler asks again about the node of the devices alone."""
    order, said = ranked(service, using(c_a="begun"), ["b-begun"])
    assert (order, said) == (["b-begun"], "ranked")


def test_a_claim_that_no_watch_has_shown_is_ranked_by_its_template(service):
    """Neither the pod nor the claim that was made for it is in the ledger yet."""
    made = {"status": {"resourceClaimStatuses": [{"name": "t_a", "resourceClaimName": "train-t-a-x7k2p"}]}}
    assert ranked(service, merged(using(t_a="one"), made), ["a-empty", "b-begun"]) == (["b-begun", "a-empty"], "ranked")


def test_devices_of_drivers_that_the_policy_does_not_name(start_over):
    """A network card beside each GPU: all slices of such drivers are read, since where they reach is not kept by node."""
    names = ["a-empty", "b-begun"]
    slices = [item for name in names for item in (whole(name, 4), nics(name, "nic-0"))]
    begun = claim("begun", on=("b-begun", "b-begun-0"), holders=1)
    service = start_over(*(node(name, None, None) for name in names), device_class(), NIC_CLASS, *slices, begun, template("both", asks_both()))
    pod = using(t_a="both")
    assert ranked(service, pod, names) == (["b-begun", "a-empty"], "ranked")
    (workload,) = dry_run(service, pod)
    assert workload["placements"][0]["node"] == "b-begun"


def test_unknown_claims_are_ranked_by_model_only(service):
    order, said = ranked(service, using(t_a="missing"), NAMES)
    assert (order, said) == ([], "by model only: not judged")


@pytest.mark.parametrize(("count", "said"), [(400, "ranked"), (401, "by model only: too many kinds of nodes, or too many combinations")])
def test_beyond_the_budget_nodes_are_ranked_by_model_only(start_over, count, said):
    """Counted, so it does not depend on the machine. Claims that read a UUID make each node a kind of its own."""
    names = [f"n{number}" for number in range(count)]
    nodes = [node(name, None, None) for name in names]
    service = start_over(*nodes, device_class(), *(whole(name, 1) for name in names), template("by-uuid", TEMPLATES["by-uuid"]))
    assert ranked(service, using(t_a="by-uuid"), names)[1] == said
