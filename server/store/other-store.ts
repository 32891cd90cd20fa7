import { readFile } from 'node:fs/promises';
import { ProgramError } from '../../platform/errors/program-error.ts';
import { fileErrorReason } from '../../platform/errors/system-error.ts';
import {
  describeTenant,
  expectedDeployment,
  nextDeployment,
  type ExpectedDeployment,
  type StoreTenant,
} from '../../protocol/expected-deployment.ts';

/** The store is not the one of this deployment. An administrator may give the right one back, or accept it, while the server waits. */
export class OtherStoreError extends Error {
  readonly code = 'other-store';
  /** The ID that an acceptance has to name. */
  readonly store: string;
  /** The UID of the other Tenant that has the store; undefined where that is not why it is refused. */
  readonly tenant: string | undefined;

  constructor(store: string, message: string, tenant?: string) {
    super(message);
    this.store = store;
    this.tenant = tenant;
  }
}

/** Returns the ID for a new store. Throws `OtherStoreError` where the data of the deployment was somewhere else. */
export function idOfNewStore(
  { expected, unprovenClaim, accepted }: ExpectedDeployment,
  place: string,
): string | undefined {
  const from = expected ?? unprovenClaim;
  if (from === undefined) {
    if (accepted === undefined) return undefined;
    // The ID that is reported tells the operator that nothing is there. Acceptances of it begin no store either.
    throw new OtherStoreError(
      nextDeployment(accepted),
      `the records at ${place} are new or empty, and the store of the deployment ${accepted} was accepted: restore it there, or take the ` +
        'acceptance back to begin a new one',
    );
  }
  const next = nextDeployment(from);
  if (accepted === next) return next;
  const why =
    expected === undefined
      ? 'their volume was there before this server: restore the data on it'
      : `the data is that of the deployment ${expected}: give its volume or database back, or restore it`;
  throw new OtherStoreError(
    next,
    `the records at ${place} are new or empty, and ${why}; an accepted empty store gets the ID ${next}`,
  );
}

/** The part of the record of a deployment that names it and its Tenant. */
interface FoundDeployment {
  readonly deploymentId: string;
  /** Undefined for a store that was begun by an earlier server, or by one without an operator. */
  readonly tenant?: StoreTenant | undefined;
}

/**
 * Throws `OtherStoreError` for the store of a deployment that is neither the expected nor the accepted one, that is another's or another Tenant's, or
 * that is on an unproven claim.
 */
export function refuseOtherStore(
  { expected, unprovenClaim, accepted, others = [], tenant }: ExpectedDeployment,
  { deploymentId: found, tenant: holder }: FoundDeployment,
  place: string,
): void {
  if (others.includes(found)) {
    throw new OtherStoreError(
      found,
      `the records at ${place} are those of another deployment, ${found}: give this one a database and bodies of its own`,
    );
  }
  if (found === expected || found === accepted) return;
  if (tenant !== undefined && holder !== undefined && holder.uid !== tenant.uid) {
    throw ofOtherTenant({ found, holder, place }, tenant, expected);
  }
  if (expected === undefined) {
    if (unprovenClaim === undefined) return;
    throw new OtherStoreError(
      found,
      `the records at ${place} are those of the deployment ${found}, and their volume was there before this server: accept the store by its ID`,
    );
  }
  throw new OtherStoreError(
    found,
    `the records at ${place} are those of the deployment ${found}, and the data is that of the deployment ${expected}: name its ` +
      'volume or database',
  );
}

function ofOtherTenant(
  { found, holder, place }: { readonly found: string; readonly holder: StoreTenant; readonly place: string },
  tenant: StoreTenant,
  expected: string | undefined,
): OtherStoreError {
  const data = expected === undefined ? '' : `, whose data is that of the deployment ${expected}`;
  return new OtherStoreError(
    found,
    `the records at ${place} are those of the deployment ${found}, which belongs to ${describeTenant(holder)}, and this server is that of ` +
      `${describeTenant(tenant)}${data}: give it a database and bodies of its own. Where it goes on in place of that Tenant, which must not run again, ` +
      'or with a copy of its database and bodies, accept the store by its ID',
    holder.uid,
  );
}

/**
 * Returns the Tenant that the record of a deployment has to name from now on; undefined while it stays. A store without one gets the first that has
 * it. One of another Tenant is given to the Tenant that accepts it, also where that had it before, so that a Tenant can take its store back.
 */
export function newTenantOf(
  { accepted, tenant }: ExpectedDeployment,
  { deploymentId, tenant: holder }: FoundDeployment,
): StoreTenant | undefined {
  if (tenant === undefined || holder?.uid === tenant.uid) return undefined;
  return holder === undefined || accepted === deploymentId ? tenant : undefined;
}

/** Returns the refusal of a store that was accepted, and that servers of the Tenant that has it serve at `endpoints`. */
export function stillServed(
  {
    deploymentId,
    holder,
    place,
  }: { readonly deploymentId: string; readonly holder: StoreTenant; readonly place: string },
  endpoints: readonly string[],
): OtherStoreError {
  return new OtherStoreError(
    deploymentId,
    `the store of the deployment ${deploymentId} at ${place} was accepted, and servers of another Tenant, or of no Tenant, serve it (${endpoints.join(', ')}); ` +
      `its records name ${describeTenant(holder)}: stop them, or give this server a database and bodies of its own`,
    holder.uid,
  );
}

/** Returns the warning of a server that serves the store of another Tenant. */
export function servesOtherTenant(deploymentId: string, holder: StoreTenant): string {
  return (
    `the records of the deployment ${deploymentId} name ${describeTenant(holder)}, which took the store by an acceptance, and this server is not of that ` +
    `Tenant: give each a database of its own; where no server of that Tenant runs, annotate the Tenant of this server with coffer.dev/accept-store=${deploymentId} and restart its servers`
  );
}

/** Reads the file of `SVC_DEPLOYMENT_FILE`. Throws `ProgramError`. */
export async function readExpectedDeployment(path: string | undefined): Promise<ExpectedDeployment> {
  if (path === undefined) return {};
  try {
    return expectedDeployment.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (error) {
    const why =
      error instanceof Error && 'code' in error ? fileErrorReason(error) : 'it is not what the operator writes';
    throw new ProgramError('deployment', `SVC_DEPLOYMENT_FILE: ${path} cannot be read: ${why}`, { cause: error });
  }
}
