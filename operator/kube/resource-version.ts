import type { KubeObject } from './kube-api.ts';

/**
 * Whether `one` is a later version than `other` of the same type of resource. Versions are decimal numbers on every server since
 * 1.35, and were before on etcd; where they are not, the answer is undefined, and who asks must take what came last.
 *
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions
 */
export function isLater(one: string | undefined, other: string | undefined): boolean | undefined {
  if (one === undefined || other === undefined || !decimal.test(one) || !decimal.test(other)) return undefined;
  return BigInt(one) > BigInt(other);
}

const decimal = /^\d+$/;

export function versionOf(object: KubeObject): string | undefined {
  return object.metadata.resourceVersion;
}
