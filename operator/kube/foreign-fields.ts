import type { KubeObject } from './kube-api.ts';

/** A tree of `fieldsV1`: `f:NAME`, `k:{KEYS}` of an item of a list, `v:VALUE`. */
export interface FieldTree {
  readonly [segment: string]: FieldTree;
}

/** Fields of a spec that another than the operator wrote. */
export interface ForeignFields {
  readonly manager: string;
  /** Below `spec`. */
  readonly fields: FieldTree;
}

interface ManagedFields {
  readonly manager?: string;
  readonly operation?: string;
  readonly subresource?: string;
  readonly fieldsV1?: FieldTree;
}

/** The one field manager of the operator, as `KubeClient` names it. */
const own = 'coffer-operator';

/**
 * What others wrote into the spec of an object that the operator applies. What a subresource was used for (a status, a scale) does not
 * count, nor what the server filled in, which nobody owns.
 *
 * @see https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
 */
export function foreignFields(object: KubeObject): readonly ForeignFields[] {
  return managedFieldsOf(object).flatMap(({ manager = 'unknown', subresource, fieldsV1 }) => {
    const fields = fieldsV1?.['f:spec'];
    return manager === own || subresource !== undefined || fields === undefined ? [] : [{ manager, fields }];
  });
}

/** The entries of an object without those by which others own a part of its spec, and without its own but those of apply. */
export function withoutForeign(object: KubeObject): readonly object[] {
  return managedFieldsOf(object).filter(
    ({ manager, operation, subresource, fieldsV1 }) =>
      subresource !== undefined || (manager === own ? operation === 'Apply' : fieldsV1?.['f:spec'] === undefined),
  );
}

function managedFieldsOf({ metadata }: KubeObject): readonly ManagedFields[] {
  return (metadata as { readonly managedFields?: readonly ManagedFields[] }).managedFields ?? [];
}
