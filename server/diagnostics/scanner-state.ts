import type { ScannerState, WalkState } from '../administration/diagnostics.ts';
import { readLifecycleStates } from '../maintenance/lifecycle/lifecycle-rounds.ts';
import { readScrubState, type ScrubState } from '../maintenance/verify/scrub.ts';
import type { UsageReader } from '../observability/usage/usage-record.ts';
import type { Usage } from '../observability/usage/usage.ts';
import type { RecordStore } from '../store/record-store.ts';

/** Reads how far the walks over the store are: the count of what is stored, the scrub, and the lifecycle rules of each bucket. */
export async function readScannerState(
  records: RecordStore,
  usage: Pick<UsageReader, 'last'>,
  bucket: string | undefined,
): Promise<ScannerState> {
  const [scrub, counted, lifecycles] = await Promise.all([
    readScrubState(records),
    usage.last(),
    readLifecycleStates(records),
  ]);
  const walks: WalkState[] = [];
  if (counted !== undefined) walks.push({ walk: 'usage', started: counted.began, ended: counted.ended });
  if (scrub !== undefined) {
    const { started, finished, after } = scrub;
    walks.push({ walk: 'scrub', started, ...(finished === undefined ? at(after) : { ended: finished }) });
  }
  const sums = { expired: 0, removed: 0, aborted: 0, locked: 0, waiting: 0, transitioned: 0, failed: 0 };
  for (const [name, state] of lifecycles) {
    if (bucket !== undefined && name !== bucket) continue;
    const { began, ended, after } = state;
    const place = after === undefined ? undefined : { bucket: name, key: after };
    walks.push({ walk: 'lifecycle', bucket: name, started: began, ...(ended === undefined ? at(place) : { ended }) });
    for (const kind of Object.keys(sums) as (keyof typeof sums)[]) sums[kind] += state[kind] ?? 0;
  }
  return { walks, counts: { ...checkCounts(scrub), ...countCounts(counted) }, lifecycle: sums };
}

function checkCounts({ objects = 0, damaged = 0, missing = 0 }: Partial<ScrubState> = {}) {
  return { CheckObject: objects, CheckDamaged: damaged + missing };
}

function countCounts({ versions = 0, deleteMarkers = 0, unreadable = 0 }: Partial<Usage> = {}) {
  return { CountObject: versions, CountDeleteMarker: deleteMarkers, CountUnreadable: unreadable };
}

function at(place: { readonly bucket: string; readonly key: string } | undefined): Pick<WalkState, 'at'> {
  return place === undefined ? {} : { at: `${place.bucket}/${place.key}` };
}
