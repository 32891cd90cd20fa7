import type { Secret } from '../../../contract/secret.ts';
import { formatAddress } from '../../../../platform/http/listen.ts';
import { resolveContent, type Symbols } from '../../../contract/resolve.ts';
import type { CertificatePart, MountedFile, Workload, ResourceRef, RestartInput } from '../../../contract/workload.ts';
import { type ResolvedFile, mountFolder } from '../objects/object-context.ts';
import { z } from 'zod';
import type { KubeObject } from '../../../kube-client/kube-api.ts';
import type { Instance, ResizingVolume, RunningWorkload } from '../../../contract/runtime.ts';
import { imageInput } from '../../../render/restart-inputs.ts';
import { ownerOf } from '../namespace/watching.ts';
import { instanceOf, workloadState } from './instance-state.ts';
import { statefulSetView } from './live-workload.ts';
import { readInputs, driftedAnnotation, inputsAnnotation, podSelector } from '../objects/labels.ts';

interface SymbolSources {
  readonly secrets: ReadonlyMap<string, Secret>;
  readonly certificate: (name: string, part: CertificatePart) => string;
  /** Returns the number of a port of another workload. Errors for an unknown workload. */
  readonly portOf: (workload: string, port: string) => number;
  readonly namespace: string;
}

/** Returns the symbols of a workload whose instances are pods. */
export function podSymbols(workload: Workload, sources: SymbolSources): Symbols {
  return {
    // The program listens on all addresses of the pod: other pods cannot reach its loopback.
    listen: ({ host, port }) => formatAddress({ host: host.includes(':') ? '::' : '0.0.0.0', port }),
    address: (name, port) => serviceAddress(name, sources.namespace, sources.portOf(name, port)),
    mountPath: (name) => {
      const mount = workload.mounts.find((candidate) => candidate.name === name);
      if (mount === undefined) throw new Error(`the workload ${workload.name} has no mount ${name}`);
      return mountFolder(mount);
    },
    secret: (name, key) => {
      const value = sources.secrets.get(name)?.data[key];
      if (value === undefined) throw new Error(`the Secret ${name} has no key ${key}`);
      return value;
    },
    certificate: (name, part) => sources.certificate(name, part),
  };
}

/** Names every certificate of a workload's resource: those that it mounts, and those with which the operator calls it. */
export function certificatesOf({ mounts, clientCertificates = [] }: Workload): ReadonlySet<string> {
  const files = mounts.flatMap((mount) => (mount.kind === 'files' ? mount.files : []));
  const mounted = files.flatMap(({ content }) => (content.kind === 'certificate' ? [content.certificate] : []));
  return new Set([...mounted, ...clientCertificates]);
}

/** Returns HOST:PORT of the Service of a workload. */
export function serviceAddress(workload: string, namespace: string, port: number): string {
  return `${workload}.${namespace}.svc:${port}`;
}

/** Resolves the files of a workload, or only the wanted ones. Errors for a symbol that does not exist. */
export async function resolvedFiles(
  workload: Workload,
  symbols: Symbols,
  isWanted: (file: MountedFile) => boolean = () => true,
): Promise<readonly ResolvedFile[]> {
  const files: ResolvedFile[] = [];
  for (const mount of workload.mounts) {
    if (mount.kind !== 'files') continue;
    for (const { path, content, reloads } of mount.files.filter(isWanted)) {
      files.push({ mount: mount.name, path, reloads, content: await resolveContent(content, workload, symbols) });
    }
  }
  return files;
}

const service = z.object({
  spec: z.object({ ports: z.array(z.object({ name: z.string().default(''), port: z.number() })).default([]) }),
});

interface LiveParts {
  readonly statefulSet: KubeObject;
  readonly pods: readonly KubeObject[];
  /** The Service with the name of the workload. */
  readonly service: KubeObject | undefined;
  /** Uids of deleted pods that a cache may still show. */
  readonly replaced: ReadonlySet<string>;
  readonly rejected: RunningWorkload['rejected'];
  readonly resizing: readonly ResizingVolume[];
  readonly deletedClaims: readonly string[];
  /** The reason why a pod was not made, by its name. */
  readonly rejectedPods: ReadonlyMap<string, string>;
  /** Returns a keyed digest. */
  readonly fingerprint: (value: string) => string;
}

/** Returns a workload as the caches show it. */
export function workloadView(live: LiveParts, now: Date): RunningWorkload {
  const { metadata } = live.statefulSet;
  const { spec } = statefulSetView(live.statefulSet);
  const owner = ownerOf(live.statefulSet);
  const withImageOf = (recorded: readonly RestartInput[], image: string | undefined) =>
    withImage(recorded, owner, image, live);
  const recorded = readInputs(spec.template.metadata.annotations[inputsAnnotation]) ?? [];
  const inputs = withImageOf(recorded, imageOf(spec.template.spec));
  const present = new Set(live.pods.map((pod) => pod.metadata.name));
  const rejected = [...live.rejectedPods]
    .filter(([name]) => !present.has(name))
    .map(([name, message]): Instance => ({
      name,
      inputs,
      state: { kind: 'broken', restarts: 0, message, rejected: true },
    }));
  const drifted = new Set(metadata.annotations?.[driftedAnnotation]?.split(','));
  const instances = live.pods
    .map((pod): Instance => {
      const instance = instanceOf(pod, live.replaced, now, drifted);
      return { ...instance, inputs: withImageOf(instance.inputs, imageOf(pod['spec'])) };
    })
    .concat(rejected)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    name: metadata.name,
    inputs,
    state: workloadState(instances, spec.replicas),
    instances,
    wanted: spec.replicas,
    selector: selectorOf(metadata.name),
    ...(live.rejected === undefined ? {} : { rejected: live.rejected }),
    resizing: live.resizing,
    ...(live.deletedClaims.length === 0 ? {} : { deletedClaims: live.deletedClaims }),
    addresses: addressesOf(metadata.name, metadata.namespace ?? '', live.service),
  };
}

function selectorOf(workload: string): string {
  return Object.entries(podSelector(workload))
    .map(([label, value]) => `${label}=${value}`)
    .join();
}

/** Adds the image to inputs from before it was a restart input: the running image shows what was recorded. */
function withImage(
  recorded: readonly RestartInput[],
  owner: ResourceRef | undefined,
  image: string | undefined,
  { fingerprint }: Pick<LiveParts, 'fingerprint'>,
): readonly RestartInput[] {
  const isRecorded = recorded.some(({ field, of }) => field === 'spec.image' && of.kind === owner?.kind);
  if (recorded.length === 0 || owner === undefined || isRecorded) return recorded;
  return [...imageInput(owner, image, { fingerprint }), ...recorded];
}

const podSpec = z.object({ containers: z.array(z.object({ image: z.string().optional() })).default([]) });

function imageOf(spec: unknown): string | undefined {
  return podSpec.safeParse(spec).data?.containers[0]?.image;
}

/** Returns the numbers of a Service's ports by name. */
export function portsOf(object: KubeObject | undefined): ReadonlyMap<string, number> {
  if (object === undefined) return new Map();
  return new Map(service.parse(object).spec.ports.map(({ name, port }) => [name, port]));
}

function addressesOf(workload: string, namespace: string, object: KubeObject | undefined) {
  return Object.fromEntries(
    [...portsOf(object)].map(([name, port]) => [name, serviceAddress(workload, namespace, port)]),
  );
}
