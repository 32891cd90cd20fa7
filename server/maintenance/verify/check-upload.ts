import { decodeRecord, recordKeys } from '../../objects/records/record-format.ts';
import { decodeUpload, type PartRecord, type UploadRecord } from '../../objects/records/upload-record.ts';
import { decodeKey, within } from '../../store/keys.ts';
import type { Entry } from '../../store/record-store.ts';
import { type VerifyContext, checkBlobStream, objectKeyOf } from './check-object.ts';
import { type Issue, shownKey } from './issue.ts';
import { entries, type Place } from './object-records.ts';
import { isHex, isProtection } from './plan-object.ts';
import { isUnreadable } from '../../objects/records/damage.ts';
import { StoreError } from '../../store/store-error.ts';

interface Upload extends Place {
  readonly uploadId: string;
}

interface CheckedUpload {
  readonly issues: readonly Issue[];
}

/** Checks every part of an upload in progress. */
export async function checkUpload(check: VerifyContext, entry: Entry): Promise<CheckedUpload> {
  const [, bucket, key, uploadId] = decodeKey(entry.key).map(String);
  const upload = { bucket: bucket ?? '', key: key ?? '', uploadId: uploadId ?? '' };
  let record: UploadRecord;
  try {
    record = decodeUpload(entry.value, upload.uploadId);
    if (!isUpload(record)) {
      throw new StoreError('unreadable-record', `the record of upload ${upload.uploadId} is not complete`);
    }
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return { issues: [{ kind: 'unreadable-record', record: shownKey(entry.key), message: error.message }] };
  }
  const issues: Issue[] = [];
  for await (const part of entries(check.records, within('p', upload.uploadId))) {
    check.signal?.throwIfAborted();
    const found = await checkPart(check, upload, record, part);
    // A part that was uploaded again, or an upload that ended, leaves blobs that may disappear at any moment.
    if (found.length > 0 && (await unchanged(check, entry, part))) issues.push(...found);
  }
  return { issues };
}

function isUpload(record: Partial<UploadRecord> | null): boolean {
  return Number.isFinite(record?.initiated) && typeof record?.headers === 'object' && record.headers !== null;
}

async function checkPart(check: VerifyContext, upload: Upload, record: UploadRecord, entry: Entry): Promise<Issue[]> {
  let part: PartRecord;
  try {
    part = decodeRecord(entry.value, `a part of upload ${upload.uploadId}`) as PartRecord;
    if (!isHex(part.blob) || !Number.isSafeInteger(part.size) || !isProtection(part.protection)) {
      throw new StoreError('unreadable-record', `the record of a part of upload ${upload.uploadId} is not complete`);
    }
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return [{ kind: 'unreadable-record', record: shownKey(entry.key), message: error.message }];
  }
  const { bucket, key, uploadId } = upload;
  const opened = check.opens([part]) ? await objectKeyOf(check, { bucket, key }, uploadId, record.sealed) : {};
  if ('kind' in opened) return [{ kind: 'damaged-body', ...upload, message: opened.message }];
  const { blob, size, protection } = part;
  return checkBlobStream(check, { ...upload, owner: uploadId }, { kind: 'blob', blob, size, protection, ...opened });
}

async function unchanged({ records }: VerifyContext, upload: Entry, part: Entry): Promise<boolean> {
  const [now, partNow] = await records.getAll([upload.key, part.key]);
  return now?.revision === upload.revision && partNow?.revision === part.revision;
}

/** The count of upload ids whose parts one pass over the uploads checks. */
const WINDOW = 50_000;

/** Yields parts whose upload neither is in progress nor has ended. */
export async function* unreferencedParts({ records, signal }: VerifyContext, window = WINDOW): AsyncGenerator<Issue> {
  let { start } = within('p');
  const { end } = within('p');
  for (;;) {
    const ids = new Set<string>();
    while (ids.size < window) {
      signal?.throwIfAborted();
      const [first] = await Array.fromAsync(records.scan({ start, end, limit: 1 }));
      if (first?.kind !== 'entry') break;
      const uploadId = String(decodeKey(first.key)[1]);
      start = within('p', uploadId).end;
      ids.add(uploadId);
    }
    if (ids.size === 0) return;
    const full = ids.size === window;
    for await (const upload of entries(records, within('u'))) ids.delete(String(decodeKey(upload.key)[3]));
    for (const id of ids) {
      if ((await records.get(recordKeys.leftovers(id))) !== undefined) continue;
      // Excludes uploads that began after the pass, and uploads that ended meanwhile with all their parts.
      if (await belongsNow(records, id)) continue;
      yield {
        kind: 'lost-object',
        record: shownKey(within('p', id).start),
        message: `the parts of upload ${id} are there, and the record of the upload is lost`,
      };
    }
    if (!full) return;
  }
}

async function belongsNow(records: VerifyContext['records'], uploadId: string): Promise<boolean> {
  for await (const upload of entries(records, within('u'))) {
    if (String(decodeKey(upload.key)[3]) === uploadId) return true;
  }
  if ((await records.get(recordKeys.leftovers(uploadId))) !== undefined) return true;
  return (await Array.fromAsync(records.scan({ ...within('p', uploadId), limit: 1 }))).length === 0;
}
