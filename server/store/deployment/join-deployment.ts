import { randomBytes, randomUUID } from 'node:crypto';
import { commitOnce } from '../commit-once.ts';
import { within } from '../keys.ts';
import { blamesBlobs, BlobsUnavailable } from '../blob-store.ts';
import type { Expectation, RecordStore } from '../record-store.ts';
import type { BlobsMarker } from './blobs-marker.ts';
import { markerName } from './blobs-marker.ts';
import { copyKey } from './copy-key.ts';
import { DeploymentError } from './deployment-error.ts';
import { decodeDeployment, deploymentKey, encodeDeployment } from './deployment-record.ts';
import type { DeploymentRecord } from './deployment-record.ts';

export interface JoinOptions {
  readonly records: RecordStore;
  readonly marker: BlobsMarker;
  /** For messages. */
  readonly places: { readonly records: string; readonly blobs: string };
  /** The ID that new records get; a random one by default. */
  readonly newId?: string;
  /** Whether records that do not say so may be taken to have their blobs here: those of a data folder, from versions that had nothing else. */
  readonly sameFolder: boolean;
}

/**
 * The ID of the deployment that both stores belong to. New ones get it here, by the record first and then the marker; of several
 * servers that start at once, the first one's counts.
 *
 * Throws `DeploymentError` where the stores belong to different deployments; `StoreUnavailable` where the records cannot be reached;
 * `BlobsUnavailable` where the blobs cannot, or their marker is not there, as in a shared folder that is not mounted.
 */
export async function joinDeployment(options: JoinOptions): Promise<string> {
  const { records, marker, places } = options;
  if ((await records.get(copyKey)) !== undefined) {
    throw new DeploymentError(
      `a copy to the records at ${places.records} is not finished: run "coffer-store copy" again, which goes on where it stopped`,
    );
  }
  for (;;) {
    const entry = await records.get(deploymentKey);
    const found = await marker.read().catch(blamesBlobs);
    if (entry === undefined) {
      await refuseForeign(options, found);
      const record = { deploymentId: options.newId ?? randomUUID(), marked: false };
      await change(records, { kind: 'absent', key: deploymentKey }, record);
      continue;
    }
    const { deploymentId, marked } = decodeDeployment(entry.value, places.records);
    if (found !== undefined && found !== deploymentId) throw different(places, deploymentId, found);
    if (found !== undefined) {
      const { revision } = entry;
      if (!marked)
        await change(records, { kind: 'revision', key: deploymentKey, revision }, { deploymentId, marked: true });
      return deploymentId;
    }
    if (marked) throw unmarked(places, deploymentId);
    await marker.write(deploymentId).catch(blamesBlobs);
  }
}

/** A conflict means that another server was first: who asks looks again. */
async function change(records: RecordStore, expectation: Expectation, record: DeploymentRecord): Promise<void> {
  await commitOnce(
    records,
    { expect: [expectation], put: [{ key: deploymentKey, value: encodeDeployment(record) }] },
    randomBytes,
  );
}

async function refuseForeign({ records, places, sameFolder }: JoinOptions, marker: string | undefined): Promise<void> {
  if (marker !== undefined && !sameFolder) {
    throw new DeploymentError(
      `the blobs at ${places.blobs} belong to the deployment ${marker}, and the records at ${places.records} are new: ` +
        'name the records of that deployment, or other blobs',
    );
  }
  if (sameFolder) return;
  for await (const _bucket of records.scan({ ...within('b'), limit: 1 })) {
    throw new DeploymentError(
      `the records at ${places.records} hold buckets whose blobs are in their data folder, and not at ${places.blobs}: ` +
        'start the server once as before, stop it, and move the blobs by coffer-store',
    );
  }
}

function different(places: JoinOptions['places'], deploymentId: string, found: string): DeploymentError {
  return new DeploymentError(
    `the records at ${places.records} belong to the deployment ${deploymentId}, and the blobs at ${places.blobs} to ${found}: ` +
      'name the two stores of one deployment',
  );
}

function unmarked(places: JoinOptions['places'], deploymentId: string): BlobsUnavailable {
  return new BlobsUnavailable(
    'unreachable',
    `the blobs of this deployment are not at ${places.blobs}: ${markerName} is missing there. Is the folder mounted? Where the blobs were ` +
      `moved by hand, put ${markerName} beside them with {"deploymentId": "${deploymentId}"}`,
  );
}
