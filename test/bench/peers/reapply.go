package main

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// Applies all objects of a database at each event of one of them.
type reapplier struct {
	client  client.Client
	objects owned
}

func (r *reapplier) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	for _, object := range r.objects[request.Name] {
		// A copy, since the answer is written into it.
		body := client.ApplyConfigurationFromUnstructured(object.DeepCopy())
		if err := r.client.Apply(ctx, body, client.FieldOwner("reapply"), client.ForceOwnership); err != nil {
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{}, nil
}

func reapply(ctx context.Context, config *rest.Config, namespace string, objects owned) error {
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Cache:                   cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
		Metrics:                 server.Options{BindAddress: "0"},
		LeaderElection:          true,
		LeaderElectionID:        "reapply",
		LeaderElectionNamespace: namespace,
	})
	if err != nil {
		return err
	}
	database := &unstructured.Unstructured{}
	database.SetAPIVersion("plumbline.dev/v1alpha1")
	database.SetKind("DatabaseService")
	err = ctrl.NewControllerManagedBy(manager).
		Named("reapply").
		For(database).
		Owns(&corev1.ServiceAccount{}).
		Owns(&rbacv1.Role{}).
		Owns(&rbacv1.RoleBinding{}).
		Owns(&corev1.ConfigMap{}).
		Owns(&corev1.Service{}).
		Owns(&appsv1.StatefulSet{}).
		Owns(&policyv1.PodDisruptionBudget{}).
		Owns(&networkingv1.NetworkPolicy{}).
		Owns(&batchv1.CronJob{}).
		Complete(&reapplier{client: manager.GetClient(), objects: objects})
	if err != nil {
		return err
	}
	return manager.Start(ctx)
}
