import type { OwnerReference, KubeObject } from '../../../kube-client/kube-api.ts';
import type { Text, Workload } from '../../../contract/workload.ts';
import { createHash } from 'node:crypto';
import { canonical } from '../../../render/restart-inputs.ts';
import { contentLabel, workloadMeta } from './labels.ts';

/** The inputs of the objects of a workload, apart from the workload itself. */
export interface ObjectContext {
  readonly namespace: string;
  readonly owner: OwnerReference;
  /** Image of workloads that name none. */
  readonly defaultImage: string;
  readonly operatorNamespace: string | undefined;
  /** Returns the text with its symbols resolved. */
  readonly resolve: (text: Text) => string;
  /** Returns the value of a key of a Secret that the workload names. Errors when it is missing. */
  readonly secret: (name: string, key: string) => string;
  readonly files: FileSecretNames;
  /** Returns a keyed digest. */
  readonly fingerprint: (value: string) => string;
}

/** Returns the folder of a mount inside the container. */
export function mountFolder(mount: { readonly kind: 'volume' | 'files'; readonly name: string }): string {
  return mount.kind === 'volume' ? `/var/lib/coffer/${mount.name}` : `/etc/coffer/${mount.name}`;
}

/** A file of a workload with its content. */
export interface ResolvedFile {
  readonly mount: string;
  readonly path: string;
  readonly reloads: boolean;
  readonly content: string;
}

export interface FileSecretNames {
  /** Undefined when the workload has no such files. */
  readonly fixed: string | undefined;
  readonly reloading: string | undefined;
}

/**
 * Names the Secrets of a workload's files. The name of the Secret of static files has a digest of their content, and the pod template names
 * it. So a pod that restarts gets the files that it was started with. The Secret of reloading files keeps its name.
 */
export function fileSecretNames(
  workload: string,
  files: readonly ResolvedFile[],
  fingerprint: (value: string) => string,
): FileSecretNames {
  const fixed = files.filter(({ reloads }) => !reloads);
  const digest = createHash('sha256')
    .update(fingerprint(canonical(dataOf(fixed))))
    .digest('hex')
    .slice(0, 12);
  return {
    fixed: fixed.length === 0 ? undefined : `${workload}-files-${digest}`,
    reloading: files.some(({ reloads }) => reloads) ? reloadingSecretName(workload) : undefined,
  };
}

export function reloadingSecretName(workload: string): string {
  return `${workload}-reloading-files`;
}

/** Returns the key of a file in its Secret, since keys cannot have a slash. */
export function fileKey(mount: string, path: string): string {
  return `${mount}.${path.replaceAll('/', '..')}`;
}

/** `kept` has values of the reloading Secret that only running pods still mount. */
export function fileSecrets(
  workload: Workload,
  files: readonly ResolvedFile[],
  kept: Readonly<Record<string, string>>,
  context: Pick<ObjectContext, 'namespace' | 'owner' | 'files'>,
): readonly KubeObject[] {
  const { fixed, reloading } = context.files;
  const made: KubeObject[] = [];
  if (fixed !== undefined) {
    const data = dataOf(files.filter(({ reloads }) => !reloads));
    made.push({ ...secret(workload, fixed, 'static', data, context), immutable: true });
  }
  if (reloading !== undefined) {
    const data = { ...kept, ...dataOf(files.filter(({ reloads }) => reloads)) };
    made.push(secret(workload, reloading, 'reloading', data, context));
  }
  return made;
}

function secret(
  workload: Workload,
  name: string,
  content: 'static' | 'reloading',
  data: Readonly<Record<string, string>>,
  context: Pick<ObjectContext, 'namespace' | 'owner'>,
): KubeObject {
  const metadata = workloadMeta(workload, context, name);
  const labels = { ...metadata.labels, [contentLabel]: content };
  return { apiVersion: 'v1', kind: 'Secret', metadata: { ...metadata, labels }, type: 'Opaque', data };
}

function dataOf(files: readonly ResolvedFile[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    files.map(({ mount, path, content }) => [fileKey(mount, path), Buffer.from(content, 'utf8').toString('base64')]),
  );
}
