import { apiVersion, type CofferObject } from './object.ts';

/**
 * Manifests that are good, and changes that a rule refuses: the same cases run against the functions here and, in test/api-server,
 * against the CEL of the generated CRDs on a real API server.
 */
export interface RuleCases {
  readonly kind: CofferObject['kind'];
  readonly plural: string;
  readonly good: readonly { readonly title: string; readonly spec: Spec }[];
  readonly bad: readonly { readonly title: string; readonly spec: Spec; readonly message: string }[];
  /** What only the API server refuses. */
  readonly badAtApiServer?: RuleCases['bad'];
  /** A change of the first into the second spec is refused. */
  readonly badChanges: readonly {
    readonly title: string;
    readonly from: Spec;
    readonly to: Spec;
    readonly message: string;
  }[];
}

export type Spec = Readonly<Record<string, unknown>>;

export function manifestOf(kind: string, name: string, spec: Spec) {
  return { apiVersion, kind, metadata: { name }, spec };
}
