import { apiGroup, type CofferObject } from './object.ts';
import { eachKind } from './kinds.ts';
import { type Secret, type SecretUse, useLabel } from '../contract/secret.ts';

const plurals = new Map<string, string>(eachKind(({ kind, plural }) => [kind, plural] as const));

/**
 * Returns a resource as an argument of kubectl: with its group, since another kind of the cluster may have the same name, and with its namespace,
 * which need not be that of the user.
 *
 * @example kubectlArgument(bucket) // buckets.coffer.dev photos --namespace team
 */
export function kubectlArgument({ kind, metadata: { name, namespace } }: CofferObject): string {
  return `${plurals.get(kind)}.${apiGroup} ${name}${namespaceFlag(namespace)}`;
}

/** Returns the flag of kubectl; empty for a resource of the local runtime, which has no namespace. */
export function namespaceFlag(namespace: string | undefined): string {
  return namespace === undefined ? '' : ` --namespace ${namespace}`;
}

/** Returns the advice for a Secret without the needed use. */
export function allowUse({ name, namespace }: Pick<Secret, 'name' | 'namespace'>, use: SecretUse): string {
  return `its owner must allow it: kubectl label secret ${name}${namespaceFlag(namespace)} ${useLabel(use)}=true`;
}
