/** core/v1 Secret, with its values decoded. */
export interface Secret {
  readonly name: string;
  /** Undefined in the local runtime. */
  readonly namespace?: string;
  /** The uses that its owner allows; undefined in the local runtime, where the author of a manifest also writes its Secrets. */
  readonly uses?: ReadonlySet<SecretUse>;
  /** True when a resource names the Secret and it does not exist. */
  readonly missing?: true;
  readonly data: Readonly<Record<string, string>>;
}

/**
 * The uses of a Secret. A user may be allowed to write resources and not to read Secrets. Without this check, a resource that names a
 * Secret and an address of that user would make the operator or a pod send the Secret there.
 */
export const secretUses = [
  'identity-provider',
  'keystore',
  'database',
  'object-storage',
  'replication',
  'tier',
  'notification',
  'audit',
  'setting',
  'root-credentials',
  'access-key',
  'ca-bundle',
  'tls',
] as const;

export type SecretUse = (typeof secretUses)[number];

/** Names the label of a use: `coffer.dev/use-database: "true"`. */
export function useLabel(use: SecretUse): string {
  return `coffer.dev/use-${use}`;
}

/** Returns the uses that the labels or the type of a Secret allow: `coffer.dev/database`; `kubernetes.io/tls` allows its own use. */
export function usesOf({
  labels = {},
  type,
}: {
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly type?: string | undefined;
}): ReadonlySet<SecretUse> {
  return new Set(
    secretUses.filter(
      (use) =>
        labels[useLabel(use)] === 'true' ||
        type === `coffer.dev/${use}` ||
        (use === 'tls' && type === 'kubernetes.io/tls'),
    ),
  );
}
