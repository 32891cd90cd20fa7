/**
 * What the operator wants to run, free of any runtime: the renderers make workloads, the local runtime runs them as processes of
 * one machine, the Kubernetes runtime as pods. Addresses and paths are symbolic, since only the runtime knows them.
 *
 * Secrets: arguments and the environment are `Text`, which cannot hold one; only the content of a file can. So no secret reaches an
 * argument list or a plain environment by any rendering that type-checks.
 */
export interface Workload {
  /** Unique among all workloads of a namespace, a DNS label: `demo`, `keys`. */
  readonly name: string;
  /** The custom resource it belongs to. */
  readonly owner: ResourceRef;
  readonly program: Program;
  /** Container image; the local runtime runs the program of this checkout instead. */
  readonly image?: string;
  readonly arguments: readonly Text[];
  /** Sorted by name. */
  readonly environment: readonly EnvironmentVariable[];
  readonly ports: readonly Port[];
  readonly mounts: readonly Mount[];
  readonly readiness: Probe;
  readonly liveness: Probe;
  /** Workloads that must be ready before this one is started or restarted. */
  readonly dependsOn: readonly string[];
  /** Certificates that the operator itself calls it with. */
  readonly clientCertificates?: readonly string[];
  readonly replicas: number;
  /** What only Kubernetes can give; the local runtime leaves it aside. */
  readonly kubernetes: KubernetesOptions;
  /**
   * Everything whose change needs a restart, each under the name that a person gave it. What is not listed here restarts nothing,
   * so a new version of the operator that renders differently leaves running programs alone.
   */
  readonly inputs: readonly RestartInput[];
}

/** A resource of the namespace at hand. */
export interface ResourceRef {
  readonly kind: ResourceKind;
  readonly name: string;
}

/** What is in a tenant's server: nothing runs for it, it is told to the server over its API. */
const managedKinds = ['Bucket', 'Policy', 'PolicyBinding', 'User', 'AccessKey'] as const;
export type ManagedKind = (typeof managedKinds)[number];

export const resourceKinds = ['Tenant', 'IdentityProvider', 'KMSConfig', ...managedKinds] as const;
export type ResourceKind = (typeof resourceKinds)[number];

export function isManagedKind(kind: ResourceKind | 'Secret' | 'ConfigMap'): kind is ManagedKind {
  return (managedKinds as readonly string[]).includes(kind);
}

/** The programs of the package, by the names of their launchers in `bin/`. */
export type Program = 'coffer-server' | 'keysvc';

export interface EnvironmentVariable {
  readonly name: string;
  readonly value: Text;
}

export interface Port {
  /** `s3`, `console`, `api`. */
  readonly name: string;
  readonly port: number;
  /** Address to listen on where the runtime is one machine; a pod listens on all of its own. */
  readonly host: string;
  /** The field that sets the port, for messages: `spec.addresses.s3.port of Tenant demo`. */
  readonly field: string;
}

export type Mount =
  | {
      readonly kind: 'volume';
      readonly name: string;
      readonly size?: string;
      /** Folder on this machine, for the local runtime only. */
      readonly path?: string;
      readonly claim: VolumeClaim;
    }
  | { readonly kind: 'files'; readonly name: string; readonly files: readonly MountedFile[] };

/** The PersistentVolumeClaim behind a volume. */
type VolumeClaim =
  /** One for each instance; it outlives the instance. */
  | { readonly kind: 'each'; readonly storageClassName?: string; readonly accessMode: AccessMode }
  /** One that all instances share, made by the operator. */
  | {
      readonly kind: 'shared';
      readonly storageClassName?: string;
      readonly accessMode: AccessMode;
      /** Who may have sealed data with what is on it; a volume that anybody did is never deleted with its resource. */
      readonly sealedFor?: readonly string[];
    }
  /** One that somebody else made. */
  | { readonly kind: 'existing'; readonly claimName: string };

type AccessMode = 'ReadWriteOnce' | 'ReadWriteOncePod' | 'ReadWriteMany';

