import { join } from 'node:path';
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { TestContext } from 'node:test';
import type { Clock } from '../../../../controller/kube/clock.ts';
import type { GitSubmission } from '../../../../controller/delivery/git/submission.ts';
import { GitWriter, type GitWriterOptions } from '../../../../controller/delivery/git/writer.ts';
import { Remote } from './remote.ts';

/** Sleeps take no time, so that tests wait for git alone. */
export const impatientClock: Clock = {
  now: () => Date.UTC(2026, 0, 1),
  sleep: async () => {
    await setImmediate();
  },
};

/** Sleeps take their time and, other than those of the system's clock, keep the test alive. */
export const patientClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) => setTimeout(ms, undefined, { signal }),
};

export function givenRemote(context: TestContext): Remote {
  const remote = new Remote();
  context.after(() => remote.remove());
  return remote;
}

/** A started writer that is stopped with the test. */
export async function givenWriter(
  context: TestContext,
  remote: Remote,
  options: Partial<GitWriterOptions> = {},
): Promise<GitWriter> {
  const writer = new GitWriter({
    url: remote.url,
    branch: 'main',
    cluster: 'prod',
    directory: join(remote.root, 'clone'),
    clock: impatientClock,
    ...options,
  });
  await writer.start();
  context.after(() => writer.stop());
  return writer;
}

/** A small manifest as Plumbline renders it. */
export function manifest(kind: string, name: string, image = '17'): string {
  return `apiVersion: v1
kind: ${kind}
metadata:
  labels:
    app.kubernetes.io/managed-by: plumbline
  name: ${name}
spec:
  image: "${image}"
`;
}

export function submission(name: string, files: Record<string, string> | undefined, generation = 1): GitSubmission {
  return {
    namespace: 'shop',
    name,
    files: files === undefined ? undefined : new Map(Object.entries(files)),
    change: { generation, summary: [`generation ${generation}`] },
  };
}

/** A StatefulSet and a Service. */
export function database(name: string, image = '17', generation = 1): GitSubmission {
  return submission(
    name,
    {
      [`StatefulSet.${name}.yaml`]: manifest('StatefulSet', name, image),
      [`Service.${name}.yaml`]: manifest('Service', name),
    },
    generation,
  );
}
