import { events } from './database/kinds.ts';
import type { Kube } from './kube/index.ts';
import type { EventSink } from './runtime/event-recorder.ts';

const fieldManager = 'plumbline-events';

/** Writes Kubernetes Events. */
export function kubeEventSink(kube: Kube): EventSink {
  return {
    create: (event) => kube.create({ ...event, metadata: { ...event.metadata } }, { type: events, fieldManager }),
    patch: (name, namespace, body) => kube.patch(events, { name, namespace }, { kind: 'merge', body, fieldManager }),
  };
}
