import type { ReflectorReport } from './kube/index.ts';
import type { Logger } from './runtime/logger.ts';

/** Logs what a watch tells. @param watch the kind that is watched */
export function tellOfWatch(log: Logger, watch: string, report: ReflectorReport): void {
  switch (report.kind) {
    case 'handler-failed':
      return log.error({ watch, key: report.key, err: report.error }, 'a change could not be taken in');
    case 'request-failed':
      return log.warn({ watch, doing: report.doing, err: report.error }, 'a watch was interrupted');
    case 'version-backwards':
      return log.warn({ watch, ...report }, 'the version of the API server went back, as after a restored backup');
    case 'watch-silent':
    case 'waiting':
      return log.debug({ watch, ...report }, 'a watch is opened again');
  }
}
