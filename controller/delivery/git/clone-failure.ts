import { GitDeliveryError } from './git-delivery-error.ts';
import { failureOf } from './remote-failure.ts';

/** Whether git itself ended with a failure that has no reason of its own. */
export function isFailure(error: unknown): error is GitDeliveryError {
  return error instanceof GitDeliveryError && error.reason === 'GitFailed';
}

/** What needs no network can only fail because the copy is damaged. @throws GitDeliveryError CloneBroken */
export async function atHand<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw isFailure(error) ? broken(error.message) : error;
  }
}

/** Names what the file system says. */
export async function onDisk<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof GitDeliveryError) throw error;
    const words = error instanceof Error ? error.message : String(error);
    const { reason, remedy } = failureOf(words, false);
    throw remedy === undefined ? broken(words) : new GitDeliveryError(reason, `${words}. ${remedy}`);
  }
}

export function broken(words: string): GitDeliveryError {
  const advice = 'It is made anew at the next try; see whether its folder is writable and the disk has room.';
  return new GitDeliveryError('CloneBroken', `Plumbline's copy of the Git repository is damaged (${words}). ${advice}`);
}
