import { type BlobStore, isEmptyStore } from '../../store/blob-store.ts';
import type { BlobsMarker } from '../../store/blobs-marker.ts';
import { misfitOf } from '../../store/checkpoint.ts';
import { copyKey, decodeDeployment, deploymentKey } from '../../store/deployment.ts';
import { KEY_LIMIT } from '../../store/keys.ts';
import { unpromotedText } from '../../store/promotion.ts';
import type { RecordStore } from '../../store/record-store.ts';
import { isUnreadable } from '../../objects/records/damage.ts';
import { type Issue, shownKey } from './issue.ts';

interface ComparedStores {
  readonly records: RecordStore;
  readonly blobs: Pick<BlobStore, 'list' | 'segments'>;
  readonly marker: BlobsMarker;
  readonly description: string;
}

/** Yields why records and bodies cannot be those of one store at one moment. A server that starts on them compares the same. */
export async function* compareStores({ records, blobs, marker, description }: ComparedStores): AsyncGenerator<Issue> {
  // The target of a copy gets its deployment last.
  if ((await records.get(copyKey)) !== undefined) {
    yield mismatch(
      `a copy to ${description} is not finished: run "coffer-store copy" again, which goes on where it stopped`,
    );
    return;
  }
  const entry = await records.get(deploymentKey);
  const beside = await marker.read();
  if (entry === undefined) {
    if (beside !== undefined) {
      yield mismatch(
        `the bodies belong to the deployment ${beside}, and the records at ${description} are new or empty: the records are lost`,
      );
    } else if ((await isEmpty(records)) && !(await isEmptyStore(blobs))) {
      yield mismatch(`the records at ${description} are empty, and there are bodies: the records are lost`);
    }
    return;
  }
  let deployment;
  try {
    deployment = decodeDeployment(entry.value, description);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    yield { kind: 'unreadable-record', record: shownKey(deploymentKey), message: error.message };
    return;
  }
  const { deploymentId, marked } = deployment;
  if (beside !== undefined && beside !== deploymentId) {
    yield mismatch(`the records belong to the deployment ${deploymentId}, and the bodies beside them to ${beside}`);
    return;
  }
  if (beside === undefined && marked) {
    yield mismatch(`the bodies of the deployment ${deploymentId} are not at ${description}: their marker is missing`);
    return;
  }
  const reason = await misfitOf({ records, marker });
  if (reason !== undefined) yield mismatch(unpromotedText({ reason, since: '' }));
}

async function isEmpty(records: RecordStore): Promise<boolean> {
  const range = { start: Buffer.of(0), end: Buffer.alloc(KEY_LIMIT + 1, 0xff), limit: 1 };
  return (await Array.fromAsync(records.scan(range))).length === 0;
}

function mismatch(message: string): Issue {
  return { kind: 'mismatched-stores', message };
}
