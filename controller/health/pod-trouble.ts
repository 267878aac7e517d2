import type { Reason } from './reasons.ts';
import type { Symptom } from './symptom.ts';
import { inWords } from './symptom.ts';
import type { Asked, Complaint, Trouble } from './trouble.ts';

/** What a symptom of a pod means, and what to do. Pure. */
export function podTrouble(pod: string, symptom: Symptom, asked: Asked): Trouble {
  switch (symptom.kind) {
    case 'unscheduled':
      return unscheduled(pod, symptom, asked);
    case 'waiting':
      return waiting(pod, symptom, asked);
    case 'held':
      return held(pod, symptom);
    case 'ended':
      return ended(pod, symptom);
  }
}

type Of<K extends Symptom['kind']> = Extract<Symptom, { kind: K }>;

/** Nothing is stalled: nodes come, by an autoscaler too, and the scheduler then tries again by itself. */
function unscheduled(pod: string, symptom: Of<'unscheduled'>, { cpu, memory }: Asked): Trouble {
  const words = inWords(symptom);
  if (/insufficient (cpu|memory)/i.test(words)) {
    const remedy = `lower spec.resources.requests (cpu ${cpu}, memory ${memory}) or add a node that has as much to spare`;
    return mending('InsufficientResources', `No node has room for ${pod}: ${remedy}. ${words}`);
  }
  // Volumes that are made at once take a moment.
  if (words.includes('unbound immediate PersistentVolumeClaims')) {
    return mending('VolumePending', `${pod} waits for its volume.`);
  }
  return mending('Unschedulable', `${pod} finds no node: ${words}`);
}

const imageReasons: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'ErrImageNeverPull',
  'InvalidImageName',
  'ImageInspectError',
  'RegistryUnavailable',
  'SignatureValidationFailed',
]);

function waiting(pod: string, symptom: Of<'waiting'>, { memory }: Asked): Trouble {
  const { reason, container, image, lastEnd } = symptom;
  if (imageReasons.has(reason)) {
    const field = container === 'exporter' ? 'spec.monitoring.image' : 'spec.image';
    const remedy = `correct ${field}, or make the image available to the nodes`;
    return trouble('ImageNotPulled', `Image ${image} of ${pod} cannot be pulled: ${remedy}. ${pullError(symptom)}`);
  }
  if (reason !== 'CrashLoopBackOff') {
    return trouble('ContainerNotStarted', `Container ${container} of ${pod} cannot be started: ${inWords(symptom)}`);
  }
  // Of the others nobody can say how much they may use.
  if (lastEnd.startsWith('OOMKilled') && container === 'postgres') {
    const remedy = `raise spec.resources.limits.memory (${memory} are requested)`;
    return trouble('OutOfMemory', `Container ${container} of ${pod} was killed for want of memory: ${remedy}.`);
  }
  const seen = lastEnd === '' ? '' : ` (${lastEnd})`;
  return trouble('CrashLooping', `Container ${container} of ${pod} ends again and again${seen}: its log says why.`);
}

/** The same words whether the kubelet tries or waits to try again. */
function pullError({ reason, message }: Of<'waiting'>): string {
  const cause = message.replace(/^Back-off pulling image "[^"]*"(: )?/, '').replace(/^ErrImagePull: /, '');
  return reason === 'ErrImagePull' || reason === 'ImagePullBackOff' ? cause : inWords({ reason, message: cause });
}

/** By the word of the member: the reason of ours, and whether somebody has to do something. */
const gateReasons: Readonly<Record<string, Pick<Trouble, 'reason' | 'isStalled'>>> = {
  ApiUnavailable: { reason: 'ApiUnavailableToMember', isStalled: false },
  ConfigurationMissing: { reason: 'ConfigurationMissing', isStalled: false },
  DataUnreadable: { reason: 'DataUnreadable', isStalled: true },
  ForeignData: { reason: 'ForeignData', isStalled: true },
  IdentityConflict: { reason: 'IdentityConflict', isStalled: true },
  InitialisationFailed: { reason: 'InitialisationFailed', isStalled: true },
  CredentialsUnusable: { reason: 'CredentialsUnusable', isStalled: true },
  SystemSecretIncomplete: { reason: 'SystemSecretIncomplete', isStalled: true },
  TlsSecretUnusable: { reason: 'CertificateUnusable', isStalled: true },
  VolumeFull: { reason: 'VolumeFull', isStalled: true },
  VolumeInUse: { reason: 'VolumeInUse', isStalled: false },
  VolumeNotWritable: { reason: 'VolumeNotWritable', isStalled: true },
  WrongMajor: { reason: 'WrongMajor', isStalled: true },
  WrongPatroni: { reason: 'WrongPatroni', isStalled: true },
};

/** Anybody who may annotate the pod can write the words, so only those that are known become a reason. */
function held(pod: string, { reason, message }: Of<'held'>): Trouble {
  const known = Object.hasOwn(gateReasons, reason) ? gateReasons[reason] : undefined;
  if (known !== undefined) return { ...known, message: `${pod}: ${message}`.slice(0, longestMessage) };
  return trouble('MemberHeld', `${pod} does not start: ${inWords({ reason, message })}`);
}

const nodeReasons: ReadonlySet<string> = new Set(['NodeLost', 'NodeShutdown', 'Shutdown', 'Terminated']);

/** The StatefulSet controller makes such a pod anew. */
function ended(pod: string, symptom: Of<'ended'>): Trouble {
  const { reason } = symptom;
  const named: Reason = reason === 'Evicted' ? 'Evicted' : nodeReasons.has(reason) ? 'NodeLost' : 'MemberEnded';
  return mending(named, `${pod} has ended and is made anew: ${inWords(symptom)}`);
}

/** What the kubelet and the controller that attaches volumes say of a pod whose volumes are not there. */
const volumeReasons: ReadonlySet<string> = new Set(['FailedAttachVolume', 'FailedMount', 'FailedMapVolume']);

/**
 * Why the containers of a pod are not created; undefined where nothing that was said is about that. Nothing is stalled: a volume that is attached
 * elsewhere is let go of in the end, a Secret that is missing comes. Pure.
 *
 * @param claim of the data of the pod
 * @param said in Events of the pod
 */
export function uncreated(pod: string, claim: string, said: readonly Complaint[]): Trouble | undefined {
  const volume = said.find(({ reason }) => volumeReasons.has(reason));
  if (volume !== undefined) {
    const waits = `${pod} waits for its volumes, that of PersistentVolumeClaim ${claim} among them`;
    return mending('VolumeNotMounted', `${waits}: ${inWords(volume)}`);
  }
  const sandbox = said.find(({ reason }) => reason === 'FailedCreatePodSandBox');
  return sandbox && mending('ContainerNotStarted', `${pod} cannot be started: ${inWords(sandbox)}`);
}

const longestMessage = 1_000;

function trouble(reason: Reason, message: string): Trouble {
  return { reason, message: message.trim().slice(0, longestMessage), isStalled: true };
}

/** What may end without anybody. */
function mending(reason: Reason, message: string): Trouble {
  return { ...trouble(reason, message), isStalled: false };
}
