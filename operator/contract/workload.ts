/**
 * A program to run, independent of any runtime. The renderers make workloads; the local runtime runs them as processes of one machine, the
 * Kubernetes runtime as pods. Addresses and paths are symbolic, since only the runtime knows them.
 *
 * Arguments and the environment are `Text`, which cannot hold a secret; only the content of a file can. So a rendering that type-checks
 * puts no secret into an argument list or a plain environment.
 */
export interface Workload {
  /** Unique among the workloads of a namespace; a DNS label: `demo`, `keys`. */
  readonly name: string;
  /** The custom resource that it belongs to. */
  readonly owner: ResourceRef;
  readonly program: Program;
  /** Container image. The local runtime runs the program of this checkout instead. */
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
  /** Proves what the program depends on, before an instance is replaced. */
  readonly check?: WorkloadCheck;
  /** Certificates with which the operator itself calls the workload. */
  readonly clientCertificates?: readonly string[];
  readonly replicas: number;
  /** Options that only Kubernetes has. The local runtime ignores them. */
  readonly kubernetes: KubernetesOptions;
  /**
   * Every value whose change needs a restart, with the field that the user changed. Other changes restart nothing, so a new version of the
   * operator that renders differently leaves running programs alone.
   */
  readonly inputs: readonly RestartInput[];
  /**
   * Inputs that all instances must share: one with another value does not start beside those that run. A change of one replaces all instances
   * at once.
   */
  readonly sharedInputs?: readonly SharedInput[];
}

/** An input whose `shown` is the value that counts, however the spec writes it. */
export interface SharedInput extends Pick<RestartInput, 'field' | 'of'> {
  /** The value of an instance without the input. */
  readonly standard: string;
  /** The input that the value is read from, where the spec names one. */
  readonly source?: Pick<RestartInput, 'field' | 'of'>;
}

/**
 * A run of the program that proves what it depends on, with the files and the environment of the workload. It changes nothing and ends:
 * with 0, or with an error as its last words.
 */
export interface WorkloadCheck {
  readonly arguments: readonly Text[];
  /** Arguments for a volume that the operator finds: it must hold all that the program needs, since nothing tells whose it is. */
  readonly argumentsOfFound: readonly Text[];
  /** True when a new volume, which is empty, cannot pass. */
  readonly needsContent: boolean;
  /** The inputs of the workload whose change it proves. */
  readonly inputs: readonly RestartInput[];
  /** Changes what the check may find without a change of an input. */
  readonly expects: string;
}

/** A resource of the current namespace. */
export interface ResourceRef {
  readonly kind: ResourceKind;
  readonly name: string;
}

/** Kinds of resources in a tenant's server. They have no workload; the operator applies them by the API of the server. */
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
  /** Address to listen on in the local runtime; a pod listens on all addresses. */
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

/** The PersistentVolumeClaim of a volume. */
type VolumeClaim =
  /** One claim for each instance. It outlives the instance. */
  | { readonly kind: 'each'; readonly storageClassName?: string; readonly accessMode: AccessMode }
  /** One claim that all instances share, made by the operator. */
  | {
      readonly kind: 'shared';
      readonly storageClassName?: string;
      readonly accessMode: AccessMode;
      /** Tenants that may have encrypted data with the keys on it. A volume with any entry is not deleted with its resource. */
      readonly sealedFor?: readonly string[];
    }
  /** A claim that the user made. */
  | { readonly kind: 'existing'; readonly claimName: string };

type AccessMode = 'ReadWriteOnce' | 'ReadWriteOncePod' | 'ReadWriteMany';

/** Options of a resource for Kubernetes. The JSON has the form of the Kubernetes API, whose server checks it. */
export interface KubernetesOptions {
  /** Parts of the pod template. The renderer makes each of them a restart input. */
  readonly pod: PodOptions;
  /** The fate of volumes and of Secrets made by the operator when the resource is deleted. */
  readonly reclaimPolicy: 'Retain' | 'Delete';
  /** True when no instance runs; all other objects stay. */
  readonly hibernated: boolean;
  /** Services by the name of the port. A port without an entry gets a ClusterIP service. */
  readonly services: Readonly<Record<string, ServiceOptions>>;
  readonly ingresses: readonly IngressOptions[];
  readonly networkPolicy: NetworkPolicyOptions | undefined;
  readonly monitoring: MonitoringOptions | undefined;
}

export interface PodOptions {
  readonly imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never';
  readonly imagePullSecrets: readonly string[];
  readonly serviceAccountName?: string;
  /** True when the program calls the Kubernetes API as its service account, to read the keys of the cluster's tokens. */
  readonly serviceAccountToken?: true;
  /** Labels of the user. The operator's own labels win. */
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly resources?: Json;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly tolerations?: readonly Json[];
  readonly affinity?: Json;
  readonly topologySpreadConstraints?: readonly Json[];
  readonly priorityClassName?: string;
  readonly runtimeClassName?: string;
  /** Merged over the operator's own restricted context. */
  readonly podSecurityContext?: Json;
  readonly containerSecurityContext?: Json;
  readonly terminationGracePeriodSeconds: number;
}

