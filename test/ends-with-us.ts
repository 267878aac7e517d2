import { spawn, type ChildProcess } from 'node:child_process';

/**
 * Asks a process to end as soon as this one has, also when this one is killed: our end of a pipe is then closed, and whoever reads the other end
 * sees to it. Until then the process is an ordinary child.
 */
export function endsWithUs(child: ChildProcess): void {
  const script = 'cat >/dev/null; kill -TERM "$1"';
  const watcher = spawn('sh', ['-c', script, 'sh', String(child.pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // A group of its own: whoever interrupts ours has not ended this process yet, and the watcher must see its end.
    detached: true,
  });
  watcher.unref();
  // Its number may be another process's by then.
  child.once('exit', () => watcher.kill('SIGKILL'));
}
