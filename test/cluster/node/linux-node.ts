import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Admin } from '../admin.ts';
import type { Cluster } from '../cluster.ts';
import type { GuardedProcess } from '../process.ts';
import { StartError } from '../readiness.ts';
import type { Image } from './archive.ts';
import { cgroupName } from './cgroups.ts';
import { cniConfig, containerdConfig } from './containerd.ts';
import { corefile, dnsObjects, dnsUser } from './dns.ts';
import { allowInotify } from './inotify.ts';
import { kubeletArguments, kubeletConfig, kubeProxyArguments, type KubeletSettings } from './kubelet.ts';
import { containerdSocket, nodeFiles, nodeName, type NodeFiles } from './layout.ts';
import { kubeRouterArguments, networkPolicyObjects, networkPolicyUser } from './network-policies.ts';
import type { NodeBinaries } from './parts.ts';
import type { Sandbox } from './sandbox.ts';
import { storageClass } from './storage-class.ts';

const timeoutMs = 120_000;
const pollMs = 50;

/** A container runtime, a kubelet and what belongs to them, in a sandbox. */
export class LinuxNode {
  readonly #sandbox: Sandbox;
  readonly #binaries: NodeBinaries;
  readonly #files: NodeFiles;

  constructor(sandbox: Sandbox, binaries: NodeBinaries, files = nodeFiles(sandbox.folder)) {
    this.#sandbox = sandbox;
    this.#binaries = binaries;
    this.#files = files;
  }

