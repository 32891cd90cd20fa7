import { misspeltName } from '../../protocol/policy/known-names.ts';
import type { Setting } from '../../protocol/settings/setting.ts';
import { settings } from '../../protocol/settings/table.ts';

function namesOf(rows: readonly Setting[]): string[] {
  return rows.flatMap((row) => [row.name, ...row.aliases]);
}

/**
 * Returns problems for unknown variables that are nearly the name of a setting: an administrator who mistypes one expects its effect. Kubernetes
 * sets variables such as `SVC_PORT` for a Service of the name `svc`, which are not near.
 */
export function misspelt(names: Iterable<string>, known: readonly string[]): string[] {
  return unknownVariables(names).flatMap((name) => {
    const meant = name.startsWith('SVC_') && !known.includes(name) ? meantName(name) : undefined;
    return meant === undefined
      ? []
      : [
          `${name} is no setting of Coffer: write ${meant}, or name it in SVC_IGNORED_VARIABLES to start without its effect`,
        ];
  });
}

/** Returns the nearest setting, with the name of a provider or a target at the end, such as `_BUILD`. */
function meantName(name: string): string | undefined {
  const rows: readonly Setting[] = settings;
  const withEnding = rows.filter(({ scope }) => scope !== 'server').map((row) => row.name);
  for (let at = name.lastIndexOf('_'); at > 0; at = name.lastIndexOf('_', at - 1)) {
    const meant = misspeltName(name.slice(0, at), withEnding, 2);
    if (meant !== undefined) return meant + name.slice(at);
  }
  const all = rows.map((row) => row.name);
  return misspeltName(name, all, 2);
}

/** Returns problems for variables of providers and targets whose ending is not a name: they would belong to none. */
export function withoutName(names: Iterable<string>): string[] {
  const bases = namesOf(settings.filter(({ scope }) => scope !== 'server')).sort((a, b) => b.length - a.length);
  return [...names].flatMap((name) => {
    const base = bases.find((one) => name.startsWith(`${one}_`));
    const suffix = base === undefined ? 'none' : name.slice(base.length + 1);
    return /^[A-Za-z0-9_-]+$/.test(suffix)
      ? []
      : [`${name}: the name ${JSON.stringify(suffix)} after ${base}_ may hold A-Z a-z 0-9 _ - alone`];
  });
}

/** Lists unknown variables. An unknown `SVC_` variable is probably misspelt; a `MINIO_` one may belong to a feature that is not here. */
export function unknownVariables(names: Iterable<string>): string[] {
  const exact = new Set(namesOf(settings));
  const bases = namesOf(settings.filter(({ scope }) => scope !== 'server'));
  return [...names]
    .filter((name) => /^(?:SVC|MINIO)_/.test(name) && !name.endsWith('_CONFIG_ENV_FILE'))
    .filter((name) => !exact.has(name) && !exact.has(name.replace(/_FILE$/, '')))
    .filter((name) => isOfMinioAlone(name) || !bases.some((base) => name.startsWith(`${base}_`)));
}

/**
 * Reports whether a variable is a setting of MinIO's that begins as one of Coffer's does: what follows is not the name of a target.
 *
 * @see https://min.io/docs/minio/linux/reference/minio-server/settings/notifications/kafka.html
 */
export function isOfMinioAlone(name: string): boolean {
  return /^(?:SVC|MINIO)_NOTIFY_(?:KAFKA_TLS_(?:SKIP_VERIFY|CLIENT_AUTH)|NATS_TLS_SKIP_VERIFY)(?:_|$)/.test(name);
}

/**
 * Variables of MinIO that make a deployment safer or its data more durable, and that no setting here supports. An administrator who sets
 * one expects its effect, which the second column names.
 *
 * @see https://min.io/docs/minio/linux/reference/minio-server/settings.html
 */
const guards: readonly (readonly [name: RegExp, effect: string])[] = [
  [/^MINIO_POLICY_(?:PLUGIN|OPA)_/, 'had another service decide about access'],
  [/^MINIO_IDENTITY_/, 'changed who may sign in'],
  [/^MINIO_ETCD_/, 'kept identities and policies in etcd'],
  [/^MINIO_API_ROOT_ACCESS$/, 'decided whether the root credentials work'],
  [/^MINIO_(?:KMS|SSE)_/, 'changed how objects are encrypted'],
  [/^MINIO_NOTIFY_\w+_TLS_SKIP_VERIFY(?:_|$)/, 'took any certificate of a target'],
  [/^MINIO_NOTIFY_(?!.*_(?:QUEUE_DIR|COMMENT)(?:_|$))/, 'sent events elsewhere'],
  [/^MINIO_AUDIT_/, 'sent the audit log elsewhere'],
  [/^MINIO_WORM$/, 'kept objects from being changed'],
  [/^MINIO_STORAGE_CLASS_/, 'set how many drives may fail'],
  [/^MINIO_FS_OSYNC$|^MINIO_DRIVE_SYNC$/, 'had each write flushed'],
  [/^MINIO_BROWSER_(?:CONTENT_SECURITY_POLICY|HSTS_|REFERRER_POLICY)/, 'set security headers of the console'],
];

export function unsafeToIgnore(variables: ReadonlyMap<string, string>, known: readonly string[]): string[] {
  return unknownVariables(variables.keys()).flatMap((name) => {
    const effect = guards.find(([pattern]) => pattern.test(name))?.[1];
    if (effect === undefined || known.includes(name) || hasNoEffect(name, variables.get(name))) return [];
    return [
      `${name} ${effect} in MinIO, and Coffer does not honour it: unset it, or name it in SVC_IGNORED_VARIABLES to start without its effect`,
    ];
  });
}

/** Reports whether the value switches nothing on. Root access is the only switch that is on in MinIO by default. */
function hasNoEffect(name: string, value = ''): boolean {
  const off = value === 'off' || value === 'false';
  return value === '' || (name === 'MINIO_API_ROOT_ACCESS' ? !off : off);
}
