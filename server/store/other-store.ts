import { readFile } from 'node:fs/promises';
import { ProgramError } from '../../platform/program-error.ts';
import { fileErrorReason } from '../../platform/system-error.ts';
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
export function idOfNewStore({ expected, accepted }: ExpectedDeployment, place: string): string | undefined {
  if (expected === undefined) return undefined;
  const next = nextDeployment(expected);
  if (accepted === next) return next;
  throw new OtherStoreError(
    next,
    `the records at ${place} are new or empty, and the data is that of the deployment ${expected}: give its volume or database back, or ` +
      `restore it; an accepted empty store gets the ID ${next}`,
  );
}

/** Throws `OtherStoreError` for the store of a deployment that is neither the expected nor the accepted one, or that is another's. */
export function refuseOtherStore(
  { expected, accepted, others = [] }: ExpectedDeployment,
  found: string,
  place: string,
): void {
  if (others.includes(found)) {
    throw new OtherStoreError(
      found,
      `the records at ${place} are those of another deployment, ${found}: give this one a database and bodies of its own`,
    );
  }
  if (expected === undefined || found === expected || found === accepted) return;
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
