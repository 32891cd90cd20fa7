import type { Secret } from '../api/object.ts';
import { allowUse, type SecretUse, usesOf } from '../api/secret-use.ts';
import type { Cache, KubeApi, OwnerReference } from '../kube/kube-api.ts';
import { ForeignObject } from '../reconcile/foreign-object.ts';
import type { ResourceReference } from '../workload.ts';
import { encodeData, secretData } from './certificates/secret-data.ts';
import { madeSecret } from './made-secret.ts';
import { ownedLabels } from './objects/labels.ts';
import { ownershipOf } from './ownership.ts';

export interface MadeCredentialsOptions {
  readonly api: KubeApi;
  readonly secrets: Cache;
  readonly namespace: string;
  readonly owner: (about: ResourceReference) => OwnerReference | undefined;
}

/** Credentials that the operator makes for a resource. */
export interface WantedCredentials {
  /** Of the Secret. */
  readonly name: string;
  readonly about: ResourceReference;
  /** What a Secret that a person made must be allowed for. */
  readonly use: SecretUse;
  /** Whether the Secret goes with the resource. */
  readonly goesWithIt: boolean;
  readonly make: () => Readonly<Record<string, string>>;
}

/** The Secret that is there, made by the operator or allowed for this use, or one made once. Errors with `ForeignObject` and `KubeError`. */
export async function madeCredentialsSecret(
  { name, about, use, goesWithIt, make }: WantedCredentials,
  options: MadeCredentialsOptions,
): Promise<Secret> {
  const { namespace, owner } = options;
  const wanted = () => {
    const reference = goesWithIt ? owner(about) : undefined;
    return {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name,
        namespace,
        labels: ownedLabels(about),
        ...(reference === undefined ? {} : { ownerReferences: [reference] }),
      },
      type: 'Opaque',
      data: encodeData(make()),
    };
  };
  const kept = await madeSecret(options, namespace, name, wanted);
  const uses = usesOf({ labels: kept.metadata.labels, type: kept['type'] as string | undefined });
  if (!uses.has(use) && ownershipOf(kept, wanted()).kind === 'foreign') {
    throw new ForeignObject(`Secret ${name} was not made by the operator; ${allowUse(name, use)}`);
  }
  const values = Object.entries(secretData(kept)).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, value] as const],
  );
  return { name, data: Object.fromEntries(values) };
}
