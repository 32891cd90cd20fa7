import type { KeyCanaries, KeyCanary } from '../../../protocol/key-service/canary.ts';
import type { KMSConfig, Tenant } from '../../api/object.ts';
import { keysProvenAnnotation } from '../../api/tenant.ts';
import { canonical } from '../../render/restart-inputs.ts';
import type { RunningWorkload } from '../../contract/runtime.ts';
import type { KeyServiceInUse, ResourceStatus } from '../conditions.ts';
import type { Issue } from '../workload-conditions.ts';
import { objectKey, type Resources } from '../resources.ts';
import type { ReconcilerOptions } from '../reconciler-options.ts';

type Statuses = Pick<ReconcilerOptions, 'status'>;

/** A tenant with the kmsConfigRef that counts, and the problem of the one in its spec. */
interface DecidedKeyService {
  readonly tenant: Tenant;
  readonly issue: Issue | undefined;
}

/**
 * Decides which key service a tenant uses. A server encrypts its backend at its first start and depends on these keys from then on.
 * Another key service counts only once it is proven to hold them: a server that cannot read its backend does not start.
 */
export async function decideKeyService(
  tenant: Tenant,
  resources: Resources,
  running: RunningWorkload | undefined,
  options: Pick<ReconcilerOptions, 'status' | 'proveKeys'>,
): Promise<DecidedKeyService> {
  const known = inUse(options.status.get(referenceTo(tenant))) ?? runningWith(tenant, running);
  const wanted = tenant.spec.kmsConfigRef;
  if (known === undefined || (wanted !== undefined && coversKeys(wanted, known))) return { tenant, issue: undefined };
  const why = await whyNotProven(tenant, known, resources, options);
  if (why === undefined) return { tenant, issue: undefined };
  return { tenant: withReference(tenant, known), issue: { reason: 'KeysNotProven', message: why } };
}

/** Returns the tenants that a key service serves, each with the reference that counts. */
export function usersOfKeyService(kms: string, { tenants }: Resources, { status }: Statuses): readonly Tenant[] {
  const users: Tenant[] = [];
  for (const tenant of tenants.values()) {
    if (tenant.spec.kmsConfigRef === undefined) continue;
    const known = inUse(status.get(referenceTo(tenant)));
    const wanted = tenant.spec.kmsConfigRef;
    const counts = known === undefined || coversKeys(wanted, known) ? tenant : withReference(tenant, known);
    if (counts.spec.kmsConfigRef?.name === kms) users.push(counts);
  }
  return users;
}

/**
 * Returns the canaries of the keys that sealed the data of these tenants, by the name of the key. `untold` are tenants with data whose
 * servers have not told their keys, as after a restore without statuses: their default keys have none, and must not be made either.
 */
export function canariesOf(
  kms: KMSConfig,
  tenants: readonly Tenant[],
  untold: readonly Tenant[],
  { status }: Statuses,
): readonly KeyCanaries[] {
  const found = new Map<string, KeyCanary[]>(
    untold.map(({ spec }) => [spec.kmsConfigRef?.defaultKey ?? kms.spec.defaultKey, []]),
  );
  for (const tenant of tenants) {
    for (const { key, canaries } of status.get(referenceTo(tenant))?.keys ?? []) {
      found.set(key, [...(found.get(key) ?? []), ...canaries]);
    }
  }
  return [...found.keys()].toSorted().map((key) => ({ key, canaries: found.get(key) ?? [] }));
}

/** Tenants that are to move to a key service, and whose keys it is asked for: with the prefix of the keys that they could use so far. */
export function moversTo(kms: KMSConfig, { tenants, kmsConfigs }: Resources, { status }: Statuses): readonly Tenant[] {
  return [...tenants.values()].flatMap((tenant) => {
    const known = inUse(status.get(referenceTo(tenant)));
    const wanted = tenant.spec.kmsConfigRef;
    if (known === undefined || wanted?.name !== kms.metadata.name || known.name === wanted.name) return [];
    const from = kmsConfigs.get(known.name);
    const isAsked = from !== undefined && !sameKeystore(from, kms) && known.keyPrefix.startsWith(wanted.keyPrefix);
    return isAsked ? [withReference(tenant, { ...known, name: wanted.name })] : [];
  });
}

