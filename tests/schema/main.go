// Prints src/objects/templates/schema_table.c: the field names of Kubernetes' built-in workload kinds and of what they use, and of the kinds of claims, read from the
// Go types of k8s.io/api.
// tests/schema/generate runs it.
//
// A type is an enumerator. Types of the same name in several API versions become one, with the fields of all; but those of claims have
// another form in each version, and the version in their name. A field leads to the
// type of what it has, of the elements of an array or of a map of objects, or to ANY: a leaf, another map, an object with a JSON form of its own, or what nobody judges.
// It also has a shape: see struct schema_field.
package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	appsv1beta1 "k8s.io/api/apps/v1beta1"
	appsv1beta2 "k8s.io/api/apps/v1beta2"
	batchv1 "k8s.io/api/batch/v1"
	batchv1beta1 "k8s.io/api/batch/v1beta1"
	corev1 "k8s.io/api/core/v1"
	extensionsv1beta1 "k8s.io/api/extensions/v1beta1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1alpha3 "k8s.io/api/resource/v1alpha3"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const width = 96 // of a line

var kinds = []any{
	corev1.Pod{}, corev1.PodTemplate{}, corev1.ReplicationController{}, corev1.List{},
	corev1.ConfigMap{}, corev1.Secret{}, corev1.Service{},
	appsv1.Deployment{}, appsv1.ReplicaSet{}, appsv1.StatefulSet{}, appsv1.DaemonSet{},
	appsv1beta2.Deployment{}, appsv1beta2.ReplicaSet{}, appsv1beta2.StatefulSet{}, appsv1beta2.DaemonSet{},
	appsv1beta1.Deployment{}, appsv1beta1.StatefulSet{},
	extensionsv1beta1.Deployment{}, extensionsv1beta1.ReplicaSet{}, extensionsv1beta1.DaemonSet{},
	batchv1.Job{}, batchv1.CronJob{}, batchv1beta1.CronJob{},
}

const claims = "k8s.io/api/resource/"

var claimKinds = []any{
	resourcev1.DeviceClass{}, resourcev1.ResourceClaim{}, resourcev1.ResourceClaimTemplate{}, resourcev1.ResourceSlice{},
	resourcev1beta2.DeviceClass{}, resourcev1beta2.ResourceClaim{}, resourcev1beta2.ResourceClaimTemplate{}, resourcev1beta2.ResourceSlice{},
	resourcev1beta1.DeviceClass{}, resourcev1beta1.ResourceClaim{}, resourcev1beta1.ResourceClaimTemplate{}, resourcev1beta1.ResourceSlice{},
	resourcev1beta2.DeviceTaintRule{}, resourcev1alpha3.DeviceTaintRule{}, resourcev1alpha3.ResourcePoolStatusRequest{},
}

// Fields of other releases of Kubernetes, from 1.29 to 1.37, that the module does not have. Nothing below them is judged.
var older = map[string][]string{
	"DeviceTaintSelector_v1alpha3": {"deviceClassName", "selectors"}, // 1.33 and 1.34
	"PodResourceClaim":             {"source"},                       // to 1.30
	"PodSpec":                      {"workloadRef"},                  // 1.35
}

// Since 1.37.
var newer = map[string][]string{
	"ClusterTrustBundleProjection":  {"user"},
	"ConfigMapVolumeSource":         {"defaultUser"},
	"DownwardAPIVolumeFile":         {"user"},
	"DownwardAPIVolumeSource":       {"defaultUser"},
	"EmptyDirVolumeSource":          {"mode"},
	"GRPCAction":                    {"mode"},
	"HTTPGetAction":                 {"protocol"},
	"JobSpec":                       {"scheduling"},
	"KeyToPath":                     {"user"},
	"PodCertificateProjection":      {"user"},
	"PodSpec":                       {"evictionResponders"},
	"ProjectedVolumeSource":         {"defaultUser"},
	"SecretVolumeSource":            {"defaultUser"},
	"ServiceAccountTokenProjection": {"user"},
	"VolumeMount":                   {"bindMountOptions"},
}

