// The judge that kube-scheduler uses, k8s.io/dynamic-resource-allocation/cel, as a program: each line of input is an expression
// and devices, each line of output its verdict on them. tests/cel/build builds it with the pins of tests/control-plane.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	resourceapi "k8s.io/api/resource/v1"
	dracel "k8s.io/dynamic-resource-allocation/cel"
)

type question struct {
	Expression string               `json:"expression"`
	Devices    []resourceapi.Device `json:"devices"`
	Driver     string               `json:"driver"`
}

// Of one device: the value, or the error at run time.
type verdict struct {
	Value bool   `json:"value"`
	Error string `json:"error,omitempty"`
}

type answer struct {
	CompileError string    `json:"compileError,omitempty"`
	MaxCost      uint64    `json:"maxCost"`
	Verdicts     []verdict `json:"verdicts,omitempty"`
}

func judge(asked question) (given answer) {
	// kube-scheduler's default gates of 1.36: consumable capacity is on, attributes with lists are off.
	compiled := dracel.GetCompiler(dracel.Features{EnableConsumableCapacity: true}).CompileCELExpression(asked.Expression, dracel.Options{})
	given.MaxCost = compiled.MaxCost
	if compiled.Error != nil {
		given.CompileError = compiled.Error.Error()
		return given
	}
	for _, device := range asked.Devices {
		value, _, err := compiled.DeviceMatches(context.Background(), dracel.Device{
			Driver:                   asked.Driver,
			AllowMultipleAllocations: device.AllowMultipleAllocations,
			Attributes:               device.Attributes,
			Capacity:                 device.Capacity,
		})
		one := verdict{Value: value}
		if err != nil {
			one = verdict{Error: err.Error()}
		}
		given.Verdicts = append(given.Verdicts, one)
	}
	return given
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
		text, err := json.Marshal(judge(asked))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		out.Write(append(text, '\n'))
	}
}
