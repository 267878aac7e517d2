import { createHash } from 'node:crypto';

/** The name that git gives to a file's content, so that what is in a tree is compared without reading it. */
export function blobId(content: string): string {
  return createHash('sha1')
    .update(`blob ${Buffer.byteLength(content)}\0`)
    .update(content)
    .digest('hex');
}
