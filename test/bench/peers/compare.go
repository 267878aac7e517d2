package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/normalize"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Compares all objects, one database after the other, from the start of one round to the start of the next in an interval; applies
// those that differ, and prints each of them, as `Service/shop/orders configured`.
func compare(ctx context.Context, config *rest.Config, objects owned, interval time.Duration) error {
	api, err := client.New(config, client.Options{})
	if err != nil {
		return err
	}
	// Nothing is waited for, so no poller is needed.
	manager := ssa.NewResourceManager(api, nil, ssa.Owner{Field: "compare", Group: "bench.plumbline.dev"})
	for _, list := range objects {
		if err := normalize.UnstructuredList(list); err != nil {
			return err
		}
	}
	for ctx.Err() == nil {
		next := time.After(interval)
		compareOnce(ctx, manager, objects)
		select {
		case <-ctx.Done():
		case <-next:
		}
	}
	return nil
}

func compareOnce(ctx context.Context, manager *ssa.ResourceManager, objects owned) {
	for _, name := range slices.Sorted(maps.Keys(objects)) {
		changes, err := manager.ApplyAll(ctx, objects[name], ssa.DefaultApplyOptions())
		if err != nil {
			// Tried again in the next round.
			fmt.Fprintln(os.Stderr, err)
			continue
		}
		for _, change := range changes.Entries {
			if change.Action != ssa.UnchangedAction {
				fmt.Println(change)
			}
		}
	}
}