/** What a resource asks of Kubernetes beside running its program. JSON as in the Kubernetes API, checked by its API server. */
export interface KubernetesOptions {
  /** Parts of the pod template: each change is a restart input of the renderer. */
  readonly pod: PodOptions;
  /** What becomes of volumes and of secrets that the operator made when the resource is deleted. */
  readonly reclaimPolicy: 'Retain' | 'Delete';
  /** No instance runs; everything else stays. */
  readonly hibernated: boolean;
  /** By port name. A port without one gets a ClusterIP service. */
  readonly services: Readonly<Record<string, ServiceOptions>>;
  readonly ingresses: readonly IngressOptions[];
  readonly networkPolicy: NetworkPolicyOptions | undefined;
  readonly monitoring: MonitoringOptions | undefined;
  /** Milliseconds that a stopping instance still takes new requests, so that every client has heard that it goes. */
  readonly drainMs: number;
}

export interface PodOptions {
  readonly imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never';
  readonly imagePullSecrets: readonly string[];
  readonly serviceAccountName?: string;
  /** Whether its program speaks to the Kubernetes API as its service account: to read the keys of the cluster's tokens. */
  readonly serviceAccountToken?: true;
  /** Kept apart from what the operator sets itself, which wins. */
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly resources?: Json;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly tolerations?: readonly Json[];
  readonly affinity?: Json;
  readonly topologySpreadConstraints?: readonly Json[];
  readonly priorityClassName?: string;
  readonly runtimeClassName?: string;
  /** Laid over the operator's own restricted one. */
  readonly podSecurityContext?: Json;
  readonly containerSecurityContext?: Json;
  readonly terminationGracePeriodSeconds: number;
}

export interface ServiceOptions {
  readonly type: 'ClusterIP' | 'NodePort' | 'LoadBalancer';
  /** Port of the service; that of the program without it. */
  readonly port?: number;
  readonly nodePort?: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly loadBalancerClass?: string;
  readonly loadBalancerSourceRanges?: readonly string[];
  readonly externalTrafficPolicy?: 'Cluster' | 'Local';
}

export interface IngressOptions {
  readonly port: string;
  readonly host: string;
  readonly className?: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly tlsSecretName?: string;
}

/** Who may open connections. Other ports of the instances admit nobody. */
export interface NetworkPolicyOptions {
  /** Workloads of the same namespace that may; everyone may where it is undefined. By port name. */
  readonly admits: Readonly<Record<string, readonly string[] | undefined>>;
  /** NetworkPolicyPeer objects that may too, by port name. */
  readonly alsoFrom: readonly Json[];
}

export interface MonitoringOptions {
  readonly port: string;
  readonly path: string;
  readonly intervalSeconds?: number;
  readonly labels: Readonly<Record<string, string>>;
  /**
   * The Secret with the server's root credentials, and its keys: the runtime signs with them the token that the path asks for, which
   * is good for the metrics alone. Undefined where the path asks for none.
   */
  readonly tokenFrom?: { readonly secret: string; readonly userKey: string; readonly passwordKey: string };
}

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A file that only its program may read (0600, or a Secret volume). */
export interface MountedFile {
  readonly path: string;
  readonly content: FileContent;
  /** The program re-reads it when it changes, so that a change needs no restart. */
  readonly reloads: boolean;
}

export type FileContent =
  | { readonly kind: 'secret'; readonly secret: string; readonly key: string }
  | { readonly kind: 'certificate'; readonly certificate: string; readonly part: CertificatePart }
  | { readonly kind: 'text'; readonly text: string }
  /** Written as YAML after every leaf is resolved, so that no value can break out of its quotes. */
  | { readonly kind: 'yaml'; readonly document: DocumentNode };

export type CertificatePart = 'certificate' | 'key' | 'ca';

export type DocumentNode =
  string | number | boolean | Text | SecretText | readonly DocumentNode[] | { readonly [key: string]: DocumentNode };

/** Text with parts that a runtime resolves. Made by the tag `text`. */
export interface Text {
  readonly kind: 'text';
  readonly parts: readonly (string | SymbolicPart)[];
}

/** The value of a Secret's key inside a document. */
export interface SecretText {
  readonly kind: 'secret';
  readonly secret: string;
  readonly key: string;
}

