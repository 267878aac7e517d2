import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { serveHttps } from '../../controller/delivery/git/https-server.ts';
import { filesOf } from './fleet.ts';

type Server = Awaited<ReturnType<typeof serveHttps>>;

const run = promisify(execFile);

/** Repositories behind one HTTPS server, in a temporary folder. */
export class Grounds {
  readonly root: string;
  readonly windowMs = 1000;
  readonly login = 'plumbline:s3cr3t';
  readonly authorityFile: string;
  readonly #server: Server;
  #received = 0;

  private constructor(root: string, server: Server) {
    this.root = root;
    this.#server = server;
    this.authorityFile = join(root, 'authority.pem');
    writeFileSync(this.authorityFile, server.authority);
    server.onRequest = (request) => {
      if (!request.url?.endsWith('/git-receive-pack')) return;
      request.on('data', (chunk: Buffer) => (this.#received += chunk.length));
    };
  }

  static async open(): Promise<Grounds> {
    const root = mkdtempSync(join(tmpdir(), 'plumbline-bench-'));
    return new Grounds(root, await serveHttps(root, 'plumbline:s3cr3t'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop();
    rmSync(this.root, { recursive: true, force: true });
  }

  url(repository: string): string {
    return this.#server.url.replace(/[^/]+$/, `${repository}.git`);
  }

  path(repository: string): string {
    return join(this.root, `${repository}.git`);
  }

  /** Bytes that were pushed so far, to all repositories. */
  get received(): number {
    return this.#received;
  }

  /** A git command. It does not wait for it, since the server is in this process. */
  async git(directory: string, ...args: string[]): Promise<string> {
    const token = Buffer.from(this.login).toString('base64');
    const settings = {
      'http.sslCAInfo': this.authorityFile,
      'http.extraHeader': `Authorization: Basic ${token}`,
      'user.name': 'Some Body',
      'user.email': 'somebody@example.org',
      'gc.auto': '0',
      'maintenance.auto': 'false',
    };
    const pairs = Object.entries(settings).flatMap(([key, value], i) => [
      [`GIT_CONFIG_KEY_${i}`, key],
      [`GIT_CONFIG_VALUE_${i}`, value],
    ]);
    const env = {
      PATH: process.env['PATH'],
      HOME: this.root,
      GIT_CONFIG_NOSYSTEM: '1',
      LC_ALL: 'C',
      GIT_CONFIG_COUNT: String(pairs.length / 2),
      ...Object.fromEntries(pairs),
    };
    const { stdout } = await run('git', args, { cwd: directory, env, maxBuffer: 2 ** 30 });
    return stdout;
  }

  /** A repository with so many databases in its branch, made without a work tree. */
  async repository(name: string, databases: number): Promise<void> {
    await this.git(this.root, 'init', '--quiet', '--bare', '--initial-branch=main', this.path(name));
    await this.git(this.path(name), 'config', 'http.receivepack', 'true');
    const importer = spawn('git', ['fast-import', '--quiet'], {
      cwd: this.path(name),
      stdio: ['pipe', 'inherit', 'inherit'],
    });
    const exit = once(importer, 'exit');
    const write = async (text: string): Promise<void> => {
      if (!importer.stdin.write(text)) await once(importer.stdin, 'drain');
    };
    await write('commit refs/heads/main\ncommitter Some Body <somebody@example.org> 0 +0000\ndata 3\nall\n');
    for (let index = 0; index < databases; index++) {
      for (const [path, content] of filesOf(index, 1)) {
        await write(`M 100644 inline ${path}\ndata ${Buffer.byteLength(content)}\n${content}\n`);
      }
    }
    importer.stdin.end();
    const [code] = await exit;
    if (code !== 0) throw new Error(`git fast-import ended with ${code}`);
  }

  /** The same once more, under another name. */
  async copy(from: string, to: string): Promise<void> {
    await this.git(this.root, 'clone', '--quiet', '--bare', '--no-hardlinks', this.path(from), this.path(to));
    await this.git(this.path(to), 'config', 'http.receivepack', 'true');
  }
}
