import { stringify } from 'yaml';
import type { KeyPair } from './certificates.ts';

/** The text of a kubeconfig with one context, `plumbline`, and everything it needs inside. */
export function kubeconfig(server: string, authority: string, user: string, client: KeyPair): string {
  return stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'plumbline', cluster: { server, 'certificate-authority-data': base64(authority) } }],
      users: [
        {
          name: user,
          user: { 'client-certificate-data': base64(client.certificate), 'client-key-data': base64(client.key) },
        },
      ],
      contexts: [{ name: 'plumbline', context: { cluster: 'plumbline', user } }],
      'current-context': 'plumbline',
    },
    { lineWidth: 0 },
  );
}

/** What a TLS client needs, as PEM, under the names that node:tls gives it. */
export interface Credentials {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** The credentials in the text of a kubeconfig that `kubeconfig()` wrote. */
export function readKubeconfig(text: string): Credentials {
  const data = (name: string): string => {
    const match = new RegExp(`${name}: (\\S+)`).exec(text);
    if (match?.[1] === undefined) throw new Error(`The kubeconfig has no ${name}.`);
    return Buffer.from(match[1], 'base64').toString();
  };
  return {
    ca: data('certificate-authority-data'),
    cert: data('client-certificate-data'),
    key: data('client-key-data'),
  };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
