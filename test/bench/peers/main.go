// Puts objects back in the two ways in which most controllers do: `reapply` applies everything that it owns at each event, and
// `compare` asks the API server again and again what an apply would change. Both are written as the examples of their libraries
// are, with the defaults of these, so that Plumbline can be measured beside them.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

const usage = "usage: peers reapply|compare KUBECONFIG NAMESPACE OBJECTS INTERVAL"

// The objects of each database, in the order in which they are applied.
type owned map[string][]*unstructured.Unstructured

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 5 {
		return fmt.Errorf(usage)
	}
	command, kubeconfig, namespace, file := args[0], args[1], args[2], args[3]
	interval, err := time.ParseDuration(args[4])
	if err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	// What controller-runtime sets where it reads the configuration itself: the API server limits, not the client.
	config.QPS = -1
	objects, err := readObjects(file)
	if err != nil {
		return err
	}
	ctrl.SetLogger(klog.NewKlogr())
	return start(command, config, namespace, objects, interval)
}

func start(command string, config *rest.Config, namespace string, objects owned, interval time.Duration) error {
	switch command {
	case "reapply":
		return reapply(ctrl.SetupSignalHandler(), config, namespace, objects)
	case "compare":
		return compare(ctrl.SetupSignalHandler(), config, objects, interval)
	default:
		return fmt.Errorf(usage)
	}
}

// The file holds a list of objects by the name of each database.
func readObjects(file string) (owned, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var objects owned
	return objects, json.Unmarshal(text, &objects)
}
