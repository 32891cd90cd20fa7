import { secretLine } from '../../../../platform/settings/setting-text.ts';
import { ResourceError } from '../../../api/resource-error.ts';
import { type AccessKey, type User, type Tenant } from '../../../api/object.ts';
import { allowUse } from '../../../api/kubectl-argument.ts';
import { type Secret, type SecretUse, usesOf } from '../../../contract/secret.ts';
import type { Cache, KubeApi, KubeObject, OwnerReference } from '../../../kube-client/kube-api.ts';
import type { ResourceRef } from '../../../contract/workload.ts';
import { encodeData, secretData, madeSecret } from './made-secret.ts';
import { ownedLabels } from '../objects/labels.ts';
import { ownershipOf } from '../workload/object-writer.ts';
import { credentialsSecretName, madeRootSecretName, newCredentials } from '../../../reconcile/managed/credentials.ts';
import { randomBytes } from 'node:crypto';

interface MadeCredentialsOptions {
  readonly api: KubeApi;
  readonly secrets: Cache;
  readonly namespace: string;
  readonly owner: (ref: ResourceRef) => OwnerReference | undefined;
}

/** Credentials that the operator makes for a resource. */
interface WantedCredentials {
  /** Name of the Secret. */
  readonly name: string;
  readonly ref: ResourceRef;
  /** The use that a Secret of the user must be allowed for. */
  readonly use: SecretUse;
  /** True when the Secret is deleted with the resource. */
  readonly goesWithIt: boolean;
  readonly make: () => Readonly<Record<string, string>>;
}

/** Returns the existing Secret, made by the operator or allowed for this use, or makes it. Errors with `ResourceError` and `KubeError`. */
async function madeCredentialsSecret(
  { name, ref, use, goesWithIt, make }: WantedCredentials,
  options: MadeCredentialsOptions,
): Promise<Secret> {
  const { namespace, owner } = options;
  const wanted = () => {
    const reference = goesWithIt ? owner(ref) : undefined;
    return {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name,
        namespace,
        labels: ownedLabels(ref),
        ...(reference === undefined ? {} : { ownerReferences: [reference] }),
      },
      type: 'Opaque',
      data: encodeData(make()),
    };
  };
  const kept = await madeSecret(options, namespace, name, wanted);
  const uses = usesOf({ labels: kept.metadata.labels, type: kept['type'] as string | undefined });
  if (!uses.has(use) && ownershipOf(kept, wanted()).kind === 'foreign') {
    throw new ResourceError(
      'Conflict',
      `Secret ${name} was not made by the operator; ${allowUse({ name, namespace }, use)}`,
    );
  }
  const values = Object.entries(secretData(kept)).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, secretLine(value)] as const],
  );
  return { name, data: Object.fromEntries(values) };
}

/**
 * Returns the Secret with the keys of a User or an AccessKey: the existing one, or a new one. Errors with a `KubeError`.
 *
 * It has no owner reference: a backup restores it before its resource, which has another UID then, and the garbage collector of
 * Kubernetes would delete it, so that applications got other keys. `removeCredentials` deletes it with its resource.
 */
export async function madeCredentials(resource: User | AccessKey, options: MadeCredentialsOptions): Promise<Secret> {
  const name = credentialsSecretName(resource);
  const ref = { kind: resource.kind, name: resource.metadata.name } as const;
  await disown(name, ref, options);
  return madeCredentialsSecret(
    { name, ref, use: 'access-key', goesWithIt: false, make: () => newCredentials(resource) },
    options,
  );
}

/** Takes away the owner reference that an earlier release gave the Secret of this resource. */
async function disown(name: string, ref: ResourceRef, options: MadeCredentialsOptions): Promise<void> {
  const { api, secrets, namespace } = options;
  const kept = secrets.get(namespace, name);
  const references = kept?.metadata.ownerReferences ?? [];
  const others = references.filter((one) => one.kind !== ref.kind || one.name !== ref.name);
  if (kept === undefined || others.length === references.length || !isMadeFor(kept, ref)) return;
  const { resourceVersion } = kept.metadata;
  const metadata = {
    ownerReferences: others.map((one) => ({ ...one })),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
  secrets.wrote(await api.patch(secrets.type, namespace, name, { metadata }));
}

/** Deletes the Secret that the operator made for a resource, with the resource. A Secret of the user stays. */
export async function removeCredentials(
  resource: User | AccessKey,
  { api, secrets, namespace }: Omit<MadeCredentialsOptions, 'owner'>,
): Promise<void> {
  const name = credentialsSecretName(resource);
  const kept = await api.get(secrets.type, namespace, name);
  if (kept === undefined || !isMadeFor(kept, { kind: resource.kind, name: resource.metadata.name })) return;
  await api.delete(secrets.type, namespace, name, { uid: kept.metadata.uid });
}

function isMadeFor({ metadata }: KubeObject, ref: ResourceRef): boolean {
  return Object.entries(ownedLabels(ref)).every(([label, value]) => metadata.labels?.[label] === value);
}

/** The sources that know the root credentials of a tenant beside their Secret. */
interface KnownRoot {
  /** Returns the pair that its servers take (`rootUser`, `rootPassword`). */
  readonly accepted: () => Promise<Readonly<Record<string, string>> | undefined>;
  /** Reports whether its server has run. Then applications may have the root password. */
  readonly hasRun: () => Promise<boolean>;
}

/**
 * Returns the Secret with the root credentials of a tenant (`rootUser`, `rootPassword`). A Secret that the spec names may be missing; then
 * the answer is empty and the renderer reports it. Otherwise the operator makes one, which is deleted with the tenant only when
 * `reclaimPolicy` is Delete. A Secret of that name made by the user counts when it is allowed. One that was deleted is made again with the
 * credentials that the servers take; where nobody knows these, none is made. Errors with a `KubeError`.
 */
export async function rootCredentials(
  tenant: Tenant,
  secrets: ReadonlyMap<string, Secret>,
  options: MadeCredentialsOptions & KnownRoot,
): Promise<Secret> {
  const named = tenant.spec.rootCredentialsSecret?.name;
  if (named !== undefined) return secrets.get(named) ?? { name: named, data: {}, missing: true };
  const name = madeRootSecretName(tenant.metadata.name);
  const isThere = (await foundSecret(name, options)) !== undefined;
  const { rootUser, rootPassword } = (isThere ? undefined : await options.accepted()) ?? {};
  if (!isThere && rootPassword === undefined && (await options.hasRun())) return { name, data: {}, missing: true };
  return madeCredentialsSecret(
    {
      name,
      ref: { kind: 'Tenant', name: tenant.metadata.name },
      use: 'root-credentials',
      goesWithIt: tenant.spec.reclaimPolicy === 'Delete',
      make: () => ({
        rootUser: rootUser ?? 'admin',
        rootPassword: rootPassword ?? randomBytes(24).toString('hex'),
      }),
    },
    options,
  );
}

async function foundSecret(
  name: string,
  { api, secrets, namespace }: Pick<MadeCredentialsOptions, 'api' | 'secrets' | 'namespace'>,
): Promise<KubeObject | undefined> {
  return secrets.get(namespace, name) ?? (await api.get(secrets.type, namespace, name));
}
