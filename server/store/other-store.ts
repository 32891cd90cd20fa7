import { readFile } from 'node:fs/promises';
import { ProgramError } from '../../platform/errors/program-error.ts';
import { fileErrorReason } from '../../platform/errors/system-error.ts';
import { expectedDeployment, nextDeployment, type ExpectedDeployment } from '../../protocol/expected-deployment.ts';

/** The store is not the one of this deployment. An administrator may give the right one back, or accept it, while the server waits. */
export class OtherStoreError extends Error {
  readonly code = 'other-store';
  /** The ID that an acceptance has to name. */
  readonly store: string;

  constructor(store: string, message: string) {
    super(message);
    this.store = store;
  }
}

/** Returns the ID for a new store. Throws `OtherStoreError` where the data of the deployment was somewhere else. */
export function idOfNewStore(
  { expected, unprovenClaim, accepted }: ExpectedDeployment,
  place: string,
): string | undefined {
  const from = expected ?? unprovenClaim;
  if (from === undefined) return undefined;
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

/**
 * Throws `OtherStoreError` for the store of a deployment that is neither the expected nor the accepted one, that is another's, or that is on an
 * unproven claim.
 */
export function refuseOtherStore(
  { expected, unprovenClaim, accepted, others = [] }: ExpectedDeployment,
  found: string,
  place: string,
): void {
  if (others.includes(found)) {
    throw new OtherStoreError(
      found,
      `the records at ${place} are those of another deployment, ${found}: give this one a database and bodies of its own`,
    );
  }
  if (found === expected || found === accepted) return;
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