// What is below is written by others than the user.
var unjudged = map[string]bool{"status": true, "managedFields": true}

var (
	marshaler   = reflect.TypeFor[json.Marshaler]()
	intOrString = reflect.TypeFor[intstr.IntOrString]()
)

// The type of what the field has, or "", and its shape.
type target struct {
	is    string
	shape byte
}

// {type: {field: target}}
type graph map[string]map[string]target

func isMarshaler(t reflect.Type) bool {
	return t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler)
}

func shapeOfList(t reflect.Type) byte {
	switch {
	case t.Elem().Kind() == reflect.Uint8:
		return 'S'
	case t.Elem().Kind() == reflect.String:
		return 'T'
	default:
		return 'L'
	}
}

func shapeOf(t reflect.Type) byte {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch kind := t.Kind(); {
	case t == intOrString:
		return 'X'
	case isMarshaler(t):
		return '-'
	case kind == reflect.Slice:
		return shapeOfList(t)
	case kind == reflect.Map && shapeOf(t.Elem()) == 'S':
		return 'M'
	case isMapOfObjects(t):
		return 'N'
	case kind == reflect.Map || kind == reflect.Struct:
		return 'O'
	case kind == reflect.String:
		return 'S'
	case kind == reflect.Bool:
		return 'B'
	case kind == reflect.Int32:
		return 'I'
	case kind == reflect.Int64:
		return 'J'
	default:
		return '-'
	}
}

func isMapOfObjects(t reflect.Type) bool {
	return t.Kind() == reflect.Map && !isOpaque(t.Elem())
}

func isOpaque(t reflect.Type) bool {
	return t.Kind() != reflect.Struct || isMarshaler(t)
}

// Of a type of claims; "" of others.
func versionOf(t reflect.Type) string {
	version, is := strings.CutPrefix(t.PkgPath(), claims)
	if !is {
		return ""
	}
	return version
}

// The type of a value, or of the elements of an array or map; "" if nothing below is judged.
func (g graph) add(t reflect.Type) string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || isMapOfObjects(t) {
		t = t.Elem()
	}
	if isOpaque(t) {
		return ""
	}
	name := t.Name()
	if version := versionOf(t); version != "" {
		name += "_" + version
	}
	if g[name] == nil {
		g[name] = map[string]target{}
	}
	g.addFields(name, t)
	return name
}

func (g graph) addFields(name string, t reflect.Type) {
	for i := range t.NumField() {
		field := t.Field(i)
		key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case key == "-":
		case key == "" && field.Anonymous:
			g.addFields(name, field.Type)
		case key == "":
			panic(name + "." + field.Name + ": has no name in JSON")
		case unjudged[key]:
			g.addField(name, key, target{"", '-'})
		default:
			g.addField(name, key, target{g.add(field.Type), shapeOf(field.Type)})
		}
	}
}

func (g graph) addField(name, key string, is target) {
	if was, known := g[name][key]; known && was != is {
		panic(fmt.Sprintf("%s.%s: is %v and %v", name, key, was, is))
	}
	g[name][key] = is
}

func (g graph) addOthers(fields map[string][]string) {
	for name, keys := range fields {
		for _, key := range keys {
			if _, known := g[name][key]; known || g[name] == nil {
				panic(name + "." + key + ": is in the module, or its type is not")
			}
			g[name][key] = target{"", '-'}
		}
	}
}

