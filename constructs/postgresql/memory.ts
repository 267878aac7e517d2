import { Quantity } from '../api/quantity.ts';

const nano = 1_000_000_000n;
const mebibyte = 1024 ** 2;

/** Whole bytes of a quantity such as `512Mi`; throws when it is none, which a valid spec never has. */
export function bytesOf(quantity: string | number): number {
  const parsed = Quantity.parse(String(quantity));
  if (parsed === undefined) throw new TypeError(`${quantity} is no quantity: write bytes such as 512Mi`);
  return Number(parsed.nano / nano);
}

/** A quarter of the memory limit, as PostgreSQL's documentation advises for a server of its own. */
export function sharedBuffers(memoryLimit: number): string {
  return megabytes(memoryLimit / 4, 1);
}

/**
 * Size of /dev/shm, where parallel queries share their work: half the memory limit and at least 64 MiB, what container runtimes give. What is
 * written there counts as memory of the container.
 */
export function sharedMemory(memoryLimit: number): string {
  return `${Math.max(64, Math.floor(memoryLimit / 2 / mebibyte))}Mi`;
}

/** WAL between two checkpoints: PostgreSQL's default of 1 GB, or an eighth of a small volume, but never less than two checkpoints need. */
export function maxWalSize(volume: number): string {
  return megabytes(Math.min(volume / 8, 1024 * mebibyte), 96);
}

/**
 * WAL that is kept for replicas without a slot: Patroni's default of 128 MB, or a sixteenth of a small volume. It is counted by the numbers of
 * segments, and each failover begins one anew on a timeline of its own, so that many times as much can stay.
 */
export function walKeepSize(volume: number): string {
  return megabytes(Math.min(volume / 16, 128 * mebibyte), 16);
}

function megabytes(bytes: number, least: number): string {
  return `${Math.max(least, Math.floor(bytes / mebibyte))}MB`;
}
