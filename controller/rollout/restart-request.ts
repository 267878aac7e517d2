/**
 * What a member is asked to restart its server by. One that was asked as a replica does not restart as the primary that it may have become
 * meanwhile: that has to hand over first. Its steward reads it: `settings.py`.
 *
 * @param token names the need
 */
export function restartRequest(token: string, isReplica: boolean): string {
  return isReplica ? `${token}-replica` : token;
}
