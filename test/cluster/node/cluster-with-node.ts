import type { Binaries } from '../binaries.ts';
import type { ClusterOptions, ContainerName, NodeCluster } from '../cluster.ts';
import { ControlPlane } from '../control-plane.ts';
import type { Ports } from '../parts.ts';
import type { Guard } from '../process.ts';
import type { Image } from './archive.ts';
import { processesIn } from './cgroups.ts';
import { copyStore } from './image-store.ts';
import { nodeFiles, nodeName } from './layout.ts';
import { LinuxNode } from './linux-node.ts';
import type { NodeBinaries } from './parts.ts';
import { Sandbox } from './sandbox.ts';

const defaultVolumeCapacityMi = 64 * 1024;

/** A control plane and one node. */
export class ClusterWithNode extends ControlPlane implements NodeCluster {
  readonly nodeName = nodeName;
  readonly nodeAddress: string;
  readonly #sandbox: Sandbox;
  readonly #node: LinuxNode;
  readonly #volumeCapacityMi: number;

  private constructor({ binaries, options, ports, guard }: Ingredients, sandbox: Sandbox) {
    super(binaries, options, ports, guard, sandbox.machineAddress);
    this.nodeAddress = sandbox.nodeAddress;
    this.#sandbox = sandbox;
    this.#node = new LinuxNode(sandbox, binaries);
    this.#volumeCapacityMi = options.volumeCapacityMi ?? defaultVolumeCapacityMi;
  }

  static async create(ingredients: Ingredients): Promise<ClusterWithNode> {
    const { binaries, store, guard } = ingredients;
    const sandbox = await Sandbox.create(guard, binaries.pause);
    copyStore(store, nodeFiles(sandbox.folder).containerdRoot);
    return new ClusterWithNode(ingredients, sandbox);
  }

  override async start(): Promise<void> {
    await Promise.all([super.start(), this.#node.startRuntime()]);
    await this.#node.join(this, this.#volumeCapacityMi);
  }

  loadImage(image: Image): Promise<void> {
    return this.#node.loadImage(image);
  }

  async processesOf({ namespace, pod, container }: ContainerName): Promise<readonly number[]> {
    const path = `{.status.containerStatuses[?(@.name=="${container}")].containerID}`;
    const found = await this.kubectlRun(['--namespace', namespace, 'get', 'pod', pod, '-o', `jsonpath=${path}`]);
    const id = found.stdout.split('//')[1];
    if (id === undefined)
      throw new Error(`Pod ${namespace}/${pod} has no container ${container} ${found.stderr.trim()}`);
    return processesIn(this.folder, id);
  }

  runOnNode(command: string, args: readonly string[], stdin?: string): Promise<string> {
    return this.#sandbox.run(command, args, stdin);
  }
}

export interface Ingredients {
  readonly binaries: Binaries & NodeBinaries;
  /** Path of an `imageStore`. */
  readonly store: string;
  readonly options: ClusterOptions;
  readonly ports: Ports;
  readonly guard: Guard;
}