/** Names of the tenants whose data needs the key service, or whose server runs with it still. */
export function holdersOf(
  kms: string,
  users: readonly Tenant[],
  running: readonly RunningWorkload[],
  { status }: Statuses,
): readonly string[] {
  const started = users.filter((tenant) => inUse(status.get(referenceTo(tenant))) !== undefined);
  const run = running.filter(
    (workload) =>
      workload.name.endsWith('-server') &&
      [workload.inputs, ...workload.instances.map(({ inputs }) => inputs)].some((inputs) =>
        inputs.some(({ of }) => of.kind === 'KMSConfig' && of.name === kms),
      ),
  );
  const names = [
    ...started.map(({ metadata }) => metadata.name),
    ...run.map(({ name }) => name.replace(/-server$/, '')),
  ];
  return [...new Set(names)].sort();
}

/** Returns the part of the status that records the key service of a started tenant. */
export function keyServiceStatus({ spec }: Tenant): Pick<ResourceStatus, 'keyService'> {
  const ref = spec.kmsConfigRef;
  if (ref === undefined) return {};
  const { name, keyPrefix, defaultKey } = ref;
  return { keyService: { name, keyPrefix, ...(defaultKey === undefined ? {} : { defaultKey }) } };
}

function inUse(status: ResourceStatus | undefined): KeyServiceInUse | undefined {
  return status?.keyService;
}

/** Returns the key service of a server that an older operator started, which kept no record in the status. */
function runningWith({ spec }: Tenant, running: RunningWorkload | undefined): KeyServiceInUse | undefined {
  const name = running?.inputs.find(({ of }) => of.kind === 'KMSConfig')?.of.name;
  return name === undefined ? undefined : { keyPrefix: '', ...spec.kmsConfigRef, name };
}

/** The same key service, and every key that the tenant could use so far. */
function coversKeys(wanted: KeyServiceInUse, known: KeyServiceInUse): boolean {
  return wanted.name === known.name && known.keyPrefix.startsWith(wanted.keyPrefix);
}

async function whyNotProven(
  tenant: Tenant,
  known: KeyServiceInUse,
  { kmsConfigs, deleting }: Resources,
  { proveKeys }: Pick<ReconcilerOptions, 'proveKeys'>,
): Promise<string | undefined> {
  const wanted = tenant.spec.kmsConfigRef;
  const held = `the data of Tenant ${tenant.metadata.name} is sealed with keys of KMSConfig ${known.name}`;
  if (wanted === undefined) return `${held}: put spec.kmsConfigRef.name: ${known.name} back`;
  if (!known.keyPrefix.startsWith(wanted.keyPrefix)) {
    return `${held} that begin with "${known.keyPrefix}": put spec.kmsConfigRef.keyPrefix back`;
  }
  if (tenant.metadata.annotations?.[keysProvenAnnotation] === wanted.name) return undefined;
  const [from, to] = [kmsConfigs.get(known.name), kmsConfigs.get(wanted.name)];
  if (to === undefined || deleting.has(objectKey({ kind: 'KMSConfig', name: wanted.name }))) {
    return `spec.kmsConfigRef names the KMSConfig ${wanted.name}, which does not exist or is being deleted, and ${held}`;
  }
  if (from !== undefined && sameKeystore(from, to)) return undefined;
  const asked =
    from === undefined
      ? `KMSConfig ${known.name} does not exist, so that it cannot be asked for them`
      : proveKeys === undefined
        ? 'their keystores differ'
        : await proveKeys({ from, to, tenant: tenant.metadata.name, keyPrefix: known.keyPrefix });
  if (asked === undefined) return undefined;
  return (
    `KMSConfig ${wanted.name} is not proven to hold the keys of Tenant ${tenant.metadata.name}, which are those of ` +
    `KMSConfig ${known.name}: ${asked}; put spec.kmsConfigRef.name back, or give both the same keystore, or annotate the ` +
    `Tenant with ${keysProvenAnnotation}=${wanted.name} if you moved the keys yourself`
  );
}

/** One place for the keys of both: what one reads, the other does. */
function sameKeystore(from: KMSConfig, to: KMSConfig): boolean {
  const { files, ...kept } = from.spec.keystore;
  const { files: otherFiles, ...other } = to.spec.keystore;
  if (canonical(kept) !== canonical(other)) return false;
  if (files === undefined || otherFiles === undefined) return files === otherFiles;
  const same = (field: 'existingClaim' | 'path') => files[field] !== undefined && files[field] === otherFiles[field];
  return same('existingClaim') || same('path');
}

function withReference(tenant: Tenant, { name, keyPrefix, defaultKey }: KeyServiceInUse): Tenant {
  const kmsConfigRef = { name, keyPrefix, ...(defaultKey === undefined ? {} : { defaultKey }) };
  return { ...tenant, spec: { ...tenant.spec, kmsConfigRef } };
}

function referenceTo({ metadata }: Tenant) {
  return { kind: 'Tenant', name: metadata.name } as const;
}
