import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Admin } from './admin.ts';
import type { Binaries } from './binaries.ts';
import type { Authority, KeyPair } from './certificates.ts';
import type { Cluster, ClusterOptions } from './cluster.ts';
import { collectsSeldom } from './collects-seldom.ts';
import { administrators, writeFiles } from './files.ts';
import { writeStopScript } from './folder.ts';
import { kubeconfig } from './kubeconfig.ts';
import { runKubectl, type KubectlResult } from './kubectl.ts';
import { serviceAccountUrl } from './namespace.ts';
import { allParts, argumentsOf, type Layout, type Part, type Ports } from './parts.ts';
import type { Guard, GuardedProcess } from './process.ts';
import { untilReady } from './readiness.ts';

// Enough for requests under way. It would wait a minute for watches to end by themselves; what it has acknowledged is in etcd.
const apiServerGraceMs = 500;

/** The parts of one cluster, and what is done with them. `startCluster` makes it. */
export class ControlPlane implements Cluster {
  readonly server: string;
  readonly kubeconfig: string;
  readonly kubectl: string;
  readonly folder: string;
  readonly parts: readonly Part[];
  readonly auditLogPath: string | undefined;
  readonly stopScript: string | undefined;
  readonly #admin: Admin;
  readonly #binaries: Binaries;
  readonly #layout: Layout;
  readonly #guard: Guard;
  readonly #authority: Authority;
  readonly #running = new Map<Part, GuardedProcess>();
  #users = 0;

