package incubating

// Upstream's own test table as questions for tests/allocate: tests/allocate/build lets Go see this file beside the allocator
// (-overlay), and runs it. Each line of $QUESTIONS is one call of Allocate().

import (
	"context"
	"encoding/json"
	"os"
	"testing"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured/internal"
	"k8s.io/dynamic-resource-allocation/structured/internal/allocatortesting"
)

type question struct {
	Node    *v1.Node                     `json:"node"`
	Slices  []*resourceapi.ResourceSlice `json:"slices"`
	Classes []*resourceapi.DeviceClass   `json:"classes"`
	Claims  []*resourceapi.ResourceClaim `json:"claims"`
	Others  []*resourceapi.ResourceClaim `json:"others"`
}

type recorder struct {
	internal.Allocator
	out   *json.Encoder
	asked question
}

func (r *recorder) Allocate(ctx context.Context, node *v1.Node, claims []*resourceapi.ResourceClaim) ([]resourceapi.AllocationResult, error) {
	r.asked.Node, r.asked.Claims = node, claims
	if err := r.out.Encode(r.asked); err != nil {
		panic(err)
	}
	return r.Allocator.Allocate(ctx, node, claims)
}

// A claim that has all that is allocated.
func holder(state AllocatedState) *resourceapi.ResourceClaim {
	var results []resourceapi.DeviceRequestAllocationResult
	add := func(driver, pool, device string, share *types.UID, capacity ConsumedCapacity) {
		result := resourceapi.DeviceRequestAllocationResult{Driver: driver, Pool: pool, Device: device, ShareID: share}
		for name, quantity := range capacity {
			if result.ConsumedCapacity == nil {
				result.ConsumedCapacity = make(map[resourceapi.QualifiedName]resource.Quantity)
			}
			result.ConsumedCapacity[name] = *quantity
		}
		results = append(results, result)
	}
	for id := range state.AllocatedDevices {
		add(id.Driver.String(), id.Pool.String(), id.Device.String(), nil, nil)
	}
	for id := range state.AllocatedSharedDeviceIDs {
		share := types.UID(id.ShareID.String())
		add(id.Driver.String(), id.Pool.String(), id.Device.String(), &share, nil)
	}
	for id, capacity := range state.AggregatedCapacity {
		share := types.UID("sum")
		add(id.Driver.String(), id.Pool.String(), id.Device.String(), &share, capacity)
	}
	claim := &resourceapi.ResourceClaim{}
	claim.Status.Allocation = &resourceapi.AllocationResult{Devices: resourceapi.DeviceAllocationResult{Results: results}}
	return claim
}

func TestTable(t *testing.T) {
	file, err := os.Create(os.Getenv("QUESTIONS"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	newAllocator := func(ctx context.Context, features Features, state AllocatedState, classes DeviceClassLister, slices []*resourceapi.ResourceSlice, cache *cel.Cache) (internal.Allocator, error) {
		inner, err := NewAllocator(ctx, features, state, classes, slices, cache)
		if err != nil {
			return nil, err
		}
		listed, err := classes.List()
		if err != nil {
			return nil, err
		}
		asked := question{Slices: slices, Classes: listed, Others: []*resourceapi.ResourceClaim{holder(state)}}
		return &recorder{inner, json.NewEncoder(file), asked}, nil
	}
	allocatortesting.TestAllocator(t, SupportedFeatures, newAllocator)
	allocatortesting.TestLexicographicalAllocator(t, SupportedFeatures, newAllocator)
}
