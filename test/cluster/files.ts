import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAuthority, createSigningKeys, type Authority } from './certificates.ts';
import { kubeconfig } from './kubeconfig.ts';
import { serviceAddress } from './parts.ts';

/** Everyone in this group may do everything, whatever RBAC says. */
export const administrators = 'system:masters';

/** @param groups whose requests are logged; everybody's without */
function auditPolicy(groups: readonly string[] | undefined): string {
  const rules = [{ level: 'Metadata', userGroups: groups }, { level: 'None' }];
  return JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', omitStages: ['RequestReceived'], rules });
}

/**
 * Writes what the parts read at their start into the folder, and returns the authority that signed it.
 *
 * @param auditedGroups whose requests are logged, where an audit log is written; everybody's without
 */
export function writeFiles(
  folder: string,
  server: string,
  address: string,
  auditedGroups?: readonly string[],
): Authority {
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text, { mode: 0o600 });
  const authority = createAuthority('plumbline');
  write('ca.crt', authority.certificate);
  write('ca.key', authority.key);

  const serving = authority.issueServer(
    { commonName: 'kube-apiserver' },
    ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'kubernetes.default.svc.cluster.local'],
    ['127.0.0.1', address, serviceAddress],
  );
  write('server.crt', serving.certificate);
  write('server.key', serving.key);

  const toKubelet = authority.issueClient({ commonName: 'kube-apiserver', organizations: [administrators] });
  write('kubelet-client.crt', toKubelet.certificate);
  write('kubelet-client.key', toKubelet.key);

  const serviceAccounts = createSigningKeys();
  write('service-accounts.pub', serviceAccounts.publicKey);
  write('service-accounts.key', serviceAccounts.privateKey);

  for (const part of ['kube-controller-manager', 'kube-scheduler']) {
    const user = `system:${part}`;
    const client = authority.issueClient({ commonName: user });
    write(`${part}.kubeconfig`, kubeconfig(server, authority.certificate, user, client));
  }
  write('audit-policy.yaml', auditPolicy(auditedGroups));
  return authority;
}
