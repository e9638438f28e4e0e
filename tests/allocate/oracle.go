// The allocator that kube-scheduler uses, k8s.io/dynamic-resource-allocation/structured with the default feature gates, as a
// program: each line of input is a question (question.h), each line of output its answer. tests/allocate/build builds it with the
// pins of tests/control-plane.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
	_ "k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
)

var (
	gates = feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	cache = cel.NewCache(1000, cel.Features{EnableConsumableCapacity: gates.EnableDRAConsumableCapacity, EnableListTypeAttributes: gates.EnableDRAListTypeAttributes})
)

// Upstream gives a node up after ten seconds; most answers take less than one millisecond.
const limit = time.Second

type question struct {
	Node    *v1.Node                     `json:"node"`
	Nodes   []*v1.Node                   `json:"nodes"` // instead of one: one allocator is asked about each
	Slices  []*resourceapi.ResourceSlice `json:"slices"`
	Classes []*resourceapi.DeviceClass   `json:"classes"`
	Claims  []*resourceapi.ResourceClaim `json:"claims"`
	Others  []*resourceapi.ResourceClaim `json:"others"`
}

type result struct {
	Request string `json:"request"`
	Driver  string `json:"driver"`
	Pool    string `json:"pool"`
	Device  string `json:"device"`
	Admin   bool   `json:"admin"`
}

type answer struct {
	Verdict string     `json:"verdict"` // fits, no, pools, elsewhere, error, timeout
	Message string     `json:"message"`
	Results [][]result `json:"results"`
}

type lister []*resourceapi.DeviceClass

func (classes lister) List() ([]*resourceapi.DeviceClass, error) { return classes, nil }

func (classes lister) Get(name string) (*resourceapi.DeviceClass, error) {
	for _, class := range classes {
		if class.Name == name {
			return class, nil
		}
	}
	return nil, fmt.Errorf("there is none")
}

// As dynamicresources.foreachAllocatedDevice().
func allocatedState(lists ...[]*resourceapi.ResourceClaim) structured.AllocatedState {
	state := structured.AllocatedState{
		AllocatedDevices:         sets.New[structured.DeviceID](),
		AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity:       structured.NewConsumedCapacityCollection(),
	}
	for _, claims := range lists {
		for _, claim := range claims {
			if claim.Status.Allocation == nil {
				continue
			}
			for _, device := range claim.Status.Allocation.Devices.Results {
				if device.AdminAccess != nil && *device.AdminAccess {
					continue
				}
				id := structured.MakeDeviceID(device.Driver, device.Pool, device.Device)
				if device.ShareID == nil {
					state.AllocatedDevices.Insert(id)
					continue
				}
				state.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(id, device.ShareID))
				if device.ConsumedCapacity != nil {
					state.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(id, device.ConsumedCapacity))
				}
			}
		}
	}
	return state
}

// As DynamicResources.Filter().
func isElsewhere(asked question, node *v1.Node) bool {
	for _, claim := range asked.Claims {
		if claim.Status.Allocation == nil || claim.Status.Allocation.NodeSelector == nil {
			continue
		}
		selector, err := nodeaffinity.NewNodeSelector(claim.Status.Allocation.NodeSelector)
		if err != nil || !selector.Match(node) {
			return true
		}
	}
	return false
}

func results(asked question, toAllocate []*resourceapi.ResourceClaim, allocated []resourceapi.AllocationResult) [][]result {
	given := make([][]result, len(asked.Claims))
	next := 0
	for i, claim := range asked.Claims {
		given[i] = []result{}
		if claim.Status.Allocation != nil {
			continue
		}
		for _, device := range allocated[next].Devices.Results {
			given[i] = append(given[i], result{device.Request, device.Driver, device.Pool, device.Device, device.AdminAccess != nil && *device.AdminAccess})
		}
		next++
	}
	return given
}

// Of the claims toAllocate, on one node.
func allocateOn(asked question, node *v1.Node, allocator structured.Allocator, toAllocate []*resourceapi.ResourceClaim) answer {
	var allocated []resourceapi.AllocationResult
	if len(toAllocate) > 0 {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		var err error
		allocated, err = allocator.Allocate(ctx, node, toAllocate)
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			return answer{Verdict: "timeout"}
		case errors.Is(err, structured.ErrFailedAllocationOnNode):
			return answer{Verdict: "pools", Message: err.Error()}
		case err != nil:
			return answer{Verdict: "error", Message: err.Error()}
		case len(allocated) != len(toAllocate):
			return answer{Verdict: "no", Message: "cannot allocate all claims"}
		}
	}
	if isElsewhere(asked, node) {
		return answer{Verdict: "elsewhere", Message: "resourceclaim not available on the node"}
	}
	return answer{Verdict: "fits", Results: results(asked, toAllocate, allocated)}
}

func allocate(asked question) any {
	var toAllocate []*resourceapi.ResourceClaim
	for _, claim := range asked.Claims {
		if claim.Status.Allocation == nil {
			toAllocate = append(toAllocate, claim)
		}
	}
	allocator, err := structured.NewAllocator(context.Background(), dynamicresources.AllocatorFeatures(gates), allocatedState(asked.Claims, asked.Others), lister(asked.Classes), asked.Slices, cache)
	if variant := fmt.Sprintf("%T", allocator); err != nil || variant != "*incubating.Allocator" {
		fmt.Fprintln(os.Stderr, "not the allocator that we follow:", variant, err)
		os.Exit(1)
	}
	if asked.Node != nil {
		return allocateOn(asked, asked.Node, allocator, toAllocate)
	}
	answers := make([]answer, len(asked.Nodes))
	for i, node := range asked.Nodes {
		if i > 0 && answers[i-1].Verdict == "timeout" {
			answers[i] = answers[i-1] // the question is not compared
			continue
		}
		answers[i] = allocateOn(asked, node, allocator, toAllocate)
	}
	return answers
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<26)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for lines.Scan() {
		var asked question
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		text, err := json.Marshal(allocate(asked))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		out.Write(append(text, '\n'))
	}
}
