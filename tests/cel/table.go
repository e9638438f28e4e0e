// Prints upstream's own table of selectors as questions. Not built as it stands: tests/cel/build puts the table, which is in
// compile_test.go of k8s.io/dynamic-resource-allocation/cel, in the place of the mark.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/utils/ptr"
)

// TABLE

type question struct {
	Name       string               `json:"name"`
	Expression string               `json:"expression"`
	Driver     string               `json:"driver"`
	Devices    []resourceapi.Device `json:"devices"`
}

func main() {
	var names []string
	for name := range testcases {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		scenario := testcases[name]
		text, err := json.Marshal(question{name, scenario.expression, scenario.driver, []resourceapi.Device{{
			AllowMultipleAllocations: scenario.allowMultipleAllocations,
			Attributes:               scenario.attributes,
			Capacity:                 scenario.capacity,
		}}})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(string(text))
	}
}