func sorted[V any](of map[string]V) []string {
	keys := make([]string, 0, len(of))
	for key := range of {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// Values with commas, in lines of limited width.
func printRows(rows []string) {
	line := "   "
	for _, row := range rows {
		if len(line)+len(row)+2 > width {
			fmt.Println(line)
			line = "   "
		}
		line += " " + row + ","
	}
	fmt.Println(line)
}

func enumerator(name string) string {
	if name == "" {
		return "ANY"
	}
	return "T_" + name
}

func (g graph) print(version string, names []string) {
	fmt.Printf(`/*
 * schema_table: the fields of Kubernetes' workload kinds and of claims (k8s.io/api %s).
 *
 * See schema.h. Generated by tests/schema/generate; do not edit. A type is {first field, number of
 * fields}; its fields are in the order of strcmp().
 */
#include "objects/templates/schema.h"

/* clang-format off */
enum {
    ANY = SCHEMA_ANY,
`, version)
	types := sorted(g)
	var rows []string
	for _, name := range types {
		rows = append(rows, enumerator(name))
	}
	printRows(rows)
	fmt.Print("};\n\nconst struct schema_field SCHEMA_FIELDS[] = {\n")
	ranges, first := []string{"{0, 0}"}, 0
	for _, name := range types {
		rows = nil
		for _, key := range sorted(g[name]) {
			rows = append(rows, fmt.Sprintf("{%q, %s, '%c'}", key, enumerator(g[name][key].is), g[name][key].shape))
		}
		if len(rows) > 0 {
			rows[0] = fmt.Sprintf("/* %s */ %s", name, rows[0])
		}
		printRows(rows)
		ranges = append(ranges, fmt.Sprintf("{%d, %d}", first, len(rows)))
		first += len(rows)
	}
	fmt.Print("};\n\nconst struct schema_type SCHEMA_TYPES[] = {\n")
	printRows(ranges)
	fmt.Print("};\n\nconst struct schema_field SCHEMA_KINDS[] = {\n")
	rows = nil
	for _, name := range names {
		rows = append(rows, fmt.Sprintf("{%q, %s, 'O'}", name, enumerator(name)))
	}
	printRows(rows)
	fmt.Print("};\n\nconst struct schema_versioned SCHEMA_VERSIONED[] = {\n")
	rows = nil
	for _, kind := range claimKinds {
		t := reflect.TypeOf(kind)
		rows = append(rows, fmt.Sprintf("{\"resource.k8s.io/%s\", %q, %s}", versionOf(t), t.Name(), enumerator(g.add(t))))
	}
	// Since 1.37, with the fields of v1beta2.
	rows = append(rows, fmt.Sprintf("{\"resource.k8s.io/v1\", \"DeviceTaintRule\", %s}", enumerator("DeviceTaintRule_v1beta2")))
	printRows(rows)
	fmt.Print("};\n/* clang-format on */\n\nconst size_t SCHEMA_KINDS_N = sizeof SCHEMA_KINDS / sizeof SCHEMA_KINDS[0];\n")
	fmt.Print("const size_t SCHEMA_VERSIONED_N = sizeof SCHEMA_VERSIONED / sizeof SCHEMA_VERSIONED[0];\n")
	fmt.Printf("const int SCHEMA_CONTAINER = %s;\n", enumerator("Container"))
	fmt.Printf("const int SCHEMA_POD_SPEC = %s;\n", enumerator("PodSpec"))
	fmt.Printf("const int SCHEMA_POD_TEMPLATE = %s;\n", enumerator("PodTemplateSpec"))
	fmt.Printf("const int SCHEMA_RESOURCES = %s;\n", enumerator("ResourceRequirements"))
}

func apiVersion() string {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == "k8s.io/api" {
			return module.Version
		}
	}
	panic("k8s.io/api is not among the modules")
}

func main() {
	g, names := graph{}, map[string]bool{}
	for _, kind := range kinds {
		names[g.add(reflect.TypeOf(kind))] = true
	}
	for _, kind := range claimKinds {
		g.add(reflect.TypeOf(kind))
	}
	g.addOthers(older)
	g.addOthers(newer)
	g.print(apiVersion(), sorted(names))
}
