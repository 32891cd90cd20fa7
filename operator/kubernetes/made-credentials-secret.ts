import type { Secret } from '../api/object.ts';
import type { Cache, KubeApi, OwnerReference } from '../kube/kube-api.ts';
import type { ResourceReference } from '../workload.ts';
import { encodeData, secretData } from './certificates/secret-data.ts';
import { madeSecret } from './made-secret.ts';
import { ownedLabels } from './objects/labels.ts';

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
  /** Whether the Secret goes with the resource. */
  readonly goesWithIt: boolean;
  readonly make: () => Readonly<Record<string, string>>;
}

/** The Secret that is there, whoever made it, or one made once. Errors with a `KubeError`. */
export async function madeCredentialsSecret(
  { name, about, goesWithIt, make }: WantedCredentials,
  options: MadeCredentialsOptions,
): Promise<Secret> {
  const { namespace, owner } = options;
  const kept = await madeSecret(options, namespace, name, () => {
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
  });
  const values = Object.entries(secretData(kept)).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, value] as const],
  );
  return { name, data: Object.fromEntries(values) };
}
