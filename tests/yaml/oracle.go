// Prints how kubectl reads YAML, a line a text: {"yaml": TEXT, "json": what the API server gets}, or "error" for what kubectl rejects.
// tests/yaml/record runs it, with the pins of tests/control-plane.
//
// kubectl turns YAML into JSON by sigs.k8s.io/yaml, and reads the JSON by k8s.io/apimachinery/pkg/util/json: whole numbers of 64 bits
// are integers, all others floating point (written with an exponent here if they have no fraction).
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// Plain scalars, a word each.
const words = `
true True TRUE tRUE yes Yes YES yEs y Y on On ON oN false False FALSE no No NO n N off Off OFF oFF
~ null Null NULL nuLL none None
0 -0 +0 5 -5 +5 00 007 017 -017 +017 0644 0755 08 -08 +08 08.5 0899 0_8 0o17 0O17 -0o17 0o8 0o 0b101 0B1 -0b11 +0b11 0b2 0b 0x1F 0X1f -0x1f 0x 0xg
1_000 1__000 1_ _1 -1_0 1_000.5 1_0e1_0 0x_ff 0_17
9223372036854775807 9223372036854775808 -9223372036854775808 -9223372036854775809 18446744073709551615 18446744073709551616
0xffffffffffffffff 0x10000000000000000 09223372036854775808 123456789012345678901234567890
1.5 1.10 15.2 0.9 .5 -.5 +.5 1. -1. 1.0 2.0 -2.0 0.0 -0.0 +1.5 1.2.3 1..2 . .. .e1 1.5Gi 0.5m .5_0 1.5_0 ._5 0.1 0.30000000000000004 3.14159265358979
1e3 1E3 1e+3 1e-3 1.5e3 1e 1e+ e3 1e3x 1e400 -1e400 1e-400 1e18 1e19 -1e19 1e20 1e21 1e22 1.5e300 8.880525e+06 1.00077e+09 1e0x1 5e-324 2.5e-7
.inf .Inf .INF +.inf -.inf -.INF .iNF inf .nan .NaN .NAN .Nan nan +.nan
1:30 1:30:45 190:20:30 20:30:45.5 -1:30 22:22 0:0
2001-01-01 2001-1-1 2001-13-01 2001-12-14T21:59:43.10-05:00 2001-12-14t21:59:43Z 2001-12-14T21:59:43 2026-11
500m 128Mi 4k 1Gi 1e3Mi 10% 0% v1 1.36 1.36.0 v1.10 1,000 1/2 +1 + - -- --- 1- 1+1 0x1.8p3 0x1p-2 1e1_0 1d 1f 0777L
<< = ! !x @ % 12:00 a:b http://x #c &a *a ? :
`

