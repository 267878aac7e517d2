import { expiringTime } from '../certificates/lifetime.ts';
import { timestamp } from '../kube/index.ts';
import type { Verdict } from './judge.ts';
import type { ServedCertificate } from './served-certificate.ts';

/** What TLS is judged by: what the members serve, and not what the Secret holds. */
export interface TlsSeen {
  /** Name of the Secret with the certificate; undefined where TLS is off. */
  readonly secret: string | undefined;
  /** In the order of their names. */
  readonly members: readonly { readonly name: string; readonly served: ServedCertificate | undefined }[];
  /** Milliseconds of the wall clock. */
  readonly now: number;
}

export interface TlsVerdict {
  readonly verdict: Verdict;
  /** When it becomes another one by itself, in milliseconds of the wall clock. */
  readonly turnsAt: number | undefined;
}

/** Judges whether a database serves a certificate that clients can rely on. Pure; there is exactly one reason. */
export function judgeTls({ secret, members, now }: TlsSeen): TlsVerdict {
  if (secret === undefined)
    return lasting({ holds: false, reason: 'TlsOff', message: 'tls.mode is Off: nothing is encrypted.' });
  const ill = members.find(({ served }) => served?.problem !== undefined);
  if (ill !== undefined) return lasting(unusable(secret, ill.name, ill.served));
  const [first] = members
    .flatMap(({ name, served }) => (served?.lifetime === undefined ? [] : [{ name, lifetime: served.lifetime }]))
    .sort((a, b) => a.lifetime.notAfter - b.lifetime.notAfter);
  if (first === undefined) return lasting(pending);
  const { name, lifetime } = first;
  const end = timestamp(lifetime.notAfter);
  const expiring = expiringTime(lifetime);
  if (now >= expiring) {
    const message = `The certificate that ${name} serves ends at ${end}, and Secret ${secret} has brought no later one: put a new pair into it.`;
    return lasting({ holds: false, reason: 'CertificateExpiring', message });
  }
  const message = `The members serve the certificate of Secret ${secret}; the first to end does so at ${end}.`;
  return { verdict: { holds: true, reason: 'CertificateServed', message }, turnsAt: expiring };
}

const pending: Verdict = {
  holds: false,
  reason: 'CertificatePending',
  message: 'No member has said yet which certificate it serves.',
};

function unusable(secret: string, member: string, served: ServedCertificate | undefined): Verdict {
  const effect = served?.lifetime === undefined ? 'nothing is served' : 'the certificate before stays in service';
  const message = `Secret ${secret}, on ${member}: ${served?.problem}; ${effect}.`;
  return { holds: false, reason: 'CertificateUnusable', message };
}

function lasting(verdict: Verdict): TlsVerdict {
  return { verdict, turnsAt: undefined };
}
