import type { Secret } from '../api/object.ts';
import { formatAddress } from '../../platform/listen.ts';
import { resolveContent, type Symbols } from '../render/resolve.ts';
import type { CertificatePart, MountedFile, Workload } from '../workload.ts';
import type { ResolvedFile } from './objects/file-secrets.ts';
import { mountFolder } from './objects/object-context.ts';

export interface SymbolSources {
  readonly secrets: ReadonlyMap<string, Secret>;
  readonly certificate: (name: string, part: CertificatePart) => string;
  /** Number of the port of another workload. Errors where nothing of it is known. */
  readonly portOf: (workload: string, port: string) => number;
  readonly namespace: string;
}

/** The symbols of a workload whose instances are pods. */
export function podSymbols(workload: Workload, sources: SymbolSources): Symbols {
  return {
    // All addresses of the pod: nothing else can reach its loopback.
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

/** Names of all the certificates that the resource of a workload has: those that it mounts, and those that the operator calls it with. */
export function certificatesOf({ mounts, clientCertificates = [] }: Workload): ReadonlySet<string> {
  const files = mounts.flatMap((mount) => (mount.kind === 'files' ? mount.files : []));
  const mounted = files.flatMap(({ content }) => (content.kind === 'certificate' ? [content.certificate] : []));
  return new Set([...mounted, ...clientCertificates]);
}

/** HOST:PORT of the Service that every workload has. */
export function serviceAddress(workload: string, namespace: string, port: number): string {
  return `${workload}.${namespace}.svc:${port}`;
}

/** The files of a workload, or those that are wanted. Errors for a symbol that does not exist. */
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