export type SymbolicPart =
  /** HOST:PORT that the workload's own port listens on. */
  | { readonly kind: 'listen'; readonly port: string }
  /** HOST:PORT at which a workload's port is reached by others. */
  | { readonly kind: 'address'; readonly workload: string; readonly port: string }
  /** Path of an own mount, or of a file in it. */
  | { readonly kind: 'mount'; readonly mount: string; readonly path?: string };

export type Probe =
  | { readonly kind: 'http'; readonly port: string; readonly path: string; readonly tls: boolean }
  /** A TLS handshake, or a connection, succeeds. */
  | { readonly kind: 'connect'; readonly port: string };

/** One thing whose change needs a restart. What is at its default is left out, so that a field new to the schema changes nothing. */
export interface RestartInput {
  readonly reason: RestartReason;
  /** `spec.scopes`, `key client-secret`. */
  readonly field: string;
  /** What the field belongs to. */
  readonly of: { readonly kind: ResourceKind | 'Secret' | 'ConfigMap'; readonly name: string };
  /** Keyed digest of the value: two values can be compared, and none can be guessed from it. */
  readonly fingerprint: string;
  /** The value itself, where reasons tell it: an image. Never a secret. */
  readonly shown?: string;
  /** A person named the value; without it the value is a default of the operator. */
  readonly named?: true;
}

export type RestartReason =
  | 'ImageChanged'
  | 'IdentityProviderAdded'
  | 'IdentityProviderRemoved'
  | 'IdentityProviderChanged'
  | 'KMSConfigAdded'
  | 'KMSConfigRemoved'
  | 'KMSConfigChanged'
  | 'TenantAdded'
  | 'TenantRemoved'
  | 'TenantChanged'
  | 'SettingsChanged'
  | 'PodTemplateChanged'
  | 'ConfigMapChanged'
  | 'SecretChanged'
  | 'RestartRequested'
  | 'Drift';

/** A certificate that workloads need. The runtime makes and keeps it, and tells its identity before anything is rendered. */
export interface CertificateNeed {
  readonly name: string;
  readonly owner: ResourceRef;
  readonly commonName: string;
  /** The authority that signs it; needs of one name share it. */
  readonly authority: string;
  readonly usages: readonly ('client' | 'server')[];
  /** Workloads by whose every address it is valid; the runtime knows the names. */
  readonly validFor: readonly string[];
  /** Names and IP addresses that a person gave it besides. */
  readonly alsoValidFor: readonly string[];
  /** The cert-manager issuer that makes it instead of the runtime. The local runtime refuses it. */
  readonly issuer?: { readonly kind: 'Issuer' | 'ClusterIssuer'; readonly name: string; readonly group?: string };
  /** A change of this value makes a new key, and keeps the old identity known for a while. */
  readonly rotation?: string;
  /** Milliseconds between making and expiry; the runtime's own choice without it. */
  readonly validForMs?: number;
}

/** What a runtime tells of a certificate that it keeps. */
export interface IssuedCertificate {
  /** Lower-case hex SHA-256 of the SubjectPublicKeyInfo: the identity that a key service knows its holder by. */
  readonly identity: string;
  /** Of a key that was replaced lately: instances may still hold it. */
  readonly formerIdentity?: string;
  readonly notAfter: Date;
  /** PEM of the authorities by which others trust it. */
  readonly ca?: string;
}

/** Text with symbolic parts: text`https://${address('keys', 'api')}`. */
export function text(literals: TemplateStringsArray, ...values: readonly (string | SymbolicPart)[]): Text {
  const parts: (string | SymbolicPart)[] = [];
  for (const [index, literal] of literals.entries()) {
    if (literal !== '') parts.push(literal);
    const value = values[index];
    if (value !== undefined && value !== '') parts.push(value);
  }
  return { kind: 'text', parts };
}

export function plain(value: string): Text {
  return { kind: 'text', parts: value === '' ? [] : [value] };
}

export function listen(port: string): SymbolicPart {
  return { kind: 'listen', port };
}

export function address(workload: string, port: string): SymbolicPart {
  return { kind: 'address', workload, port };
}

export function mounted(mount: string, path?: string): SymbolicPart {
  return path === undefined ? { kind: 'mount', mount } : { kind: 'mount', mount, path };
}
