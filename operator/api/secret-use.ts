/**
 * What a Secret may be used for. A person may be allowed to write resources and not to read Secrets; without this, a resource that names a
 * Secret and an address of that person's own would have the operator or a pod send it there.
 */
export const secretUses = [
  'identity-provider',
  'keystore',
  'database',
  'object-storage',
  'setting',
  'root-credentials',
  'access-key',
  'ca-bundle',
  'tls',
] as const;

export type SecretUse = (typeof secretUses)[number];

/** `coffer.dev/use-database: "true"` on the Secret. */
export function useLabel(use: SecretUse): string {
  return `coffer.dev/use-${use}`;
}

/** By its labels, or by a type of its own: `coffer.dev/database`; `kubernetes.io/tls` says it of itself. */
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

/** What to do where a Secret lacks the use that a field has for it. */
export function allowUse(secret: string, use: SecretUse): string {
  return `its owner must allow it: kubectl label secret ${secret} ${useLabel(use)}=true`;
}
