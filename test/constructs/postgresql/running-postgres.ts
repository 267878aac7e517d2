import { createServer } from 'node:net';
import type { Sandbox } from './sandbox.ts';

/** A real PostgreSQL in a sandbox, with the access rules that are rendered: by socket for the user it runs as, by password for all others. */
export class RunningPostgres {
  readonly port: number;
  readonly #sandbox: Sandbox;
  readonly #started: readonly string[];

  private constructor(sandbox: Sandbox, port: number, started: readonly string[]) {
    this.#sandbox = sandbox;
    this.port = port;
    this.#started = started;
  }

  /** @param more settings, such as `ssl=on` */
  static async start(sandbox: Sandbox, more: readonly string[] = []): Promise<RunningPostgres> {
    const port = await freePort();
    const data = sandbox.path('volume/pgdata');
    must(
      sandbox.run('initdb', ['-D', data, '-U', 'postgres', '--encoding=UTF8', '--locale=C.UTF-8', '-N', '-A', 'trust']),
    );
    sandbox.write(
      'volume/pgdata/pg_hba.conf',
      'local all postgres peer map=local\nlocal all all scram-sha-256\nhost all all all scram-sha-256\n',
    );
    sandbox.write('volume/pgdata/pg_ident.conf', 'local /^.*$ postgres\n');
    const settings = ['-p', String(port), '-k', sandbox.path('socket'), '-c', 'fsync=off', '-c', 'log_statement=all'];
    settings.push(...more.flatMap((setting) => ['-c', setting]));
    const started = ['start', '-w', '-D', data, '-l', sandbox.path('run/log'), '-o', settings.join(' ')];
    must(sandbox.run('pg_ctl', started));
    sandbox.onDispose(() => void sandbox.run('pg_ctl', ['stop', '-D', data, '-m', 'immediate', '-w']));
    return new RunningPostgres(sandbox, port, started);
  }

  stop(): void {
    must(this.#sandbox.run('pg_ctl', ['stop', '-w', '-D', this.#sandbox.path('volume/pgdata'), '-m', 'fast']));
  }

  startAgain(): void {
    must(this.#sandbox.run('pg_ctl', this.#started));
  }

  /** SQL as the superuser over the socket; the first column of the rows. */
  sql(statement: string, database = 'postgres'): readonly string[] {
    const ran = this.#sandbox.run('psql', ['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1'], {
      input: statement,
      env: {
        PGHOST: this.#sandbox.path('socket'),
        PGPORT: String(this.port),
        PGUSER: 'postgres',
        PGDATABASE: database,
      },
    });
    must(ran);
    return ran.output.split('\n').filter((line) => line !== '');
  }

  /** Whether a login over TCP works. */
  canLogIn(username: string, password: string, database = 'postgres'): boolean {
    const env = {
      PGHOST: '127.0.0.1',
      PGPORT: String(this.port),
      PGUSER: username,
      PGPASSWORD: password,
      PGDATABASE: database,
    };
    return this.#sandbox.run('psql', ['-X', '-w', '-c', 'select 1'], { env }).status === 0;
  }

  /** Everything that the server has logged. */
  log(): string {
    return this.#sandbox.run('cat', [this.#sandbox.path('run/log')]).output;
  }
}

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
  const listener = createServer();
  const { promise, resolve } = Promise.withResolvers<void>();
  listener.listen(0, '127.0.0.1', resolve);
  await promise;
  const address = listener.address();
  listener.close();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function must({ status, output }: { readonly status: number | null; readonly output: string }): void {
  if (status !== 0) throw new Error(output);
}