  /** @param address of this machine, at which the API server is reached. Without a node, nobody but this machine needs to. */
  constructor(binaries: Binaries, options: ClusterOptions, ports: Ports, guard: Guard, address = '127.0.0.1') {
    const isWanted: Record<Part, boolean> = {
      etcd: true,
      'kube-apiserver': true,
      'kube-controller-manager': options.controllerManager ?? true,
      'kube-scheduler': options.scheduler ?? true,
    };
    this.#binaries = binaries;
    this.#guard = guard;
    this.folder = guard.folder;
    this.kubectl = binaries.kubectl;
    this.server = `https://${address}:${ports.apiServer}`;
    this.parts = allParts.filter((part) => isWanted[part] && binaries[part] !== undefined);
    const { auditLog = false } = options;
    this.auditLogPath = auditLog === false ? undefined : join(this.folder, 'audit.log');
    this.stopScript = options.keep === true ? writeStopScript(this.folder, guard.pid) : undefined;
    this.#layout = {
      folder: this.folder,
      address,
      ports,
      hasControllerManager: this.parts.includes('kube-controller-manager'),
      auditLogPath: this.auditLogPath,
      apiServerFlags: options.apiServerFlags ?? [],
      controllerManagerFlags: options.controllerManagerFlags ?? [],
      crds: options.crds ?? [],
    };
    const audited = typeof auditLog === 'object' ? auditLog.groups : undefined;
    this.#authority = writeFiles(this.folder, this.server, address, audited);
    const user = 'plumbline-admin';
    const client = this.#authority.issueClient({ commonName: user, organizations: [administrators] });
    this.kubeconfig = this.#writeKubeconfig('admin.kubeconfig', user, client);
    this.#admin = new Admin(this.kubeconfig);
  }

  /** Starts all parts and waits until they are ready and serve the first ServiceAccount. */
  async start(): Promise<void> {
    await this.#run('etcd');
    await this.#run('kube-apiserver');
    await this.#untilReady('kube-apiserver');
    await this.#installCrds();
    // Not earlier: they would be forbidden to do anything before RBAC's own roles exist, and try again only seconds later.
    const others = this.parts.filter((part) => part === 'kube-controller-manager' || part === 'kube-scheduler');
    for (const part of others) await this.#run(part);
    await Promise.all(others.map((part) => this.#untilReady(part)));
    if (!this.#layout.hasControllerManager) return;
    const url = serviceAccountUrl(this.server, 'default');
    await untilReady(this.#admin, url, [this.#process('kube-controller-manager'), this.#process('kube-apiserver')]);
  }

  async #installCrds(): Promise<void> {
    const files = this.#layout.crds;
    if (files.length === 0) return;
    const { code, stderr } = await this.kubectlRun([
      'apply',
      '--server-side',
      ...files.map((file) => `--filename=${file}`),
    ]);
    if (code !== 0) throw new Error(`The CustomResourceDefinitions are not accepted: ${stderr.trim()}`);
    for (let tries = 0; !(await this.#areCrdsServed()); tries += 1) {
      if (tries === 600) throw new Error('The CustomResourceDefinitions are not served within 30 seconds.');
      await delay(50);
    }
  }

  /** Not by `kubectl wait`, which fails while a CustomResourceDefinition has no conditions yet. */
  async #areCrdsServed(): Promise<boolean> {
    const { body } = await this.#admin.send(
      'GET',
      `${this.server}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`,
    );
    const { items } = JSON.parse(body) as { items: { status?: { conditions?: { type: string; status: string }[] } }[] };
    return items.every(({ status }) =>
      status?.conditions?.some((one) => one.type === 'Established' && one.status === 'True'),
    );
  }

  kubectlRun(args: readonly string[], stdin?: string): Promise<KubectlResult> {
    return runKubectl(this.kubectl, this.kubeconfig, this.folder, args, stdin);
  }

  async kubeconfigFor(user: string, groups: readonly string[] = []): Promise<string> {
    this.#users += 1;
    const client = this.#authority.issueClient({ commonName: user, organizations: groups });
    return this.#writeKubeconfig(`user-${this.#users}.kubeconfig`, user, client);
  }

  async restartApiServer({ downMs = 0 }: { readonly downMs?: number } = {}): Promise<void> {
    await this.stopApiServer();
    await delay(downMs);
    await this.startApiServer();
  }

  async stopApiServer(): Promise<void> {
    await this.#guard.end(this.#process('kube-apiserver'), apiServerGraceMs);
  }

  async startApiServer(): Promise<void> {
    if (this.#process('kube-apiserver').exit === undefined) return;
    await this.#run('kube-apiserver');
    await this.#untilReady('kube-apiserver');
  }

  logs(part: Part): string {
    return join(this.folder, `${part}.log`);
  }

  async stop(): Promise<void> {
    await this.#guard.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.stopScript === undefined) await this.stop();
  }

  async #run(part: Part): Promise<void> {
    const command = this.#binaries[part];
    if (command === undefined) throw new Error(`There is no ${part} to start.`);
    const args = argumentsOf(part, this.#layout);
    const process = await this.#guard.run({
      name: part,
      command,
      args,
      cwd: this.folder,
      environment: collectsSeldom,
      log: this.logs(part),
    });
    this.#running.set(part, process);
  }

  async #untilReady(part: Part): Promise<void> {
    const { ports } = this.#layout;
    const started = this.#process(part);
    switch (part) {
      case 'etcd':
        // Its readiness is part of the API server's.
        return;
      case 'kube-apiserver':
        return untilReady(this.#admin, `${this.server}/readyz`, [started, this.#process('etcd')]);
      case 'kube-controller-manager':
        return untilReady(this.#admin, `https://127.0.0.1:${ports.controllerManager}/healthz`, [started]);
      case 'kube-scheduler':
        return untilReady(this.#admin, `https://127.0.0.1:${ports.scheduler}/readyz`, [started]);
    }
  }

  #process(part: Part): GuardedProcess {
    const process = this.#running.get(part);
    if (process === undefined) throw new Error(`${part} was not started.`);
    return process;
  }

  #writeKubeconfig(name: string, user: string, client: KeyPair): string {
    const path = join(this.folder, name);
    writeFileSync(path, kubeconfig(this.server, this.#authority.certificate, user, client), { mode: 0o600 });
    return path;
  }
}
