import type { KeyCanaries } from '../../../protocol/key-service/canary.ts';
import { ResponseError } from '../../../protocol/response-error.ts';
import type { Tenant } from '../../api/object.ts';
import type { ConditionUpdate, ResourceStatus } from '../conditions.ts';
import { tenantAccess } from '../managed/tenant-access.ts';
import type { Resources } from '../resources.ts';
import type { SharedState } from '../shared-state.ts';
import type { SealedKeys } from './read-sealed-keys.ts';

/** The keys of a tenant as its server sees them. */
export interface KeyObservation {
  /** Set where the server cannot use a key that sealed data: it replaces what the key service says of itself. */
  readonly condition: ConditionUpdate | undefined;
  /** The part of the status that the answer changes. */
  readonly status: Pick<ResourceStatus, 'keys'>;
}

const nothing: KeyObservation = { condition: undefined, status: {} };

/** Milliseconds until the server is asked again: cached data keys hide an outage from everything else. */
const askAgainMs = 60_000;
/** The limits of the status; see the schema. */
const [maxKeys, maxVersions] = [256, 64];

/**
 * Asks the server of a tenant which keys sealed its data, and whether the key service opens them now. The key service gets them by its
 * configuration, so that none of its pods serves with other keys, and none of these names is made anew.
 */
export async function observeKeys(tenant: Tenant, resources: Resources, shared: SharedState): Promise<KeyObservation> {
  const { options } = shared;
  const ref = { kind: 'Tenant', name: tenant.metadata.name } as const;
  const { kmsConfigRef, paused, hibernated } = tenant.spec;
  if (options.sealedKeys === undefined || kmsConfigRef === undefined || paused || hibernated) return nothing;
  const access = await tenantAccess(tenant, resources, shared);
  // The conditions of the server say why it does not serve.
  if (access === undefined) return nothing;
  options.enqueue(ref, askAgainMs);
  let found: SealedKeys;
  try {
    found = await options.sealedKeys(access);
  } catch (error) {
    // A server of the release before has no such call. Other failures are reported by what they are about.
    if (error instanceof ResponseError) return { ...nothing, condition: notProvenYet(ref, shared) };
    throw error;
  }
  const { keys } = found;
  const known = options.status.get(ref);
  const kept = keysOfStatus(found);
  if (JSON.stringify(known?.keys) !== JSON.stringify(kept)) {
    // The configuration of the key service has them.
    options.enqueue({ kind: 'KMSConfig', name: kmsConfigRef.name });
  }
  const failed = keys.flatMap(({ key, error }) => (error === undefined ? [] : [{ key, ...error }]));
  return { condition: conditionOf(failed), status: { keys: kept } };
}

/** After a start of the operator whose status has no keys, nothing is trusted before the server has told them. */
function notProvenYet(ref: { readonly kind: 'Tenant'; readonly name: string }, { options }: SharedState) {
  if (options.status.get(ref)?.keys !== undefined) return undefined;
  return {
    type: 'KMSReady',
    status: 'Unknown',
    reason: 'KeysNotProven',
    message: 'the server has not told yet which keys sealed its data: nothing proves the key service until it answers',
  } as const;
}

function keysOfStatus({ keys, defaultKey }: SealedKeys): readonly KeyCanaries[] {
  const first = keys.filter(({ key }) => key === defaultKey);
  const others = keys.filter(({ key }) => key !== defaultKey);
  return [...first, ...others]
    .slice(0, maxKeys)
    .map(({ key, canaries }) => ({ key, canaries: canaries.slice(-maxVersions) }))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

/** Codes that an outage does not have: the key service has other keys, or lost some. */
const lost = new Set(['wrong-key', 'key-not-found', 'not-authentic']);

function conditionOf(
  failed: readonly { readonly key: string; readonly code: string; readonly message: string }[],
): ConditionUpdate | undefined {
  if (failed.length === 0) return undefined;
  const reason = failed.some(({ code }) => lost.has(code)) ? 'KeysNotProven' : 'KeyServiceUnavailable';
  const listed = failed.slice(0, 5).map(({ key, message }) => `${key}: ${message}`);
  const more = failed.length > listed.length ? [`and ${failed.length - listed.length} more`] : [];
  const advice =
    reason === 'KeysNotProven'
      ? 'give the KMSConfig the keystore back that it had; nothing is sealed under the other keys meanwhile'
      : 'cached keys may hide it from clients for some minutes';
  const message = `the server cannot open what these keys sealed: ${[...listed, ...more].join('; ')} (${advice})`;
  return { type: 'KMSReady', status: 'False', reason, message };
}
