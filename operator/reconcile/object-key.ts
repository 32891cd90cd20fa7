import { resourceKinds, type ResourceKind, type ResourceReference } from '../workload.ts';

const kinds: readonly string[] = resourceKinds;

/** `Kind/name`: a resource among those of its namespace. */
export function objectKey({ kind, name }: ResourceReference): string {
  return `${kind}/${name}`;
}

/** The reverse of `objectKey`; undefined for a kind that has no passes, such as a Secret. */
export function parseObjectKey(key: string): ResourceReference | undefined {
  const [kind, name] = key.split('/');
  if (kind === undefined || !kinds.includes(kind) || name === undefined || name === '') return undefined;
  return { kind: kind as ResourceKind, name };
}

/** `namespace/Kind/name`: a resource among all, as the queue of the operator knows it. */
export function queueKey(namespace: string, about: ResourceReference): string {
  return `${namespace}/${objectKey(about)}`;
}

/** The reverse of `queueKey`. Errors on what that never made. */
export function parseQueueKey(key: string): { readonly namespace: string; readonly about: ResourceReference } {
  const [namespace = '', ...rest] = key.split('/');
  const about = parseObjectKey(rest.join('/'));
  if (about === undefined) throw new Error(`${key} is no key of the queue`);
  return { namespace, about };
}
