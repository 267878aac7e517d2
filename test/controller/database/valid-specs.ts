import fc from 'fast-check';
import { validateResource } from '../../../constructs/api/validate.ts';

const labels = fc.dictionary(fc.constantFrom('app', 'team', 'example.com/tier'), fc.constantFrom('a', 'web', ''), {
  maxKeys: 2,
});
const peer = fc.oneof(
  fc.record({ podSelector: fc.record({ matchLabels: labels }) }),
  fc.record({ namespaceSelector: fc.record({ matchLabels: labels }), podSelector: fc.constant({}) }),
  fc.record({ ipBlock: fc.record({ cidr: fc.constantFrom('10.0.0.0/8', 'fd00::/8') }) }),
);
const amount = (...amounts: readonly (string | number)[]) => fc.constantFrom(...amounts);
const toleration = fc.oneof(
  fc.constant({ operator: 'Exists' }),
  fc.record({
    key: fc.constantFrom('pool', 'example.com/only'),
    operator: fc.constant('Equal'),
    value: fc.constantFrom('db', ''),
    effect: fc.constantFrom('NoSchedule', 'NoExecute'),
  }),
);

/** Whatever may be said in a spec, except what never changes of a database: its storage. */
export const validSpecs: fc.Arbitrary<Record<string, unknown>> = fc
  .record(
    {
      version: fc.constantFrom('17', '17.9', '16', '18'),
      replicas: fc.integer({ min: 1, max: 3 }),
      durability: fc.constantFrom('Async', 'Sync', 'SyncStrict'),
      parameters: fc.dictionary(
        fc.constantFrom('work_mem', 'max_connections', 'log_min_duration_statement', 'shared_buffers'),
        fc.constantFrom('64', '100', '128'),
      ),
      resources: fc.record(
        {
          requests: fc.record(
            { cpu: amount('250m', '0.25', 1, '1000m', '1.5'), memory: amount('512Mi', '536870912', '0.5Gi', '1G') },
            { requiredKeys: [] },
          ),
          limits: fc.record(
            { cpu: amount(2, '2', '2500m'), memory: amount('4Gi', '4096Mi', '4e9') },
            { requiredKeys: [] },
          ),
        },
        { requiredKeys: [] },
      ),
      scheduling: fc.record(
        {
          spreadBy: fc.constantFrom('kubernetes.io/hostname', 'topology.kubernetes.io/zone'),
          nodeSelector: labels,
          tolerations: fc.array(toleration, { maxLength: 2 }),
        },
        { requiredKeys: [] },
      ),
      access: fc.record({ from: fc.array(peer, { maxLength: 3 }) }),
      monitoring: fc.record(
        { enabled: fc.boolean(), from: fc.array(peer, { minLength: 1, maxLength: 2 }) },
        { requiredKeys: ['enabled'] },
      ),
      tls: fc.record({ mode: fc.constantFrom('Off', 'Generated') }),
      backup: fc.record(
        {
          schedule: fc.constantFrom('30 2 * * *', '@daily', '*/5 1-3 * * mon'),
          timeZone: fc.constantFrom('Europe/Berlin', 'UTC'),
          suspend: fc.boolean(),
          retention: fc.record({ keep: fc.integer({ min: 1, max: 9 }) }),
          volume: fc.constant({ size: '1Gi' }),
        },
        { requiredKeys: ['schedule', 'volume'] },
      ),
      upgrade: fc.record({ rollout: fc.constantFrom('Managed', 'StatefulSet') }),
    },
    { requiredKeys: [] },
  )
  .map(({ upgrade, ...spec }) => ({ ...spec, upgrade: { healthTimeoutSeconds: 86_400, ...upgrade } }))
  .filter((spec) => problems(spec).length === 0);

/** Two specs, each of which a database of the other may be given. */
export const pairsOfSpecs: fc.Arbitrary<readonly [Record<string, unknown>, Record<string, unknown>]> = fc
  .tuple(validSpecs, validSpecs)
  .map(([a, { version: _, ...b }]) => [a, 'version' in a ? { ...b, version: a['version'] } : b] as const)
  .filter(([a, b]) => problems(b, a).length + problems(a, b).length === 0);

/** A spec with what each has to say. */
export function wholeOf(spec: object): Readonly<Record<string, unknown>> {
  return { engine: 'postgresql', version: '17', storage: { size: '1Gi' }, ...spec };
}

function problems(spec: object, before?: object): readonly unknown[] {
  return validateResource(resource(spec), before && resource(before));
}

function resource(spec: object): object {
  const metadata = { name: 'orders', namespace: 'shop' };
  return { apiVersion: 'plumbline.dev/v1alpha1', kind: 'DatabaseService', metadata, spec: wholeOf(spec) };
}