// Whole texts. Not two keys that only become the same as strings: of these kubectl takes any.
var texts = []string{
	"a: 1.10\nb: \"1.10\"\nc: '0.9'\nd: |\n  0.9\ne: !!str 0.9\nf: ! 0.9\n",
	"replicas: 2.0", "replicas: 2.5", "replicas: 0x2", "replicas: 1e1", "labels: {version: 1.10, date: 2026-01-02, on: yes}",
	"limits: {cpu: 0.5, memory: 1e9, nvidia.com/gpu: 1.0}", "securityContext: {runAsUser: 1.00077e+09}", "defaultMode: 0644", "a: [1.5, 2.0, ~, ]",
	"a:", "a: ~", "a: ''", "", "~", "null", "# none", "---", "...", "--- \n", "{}", "[]", "''", "a", "1", "1.5", "- 1", "- - 1", "-1",
	"1: a", "1.0: a", "1.10: a", "1.5: a", "0.1: a", "123456.5: a", "1234567.5: a", "0.00001: a", "1e3: a", "1e6: a", "3.14159265358979: a", "0x10: a",
	"017: a", "1_0: a", "true: a", "yes: a", "on: a", "~: a", ": a", "'': a", "2026-01-02: a", ".inf: a", "18446744073709551615: a", "? [a]\n: 1", "? {a: 1}\n: 1", "? a",
	"a: 1\na: 2", "{a: 1, a: 2}", "a: {b: 1, b: {c: 2}}", "yes: 1\ntrue: 2", "a: 1\nA: 2",
	"x: &x {a: 1}\nw: *x", "x: &x [1, 2]\nw: [*x, *x]", "x: &x 1.50\nw: *x\nz: {*x : 1}", "w: *x", "x: &x {a: *x}", "a: &x 1\nb: &x 2\nc: *x",
	"x: &x {a: 1, b: 2}\nw: {<<: *x, b: 3}", "x: &x {a: 1, b: 2}\nw: {b: 3, <<: *x}", "x: &x {a: 1}\nw: {<<: [*x, {a: 2, c: 3}]}",
	"x: &x {a: 1}\nz: &z {a: 2}\nw: {<<: [*z, *x], b: 1}", "x: &x {a: 1}\nz: &z {a: 2}\nw: {<<: *x, <<: *z}", "w: {<<: {a: 1}, b: 2}", "w: {<<: 5}", "w: {<<: [1]}", "w: {<<: }",
	"w: {'<<': {a: 1}}", "w: {!!merge <<: {a: 1}}", "x: &x {a: {b: 1}}\nw: {<<: *x, a: {c: 2}}", "x: &x {a: {b: 1}}\nw: {a: {c: 2}, <<: *x}", "x: &x {a: 1}\nw: &y {<<: *x, b: 2}\nz: {<<: *y, a: 3}",
	"x: &x {a: 1, b: 1}\nw: {a: 2, <<: *x, b: 3}", "x: &x [{a: 1}]\nw: {<<: *x}", "x: &x [{a: 1}]\nw: {<<: [*x]}", "a: <<", "[<<, 1]",
	"a: !!int 3", "a: !!int '3'", "a: !!int 3.0", "a: !!int 3.5", "a: !!int x", "a: !!float 3", "a: !!float 3.5", "a: !!float '3.5'", "a: !!float x", "a: !!float .inf", "a: !!bool yes", "a: !!bool 'yes'",
	"a: !!bool 1", "a: !!null ''", "a: !!null 0", "a: !!null x", "a: !!str", "a: !!str 017", "a: !!str yes", "a: !!str ~", "a: !!map {b: 1}", "a: !!seq [1]", "a: !!str [1]", "a: !!map [1]",
	"a: !!binary aGk=", "a: !mine x", "a: !mine {b: 1}", "a: !!timestamp 2001-01-01", "a: !!set {x}", "!!str 1.5: b", "!!float 3: b",
	"a: >\n  x\n  y\n\n  z\n", "a: |-\n  1.5\n", "a: |+\n  x\n\n", "a: 'it''s'", "a: \"\\u00e9\\n\\x41\\0\"", "a: x\n  y", "a: x # c", "a: x#c", "a: \"x\n  y\"", "a: 'x\n\n  y'",
	"a: b: c", "a:\n\tb: 1", "a: [1, 2", "a: }", "a: @b", "a: `b`", "a: %b", "- a\nb: 1", "a: 1\n b: 2", "a: [b: 1, c]", "{a, b: 1}", "{a: 1,}", "[1,,2]", "\"a\": 1", "'a' : 1", "a : 1", "a:1", "a:  1 ", "\ufeffa: 1",
	"%YAML 1.1\n---\na: 1", "%YAML 1.2\n---\na: yes",
}

func pieces(dice *uint64, n int) string {
	alphabet := []string{"0", "1", "2", "7", "8", "9", "0", "1", "5", ".", "_", "-", "+", "e", "E", "x", "o", "b", "a", "f", ":", "0x", "0o", "0b", ".5", "e3", "1e", "00", "y", "n", "~"}
	var text strings.Builder
	for range n {
		*dice = *dice*6364136223846793005 + 1442695040888963407
		text.WriteString(alphabet[*dice>>33%uint64(len(alphabet))])
	}
	return text.String()
}

// Of what looks like numbers.
func randomWords(n int) []string {
	dice, found := uint64(33), make([]string, 0, n)
	for i := range n {
		found = append(found, pieces(&dice, 1+i%7))
	}
	return found
}

func marked(value any) any {
	switch is := value.(type) {
	case float64:
		return json.Number(strconv.FormatFloat(is, 'g', -1, 64))
	case []any:
		for i := range is {
			is[i] = marked(is[i])
		}
	case map[string]any:
		for key := range is {
			is[key] = marked(is[key])
		}
	}
	return value
}

func read(text string) (any, error) {
	asJSON, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return nil, err
	}
	var value any
	if err := utiljson.Unmarshal(asJSON, &value); err != nil {
		return nil, err
	}
	return marked(value), nil
}

func main() {
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	fmt.Println("# How kubectl reads YAML: see tests/yaml/oracle.go. Recorded by tests/yaml/record.")
	asked := texts
	for _, word := range append(strings.Fields(words), randomWords(800)...) {
		asked = append(asked, "a: "+word)
	}
	seen := map[string]bool{}
	for _, text := range asked {
		if seen[text] {
			continue
		}
		seen[text] = true
		var row any
		if value, err := read(text); err != nil {
			row = struct {
				YAML  string `json:"yaml"`
				Error string `json:"error"`
			}{text, err.Error()}
		} else {
			row = struct {
				YAML string `json:"yaml"`
				JSON any    `json:"json"`
			}{text, value}
		}
		if err := out.Encode(row); err != nil {
			panic(err)
		}
	}
}
