import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { controllerName } from '../../constructs/install/settings.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { auditedRequests, userOf, type AuditedRequest } from '../constructs/install/audit-log.ts';
import { rightsUsed, type Right } from '../constructs/install/right.ts';

/** Where the processes of a whole run leave what controllers have asked for. Not set where tests are run by themselves: then nobody asks for it. */
export const folderVariable = 'PLUMBLINE_TEST_RIGHTS';

/** The accounts of controllers: of one that is installed, and of one in a process of tests. */
const users = [userOf('plumbline-system', controllerName), userOf('plumbline-tests', 'controller')];

/** What the controllers on one cluster made use of, and what they were refused. */
export interface RightsRecord {
  readonly used: readonly Right[];
  readonly refused: readonly Right[];
}

/** Leaves what was asked for on a cluster that has come to its end; nothing where no run wants to know. */
export function leaveRecord(cluster: Cluster, folder = process.env[folderVariable]): void {
  if (folder === undefined) return;
  const record = recordOf(users.map((user) => auditedRequests(cluster, user)));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${basename(cluster.folder)}.json`), JSON.stringify(record));
}

/** @param requestsOfUsers each user's by itself */
export function recordOf(requestsOfUsers: readonly (readonly AuditedRequest[])[]): RightsRecord {
  // Not what a test asks for with such an account by kubectl.
  const all = requestsOfUsers.map((requests) => requests.filter(({ userAgent }) => userAgent.startsWith('plumbline/')));
  return {
    used: [...rightsUsed(all.flat().filter(({ isDenied }) => !isDenied))],
    refused: [...rightsUsed(all.flatMap(refusedThroughout))],
  };
}

/** What a user was refused and had not been granted in the same place: when Plumbline is uninstalled, its rights go before its pods do. */
function refusedThroughout(requests: readonly AuditedRequest[]): readonly AuditedRequest[] {
  const place = ({ verb, apiGroup, resource, namespace }: AuditedRequest): string =>
    [verb, apiGroup, resource, namespace].join(' ');
  const granted = new Set(requests.filter(({ isDenied }) => !isDenied).map(place));
  return requests.filter((request) => request.isDenied && !granted.has(place(request)));
}

/** What all processes of a run have left. */
export function readRecords(folder: string): readonly RightsRecord[] {
  return readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as RightsRecord);
}
