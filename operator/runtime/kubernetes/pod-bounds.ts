import { matchesStars } from '../../../protocol/text/star-pattern.ts';
import type { KMSConfig, Tenant } from '../../api/object.ts';
import { containerSecurityContext, podSecurityContext } from './objects/pod-template.ts';

export const podSecurityLevels = ['restricted', 'baseline', 'privileged'] as const;

/**
 * The limits of the pod options of a Tenant or a KMSConfig. A user who may write such a resource may lack the right to make pods, and must
 * not get it this way.
 */
export interface PodBounds {
  /** The Pod Security Standard that security contexts must keep. */
  readonly podSecurity: (typeof podSecurityLevels)[number];
  /** Allowed values of `spec.serviceAccountName`; `*` matches any characters. */
  readonly serviceAccounts: readonly string[];
  /** Allowed values of `spec.image`; `*` matches any characters. */
  readonly images: readonly string[];
}

/** Returns the patterns for every tag and digest of an image's repository. */
export function imagesLike(image: string): readonly string[] {
  const repository = image.replace(/@.*$/, '').replace(/:[^:/]*$/, '');
  return [repository, `${repository}:*`, `${repository}@*`];
}

/** Returns why the pods of a resource are not allowed, with the field and the setting of the operator; undefined when they are. */
export function rejectedPod({ kind, metadata, spec }: Tenant | KMSConfig, bounds: PodBounds): string | undefined {
  const of = `of ${kind} ${metadata.name}`;
  const { image, serviceAccountName } = spec;
  if (image !== undefined && !bounds.images.some((pattern) => matchesStars(pattern, image))) {
    const allowed = bounds.images.join(', ') || 'none';
    return `spec.image ${of} names ${image}, which the operator's setting allowedImages (${allowed}) does not allow`;
  }
  if (
    serviceAccountName !== undefined &&
    !bounds.serviceAccounts.some((one) => matchesStars(one, serviceAccountName))
  ) {
    const allowed = bounds.serviceAccounts.join(', ') || 'none';
    return (
      `spec.serviceAccountName ${of} names ${serviceAccountName}, which the operator's setting allowedServiceAccounts ` +
      `(${allowed}) does not allow`
    );
  }
  const broken = brokenField(spec, bounds.podSecurity);
  if (broken === undefined) return undefined;
  return `spec.${broken} ${of} is not allowed by the operator's setting podSecurity, which is ${bounds.podSecurity}`;
}

type Fields = Readonly<Record<string, unknown>>;

/** @see https://kubernetes.io/docs/concepts/security/pod-security-standards/ */
function brokenField(spec: Tenant['spec'] | KMSConfig['spec'], level: PodBounds['podSecurity']): string | undefined {
  if (level === 'privileged') return undefined;
  const pod = fieldsOf(podSecurityContext(spec.podSecurityContext));
  const container = fieldsOf(containerSecurityContext(spec.containerSecurityContext));
  const found =
    baselineBroken('podSecurityContext', pod) ??
    baselineBroken('containerSecurityContext', container) ??
    unconfinedAnnotation(spec.podAnnotations ?? {});
  return found ?? (level === 'restricted' ? restrictedBroken(pod, container) : undefined);
}

const harmlessSysctls: ReadonlySet<unknown> = new Set([
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
]);
const harmlessCapabilities: ReadonlySet<unknown> = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
]);
const selinuxTypes: ReadonlySet<unknown> = new Set([
  undefined,
  '',
  'container_t',
  'container_init_t',
  'container_kvm_t',
  'container_engine_t',
]);

function baselineBroken(field: string, context: Fields): string | undefined {
  const selinux = fieldsOf(context['seLinuxOptions']);
  const rules: readonly (readonly [string, boolean])[] = [
    ['privileged', context['privileged'] === true],
    ['procMount', (context['procMount'] ?? 'Default') !== 'Default'],
    ['seccompProfile.type', fieldsOf(context['seccompProfile'])['type'] === 'Unconfined'],
    ['appArmorProfile.type', fieldsOf(context['appArmorProfile'])['type'] === 'Unconfined'],
    ['windowsOptions.hostProcess', fieldsOf(context['windowsOptions'])['hostProcess'] === true],
    ['seLinuxOptions.type', !selinuxTypes.has(selinux['type'])],
    ['seLinuxOptions.user', (selinux['user'] ?? '') !== ''],
    ['seLinuxOptions.role', (selinux['role'] ?? '') !== ''],
    [
      'capabilities.add',
      !listOf(fieldsOf(context['capabilities'])['add']).every((one) => harmlessCapabilities.has(one)),
    ],
    ['sysctls', !listOf(context['sysctls']).every((one) => harmlessSysctls.has(fieldsOf(one)['name']))],
  ];
  const broken = rules.find(([, isBroken]) => isBroken);
  return broken && `${field}.${broken[0]}`;
}

function unconfinedAnnotation(annotations: Readonly<Record<string, string>>): string | undefined {
  const found = Object.entries(annotations).find(
    ([name, value]) =>
      name.startsWith('container.apparmor.security.beta.kubernetes.io/') &&
      value !== 'runtime/default' &&
      !value.startsWith('localhost/'),
  );
  return found && `podAnnotations.${found[0]}`;
}

const profiles: ReadonlySet<unknown> = new Set(['RuntimeDefault', 'Localhost']);

function restrictedBroken(pod: Fields, container: Fields): string | undefined {
  const capabilities = fieldsOf(container['capabilities']);
  const seccomp = fieldsOf(container['seccompProfile'] ?? pod['seccompProfile'])['type'];
  const rules: readonly (readonly [string, boolean])[] = [
    ['containerSecurityContext.allowPrivilegeEscalation', container['allowPrivilegeEscalation'] !== false],
    ['containerSecurityContext.capabilities.drop', !listOf(capabilities['drop']).includes('ALL')],
    [
      'containerSecurityContext.capabilities.add',
      listOf(capabilities['add']).some((one) => one !== 'NET_BIND_SERVICE'),
    ],
    ['podSecurityContext.seccompProfile.type', !profiles.has(seccomp)],
    ['podSecurityContext.runAsNonRoot', (container['runAsNonRoot'] ?? pod['runAsNonRoot']) !== true],
    ['podSecurityContext.runAsUser', pod['runAsUser'] === 0],
    ['containerSecurityContext.runAsUser', container['runAsUser'] === 0],
  ];
  return rules.find(([, isBroken]) => isBroken)?.[0];
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
