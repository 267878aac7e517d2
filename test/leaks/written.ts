import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mark } from './mark.ts';

const prefix = Buffer.from('/registry/');
const longestKey = 512;

/**
 * Keys of the objects with a password in them, such as `/registry/secrets/shop/orders-system`, in any state in which they ever were: etcd's log of writes
 * has them all, of what was deleted and of what was there for a moment. In it, as in its protocol, the value follows the key.
 *
 * @param folder of the cluster
 */
export function writtenWith(mark: Mark, folder: string): ReadonlySet<string> {
  const log = join(folder, 'etcd/member/wal');
  const keys = new Set<string>();
  for (const name of readdirSync(log).filter((file) => file.endsWith('.wal'))) {
    const bytes = readFileSync(join(log, name));
    for (const offset of mark.offsetsIn(bytes)) keys.add(keyBefore(bytes, offset));
  }
  return keys;
}

function keyBefore(bytes: Buffer, offset: number): string {
  const begin = bytes.lastIndexOf(prefix, offset);
  if (begin === -1) return 'nobody knows where';
  return /^[\w./:-]+/.exec(bytes.toString('latin1', begin, begin + longestKey))?.[0] ?? '';
}