  /** Starts the container runtime, which needs no API server, and waits until it answers. */
  async startRuntime(): Promise<void> {
    const { containerd } = this.#binaries;
    for (const folder of [this.#files.cniFolder, this.#files.kubeletRoot, this.#files.volumes]) mkdirSync(folder);
    writeFileSync(this.#files.containerdConfig, containerdConfig(this.#files, dirname(containerd)));
    writeFileSync(join(this.#files.cniFolder, 'pods.conflist'), cniConfig());
    writeFileSync(this.#files.resolvConf, '');
    // It looks for its shim on the PATH.
    const started = await this.#sandbox.start({
      name: 'containerd',
      command: 'env',
      args: [
        `PATH=${dirname(containerd)}:${process.env['PATH']}`,
        containerd,
        `--config=${this.#files.containerdConfig}`,
      ],
    });
    await until('containerd answers', [started], () => this.#ctr(['version']).then(() => true));
  }

  async loadImage({ archive }: Image): Promise<void> {
    await this.#ctr(['--namespace=k8s.io', 'images', 'import', '--local', '--digests=false', archive]);
  }

  /**
   * Starts everything else and waits until pods can run and find Services.
   * @param volumeCapacityMi what all volumes can have together
   */
  async join(cluster: Cluster, volumeCapacityMi: number): Promise<void> {
    allowInotify();
    const admin = new Admin(cluster.kubeconfig);
    await this.#createObjects(cluster);
    const [kubelet, proxy, dns] = await Promise.all([
      this.#startKubelet(cluster),
      this.#startKubeProxy(cluster),
      this.#startDns(cluster),
    ]);
    await this.#startProvisioner(cluster, volumeCapacityMi);
    await until('the node is ready', [kubelet], () => isNodeReady(admin, cluster.server));
    // It ends when there is no node of its name.
    const router = await this.#startKubeRouter(cluster);
    await Promise.all([
      until('kube-proxy is ready', [proxy], () => this.#answers('http://127.0.0.1:10256/healthz')),
      until('NetworkPolicies are enforced', [router], () => this.#hasRules()),
      until('CoreDNS is ready', [dns], () => this.#answers('http://127.0.0.1:8181/ready')),
    ]);
  }

  async #createObjects(cluster: Cluster): Promise<void> {
    const items = [...dnsObjects(this.#sandbox.nodeAddress), ...networkPolicyObjects(), storageClass()];
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    const { code, stderr } = await cluster.kubectlRun(['create', '--validate=false', '-f', '-'], list);
    if (code !== 0) throw new Error(`The objects of the node are not accepted: ${stderr.trim()}`);
  }

  async #startKubelet(cluster: Cluster): Promise<GuardedProcess> {
    const settings: KubeletSettings = {
      files: this.#files,
      authority: join(cluster.folder, 'ca.crt'),
      address: this.#sandbox.nodeAddress,
      cgroup: cgroupName(cluster.folder),
    };
    writeFileSync(this.#files.kubeletConfig, kubeletConfig(settings));
    const kubeconfig = await cluster.kubeconfigFor(`system:node:${nodeName}`, ['system:nodes']);
    const args = kubeletArguments(settings, kubeconfig);
    return this.#sandbox.start({ name: 'kubelet', command: this.#binaries.kubelet, args });
  }

  async #startKubeProxy(cluster: Cluster): Promise<GuardedProcess> {
    const args = kubeProxyArguments(await cluster.kubeconfigFor('system:kube-proxy'));
    return this.#sandbox.start({ name: 'kube-proxy', command: this.#binaries['kube-proxy'], args });
  }

  async #startDns(cluster: Cluster): Promise<GuardedProcess> {
    writeFileSync(this.#files.corefile, corefile(await cluster.kubeconfigFor(dnsUser), this.#sandbox.nodeAddress));
    const args = ['-conf', this.#files.corefile];
    return this.#sandbox.start({ name: 'coredns', command: this.#binaries.coredns, args });
  }

  async #startKubeRouter(cluster: Cluster): Promise<GuardedProcess> {
    const args = kubeRouterArguments(await cluster.kubeconfigFor(networkPolicyUser));
    return this.#sandbox.start({ name: 'kube-router', command: this.#binaries['kube-router'], args });
  }

  #startProvisioner(cluster: Cluster, capacityMi: number): Promise<GuardedProcess> {
    const script = fileURLToPath(new URL('provisioner.ts', import.meta.url));
    const args = [script, cluster.kubeconfig, cluster.server, this.#files.volumes, String(capacityMi)];
    return this.#sandbox.start({ name: 'provisioner', command: process.execPath, args });
  }

  #ctr(args: readonly string[]): Promise<string> {
    return this.#sandbox.run(this.#binaries.ctr, [`--address=${containerdSocket}`, ...args]);
  }

  async #hasRules(): Promise<boolean> {
    return (await this.#sandbox.run('iptables', ['--list-rules', 'FORWARD'])).includes('KUBE-ROUTER-FORWARD');
  }

  /** Asks inside the node; Node.js can, and nothing else is needed for it. */
  async #answers(url: string): Promise<boolean> {
    const script = `fetch('${url}').then(({ status }) => process.exit(status === 200 ? 0 : 1))`;
    await this.#sandbox.run(process.execPath, ['--eval', script]);
    return true;
  }
}

/** Whether it is, and pods are no longer kept away from it. */
async function isNodeReady(admin: Admin, server: string): Promise<boolean> {
  const { status, body } = await admin.send('GET', `${server}/api/v1/nodes/${nodeName}`);
  if (status !== 200) return false;
  const node = JSON.parse(body) as NodeObject;
  return (
    !node.spec.taints?.length && node.status.conditions.some((one) => one.type === 'Ready' && one.status === 'True')
  );
}

interface NodeObject {
  readonly spec: { readonly taints?: readonly object[] };
  readonly status: { readonly conditions: readonly { readonly type: string; readonly status: string }[] };
}

/** @throws StartError when one of the processes ends, or after two minutes, with the last lines of its log. */
async function until(what: string, behind: readonly GuardedProcess[], isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  let last: unknown;
  while (Date.now() < deadline) {
    for (const { exit, command } of behind) {
      if (exit !== undefined) throw new StartError(`${command.name} ended ${exit}.`, command.log);
    }
    try {
      if (await isTrue()) return;
    } catch (error) {
      last = error;
    }
    await delay(pollMs);
  }
  throw new StartError(`Not within ${timeoutMs / 1000} s: ${what} (${String(last)}).`, behind[0]?.command.log);
}
