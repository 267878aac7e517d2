import { Type, type Static } from 'typebox';
import type { DeepReadonly } from './deep-readonly.ts';
import { Enum } from './kubernetes-schema.ts';
import { conditions, count, text, time } from './status-fields.ts';

export const phases = ['Pending', 'Provisioning', 'Running', 'Updating', 'Degraded', 'Failed', 'Deleting'] as const;
export type Phase = (typeof phases)[number];

const Receipt = Type.Object(
  {
    time: time('When it was seen.'),
    object: text('The object, such as StatefulSet/orders; of an edit in Git File/ and the path in the repository.'),
    field: text('The field, such as spec.template.spec.containers[name=postgres].image; empty for the whole object.'),
    was: Type.Optional(text('The value that Plumbline states.')),
    now: Type.Optional(text('The value that was found; absent where it was removed.')),
    manager: text(
      'The field manager that changed it; unknown for a removal or deletion. In Git the author of the commit.',
    ),
    operation: text('Apply, Update, Create, Delete or Remove; in Git Commit and its hash.'),
    action: Enum(['Corrected', 'Reported'], { description: 'What was done.' }),
    cost: Type.Optional(
      text('Whom it restarts to put it back, in a sentence; absent where the pods are not concerned.'),
    ),
  },
  { description: 'One change by somebody else.' },
);

/** The status of a DatabaseService. Nothing that is acted upon lives here alone: it can be lost. */
export const Status = Type.Object(
  {
    observedGeneration: Type.Optional(count('The generation of the spec that this status speaks of.')),
    phase: Type.Optional(Enum(phases, { description: 'The state in one word, for people; programs read conditions.' })),
    conditions: Type.Optional(
      conditions(
        'Ready, Available, Progressing, Degraded, Stalled, Drifted, Paused, StorageCritical, TlsReady or BackupCurrent; with delivery to Git Committed, and with delivery.apply false Synced.',
      ),
    ),
    replicas: Type.Optional(count('Members that exist.')),
    readyReplicas: Type.Optional(count('Members that are ready.')),
    ready: Type.Optional(text('Ready of wanted members, such as 2/3.', 16)),
    selector: Type.Optional(text('Label selector of the members, for the scale subresource.')),
    primary: Type.Optional(text('Pod of the primary.', 253)),
    endpoints: Type.Optional(
      Type.Object(
        {
          readWrite: text('Host and port of the primary.'),
          readOnly: Type.Optional(text('Host and port of the replicas.')),
        },
        { description: 'Where to connect.' },
      ),
    ),
    credentialsSecret: Type.Optional(text('The Secret with username, password and uri.', 253)),
    drift: Type.Optional(
      Type.Object(
        {
          corrected: count('Changes by others that were put back so far.'),
          receipts: Type.Optional(
            Type.Array(Receipt, {
              description: 'The last changes by others, newest first.',
              maxItems: 10,
              'x-kubernetes-list-type': 'atomic',
            }),
          ),
        },
        { description: 'Changes by others to what Plumbline states.' },
      ),
    ),
    pausedUntil: Type.Optional(time('Until when no drift is corrected; absent where that is not asked for or over.')),
    backup: Type.Optional(
      Type.Object(
        {
          lastSuccessTime: Type.Optional(time('When the last good backup ended; absent where none is known.')),
          dueTime: Type.Optional(
            time('When the first backup is or was due that has not ended yet; absent while they are suspended.'),
          ),
          schedule: text('The schedule and the time zone that dueTime is reckoned by.'),
        },
        { description: 'How backups stand; absent where spec.backup is not set.' },
      ),
    ),
    git: Type.Optional(
      Type.Object(
        { commit: text('The last commit.', 64), path: text('The folder in the repository.') },
        { description: 'What was delivered to Git.' },
      ),
    ),
    lastReconcileTime: Type.Optional(time('When this status changed last.')),
  },
  { description: 'What the database is. Written by the controller alone.' },
);

export type DatabaseServiceStatus = DeepReadonly<Static<typeof Status>>;
export type StatusCondition = NonNullable<DatabaseServiceStatus['conditions']>[number];
export type DriftReceipt = NonNullable<NonNullable<DatabaseServiceStatus['drift']>['receipts']>[number];
