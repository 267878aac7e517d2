import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { median, quantile, type Figures, type Result } from './figures.ts';
import { DeliveryProcess } from './git/delivery-process.ts';
import { filesOf } from './git/fleet.ts';
import { ForeignWriter } from './git/foreign-writer.ts';
import { Grounds } from './git/grounds.ts';
import { PlainGit } from './git/plain-git.ts';

type Progress = (line: string) => void;

const rounds = 3;
const singles = 20;
/** For plain git each looks at every file of the work tree. */
const plainSingles = 5;
const changesPerSecond = 5;

/**
 * The delivery to Git, from changed specs to the pushed commit, to a real server over HTTPS: many databases at once, one in a repository of ten times
 * as many, and a while of changes beside others on the same branch. The API server has no part in it.
 *
 * @param databases the while is 10 minutes for 1,000 of them, and in proportion
 */
export async function git(progress: Progress, databases = 1000): Promise<readonly Result[]> {
  await using grounds = await Grounds.open();
  const many = await changeMany(grounds, progress, databases);
  const large = databases * 10;
  progress(`a repository of ${large} databases is made`);
  await grounds.repository('large', large);
  await grounds.copy('large', 'large-plain');
  const directory = join(grounds.root, 'copy-of-large');
  const delivery = await DeliveryProcess.start(grounds, 'large', directory);
  try {
    const one = await changeOne(grounds, progress, delivery, large);
    const seconds = Math.max(20, databases * 0.6);
    const beside = await changeBeside(grounds, progress, delivery, { large, seconds, directory });
    return [many, one, beside];
  } finally {
    await delivery.stop();
  }
}

async function changeMany(grounds: Grounds, progress: Progress, databases: number): Promise<Result> {
  progress(`${databases} databases at once, ${rounds} times, and by plain git`);
  await grounds.repository('many', databases);
  await grounds.copy('many', 'many-plain');
  const plain = await PlainGit.clone(grounds, 'many-plain');
  const delivery = await DeliveryProcess.start(grounds, 'many', join(grounds.root, 'copy-of-many'));
  const indexes = Array.from({ length: databases }, (_, index) => index);
  const ours: number[] = [];
  const floors: number[] = [];
  let [sent, sentByPlain, commits, peakMiB] = [0, 0, 0, 0];
  try {
    await delivery.change(indexes, 1);
    for (let version = 2; version < 2 + rounds; version++) {
      const before = grounds.received;
      const report = await delivery.change(indexes, version);
      sent += grounds.received - before;
      ours.push(report.ms);
      ({ commits, peakMiB } = report);
      const beforePlain = grounds.received;
      floors.push(await plain.change(indexes, version));
      sentByPlain += grounds.received - beforePlain;
    }
  } finally {
    await delivery.stop();
  }
  const [seconds, floor] = [median(ours) / 1000, median(floors) / 1000];
  return {
    figures: {
      databases,
      changedSeconds: seconds,
      windowSeconds: grounds.windowMs / 1000,
      plainGitSeconds: floor,
      beyondWindowToPlainGit: (seconds - grounds.windowMs / 1000) / floor,
      commitsPerChange: commits / rounds,
      sentKiB: sent / rounds / 1024,
      sentKiBByPlainGit: sentByPlain / rounds / 1024,
      peakMiB,
    },
    targets: { beyondWindowToPlainGit: 2 },
  };
}

async function changeOne(
  grounds: Grounds,
  progress: Progress,
  delivery: DeliveryProcess,
  large: number,
): Promise<Result> {
  progress('as a controller that starts, it finds that nothing has changed');
  const known = await delivery.change(
    Array.from({ length: large }, (_, index) => index),
    1,
  );
  progress(`one database, ${singles} times, and by plain git`);
  const plain = await PlainGit.clone(grounds, 'large-plain');
  const beyond: number[] = [];
  const floors: number[] = [];
  for (let i = 0; i < singles; i++) beyond.push((await delivery.change([i], 2)).ms - grounds.windowMs);
  for (let i = 0; i < plainSingles; i++) floors.push(await plain.change([i], 2));
  return {
    figures: {
      repositoryOf: large,
      startSeconds: known.ms / 1000,
      commitsAtStart: known.commits,
      oneMedianMsBeyondWindow: median(beyond),
      oneP90MsBeyondWindow: quantile(beyond, 0.9),
      plainGitMedianMs: median(floors),
      toPlainGit: median(beyond) / median(floors),
      peakMiB: known.peakMiB,
    },
    targets: { oneMedianMsBeyondWindow: 1000, commitsAtStart: 0 },
  };
}

interface While {
  readonly large: number;
  readonly seconds: number;
  /** Of the copy of the repository. */
  readonly directory: string;
}

async function changeBeside(
  grounds: Grounds,
  progress: Progress,
  delivery: DeliveryProcess,
  { large, seconds, directory }: While,
): Promise<Result> {
  progress(`${seconds} seconds of ${changesPerSecond} changes a second, beside two others on the branch`);
  const start = await delivery.change([], 1);
  const ends = performance.now() + seconds * 1000;
  const isOver = (): boolean => performance.now() > ends;
  const others = ['joe', 'jane'].map((name) => new ForeignWriter(grounds, name));
  const versions = new Map<number, number>();
  const changing = async (): Promise<void> => {
    const orders: Promise<unknown>[] = [];
    for (let version = 3; !isOver(); version++) {
      const index = (version * 7919) % large;
      versions.set(index, version);
      orders.push(delivery.change([index], version));
      await setTimeout(1000 / changesPerSecond);
    }
    await Promise.all(orders);
  };
  await Promise.all([changing(), ...others.map((other) => other.work('large', isOver))]);
  const end = await delivery.change([], 1);
  const figures: Figures = {
    seconds,
    changes: versions.size,
    commits: end.commits - start.commits,
    commitsOfOthers: others.flatMap(({ files }) => files).length,
    rejections: end.rejections - start.rejections,
    retriesOfOthers: others.reduce((sum, { retries }) => sum + retries, 0),
    failures: end.failures - start.failures,
    lost: await lostIn(grounds, versions, others),
    peakMiB: end.peakMiB,
    copyMiB: sizeOf(directory) / 1024 / 1024,
  };
  for (const name of ['joe', 'jane']) rmSync(join(grounds.root, name), { recursive: true, force: true });
  return { figures, targets: { lost: 0 } };
}

/** Files that the branch should have, and has not, or not as they should be. */
async function lostIn(
  grounds: Grounds,
  versions: ReadonlyMap<number, number>,
  others: readonly ForeignWriter[],
): Promise<number> {
  const repository = grounds.path('large');
  const listed = await grounds.git(repository, 'ls-tree', '-r', '--name-only', 'main', 'others/');
  const has = new Set(listed.split('\n'));
  let lost = others.flatMap(({ files }) => files).filter((file) => !has.has(file)).length;
  for (const [index, version] of versions) {
    for (const [path, content] of filesOf(index, version)) {
      if (!/\/(statefulset|configmap)\.[^/]*(config)?\.yaml$/.test(path)) continue;
      if ((await grounds.git(repository, 'show', `main:${path}`)) !== content) lost++;
    }
  }
  return lost;
}

function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}
