// Checks the pods of rendered manifests on standard input against the restricted Pod Security Standard, with the library
// that clusters use to enforce it.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// The fields that a Deployment and a Job have in common.
type workload struct {
	Kind              string            `json:"kind"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Template *corev1.PodTemplateSpec `json:"template"`
	} `json:"spec"`
}

func main() {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		fail(err)
	}
	restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	decoder := yaml.NewYAMLOrJSONDecoder(os.Stdin, 4096)
	pods := 0
	for {
		var found workload
		if err := decoder.Decode(&found); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			fail(err)
		}
		if found.Spec.Template == nil {
			continue
		}
		pods++
		results := evaluator.EvaluatePod(restricted, &found.Spec.Template.ObjectMeta, &found.Spec.Template.Spec)
		if result := policy.AggregateCheckResults(results); !result.Allowed {
			fail(fmt.Errorf("%s %s: %s: %s", found.Kind, found.Name, result.ForbiddenReason(), result.ForbiddenDetail()))
		}
	}
	if pods == 0 {
		fail(errors.New("found no pods to check"))
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