export interface ServiceOptions {
  readonly type: 'ClusterIP' | 'NodePort' | 'LoadBalancer';
  /** Port of the service; the port of the program by default. */
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

/** The sources of allowed connections. Other ports of the instances admit no connection. */
export interface NetworkPolicyOptions {
  /** Workloads of the same namespace that may connect, by the name of the port. Undefined admits all. */
  readonly admits: Readonly<Record<string, readonly string[] | undefined>>;
  /** NetworkPolicyPeer objects that may also connect, by the name of the port. */
  readonly alsoFrom: readonly Json[];
}

export interface MonitoringOptions {
  readonly port: string;
  readonly path: string;
  readonly intervalSeconds?: number;
  readonly labels: Readonly<Record<string, string>>;
  /**
   * The Secret with the server's root credentials, and its keys. The runtime signs with them the token that the path requires, which allows
   * nothing but the metrics. Undefined when the path requires no token.
   */
  readonly tokenFrom?: { readonly secret: string; readonly userKey: string; readonly passwordKey: string };
}

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A file that only its program may read (0600, or a Secret volume). */
export interface MountedFile {
  readonly path: string;
  readonly content: FileContent;
  /** True when the program re-reads the file, so that a change needs no restart. */
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

/** Text with parts that a runtime resolves. The tag `text` makes it. */
export interface Text {
  readonly kind: 'text';
  readonly parts: readonly (string | SymbolicPart)[];
}

/** The value of a key of a Secret inside a document. */
export interface SecretText {
  readonly kind: 'secret';
  readonly secret: string;
  readonly key: string;
}

export type SymbolicPart =
  /** HOST:PORT that the workload's own port listens on. */
  | { readonly kind: 'listen'; readonly port: string }
  /** HOST:PORT at which others reach a port of a workload. */
  | { readonly kind: 'address'; readonly workload: string; readonly port: string }
  /** Path of the workload's own mount, or of a file in it. */
  | { readonly kind: 'mount'; readonly mount: string; readonly path?: string };

export type Probe =
  | { readonly kind: 'http'; readonly port: string; readonly path: string; readonly tls: boolean }
  /** A TLS handshake, or a connection, succeeds. */
  | { readonly kind: 'connect'; readonly port: string };

/** A value whose change needs a restart. Values at their default are left out, so that a field new to the schema changes nothing. */
export interface RestartInput {
  readonly reason: RestartReason;
  /** `spec.scopes`, `key client-secret`. */
  readonly field: string;
  /** The resource or object that the field belongs to. */
  readonly of: { readonly kind: ResourceKind | 'Secret' | 'ConfigMap'; readonly name: string };
  /** Keyed digest of the value. Two values can be compared, and the digest does not reveal them. */
  readonly fingerprint: string;
  /** The value, when messages may show it: an image, a region. Never a secret. */
  readonly shown?: string;
  /** True when the user set the value. Otherwise it is a default of the operator. */
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

/** A certificate that workloads need. The runtime makes it, and knows its identity before anything is rendered. */
export interface CertificateNeed {
  readonly name: string;
  readonly owner: ResourceRef;
  readonly commonName: string;
  /** The authority that signs it. Needs with the same name share it. */
  readonly authority: string;
  readonly usages: readonly ('client' | 'server')[];
  /** Workloads whose addresses are names of the certificate. The runtime knows the addresses. */
  readonly validFor: readonly string[];
  /** Names and IP addresses that the user added. */
  readonly alsoValidFor: readonly string[];
  /** The cert-manager issuer that makes it instead of the runtime. The local runtime refuses it. */
  readonly issuer?: { readonly kind: 'Issuer' | 'ClusterIssuer'; readonly name: string; readonly group?: string };
  /** A change of this value makes a new key. The old identity stays known for a while. */
  readonly rotation?: string;
  /** Milliseconds between issue and expiry; the runtime decides by default. */
  readonly validForMs?: number;
}

/** A certificate that the runtime keeps. */
export interface IssuedCertificate {
  /** Lower-case hex SHA-256 of the SubjectPublicKeyInfo, by which a key service identifies the holder. */
  readonly identity: string;
  /** Identity of a recently replaced key that instances may still use. */
  readonly formerIdentity?: string;
  readonly notAfter: Date;
  /** PEM of the authorities that others trust for it. */
  readonly ca?: string;
}

/** Makes text with symbolic parts: text`https://${address('keys', 'api')}`. */
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
