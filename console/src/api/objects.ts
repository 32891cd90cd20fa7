import { useMutation, useQuery } from '@tanstack/react-query';
import type { ObjectDetails, PrefixDeletion } from '../../../protocol/console/answers.ts';
import type { ShareAnswer } from '../../../protocol/console/rights.ts';
import { bucketPath } from './buckets.ts';
import { apiUrl, call, guard, send } from './call.ts';
import { ResponseError } from '../../../protocol/response-error.ts';
import { objectsChanged } from './changes.ts';
import { s3 } from './s3.ts';
import { say } from '../texts/say.ts';
import { t } from '../texts/texts.ts';

export function useObject(bucket: string, key: string) {
  return useQuery({
    queryKey: ['object', bucket, key],
    queryFn: () => call<ObjectDetails>('GET', `${bucketPath(bucket)}/object`, { query: { key } }),
  });
}

/** With `view`, a content type, the page can show the object in an element; without it the browser saves it. */
export function contentUrl(bucket: string, key: string, query: { versionId?: string; view?: string } = {}): string {
  return apiUrl(`${bucketPath(bucket)}/content`, { key, ...query });
}

/** Downloads an object. It reads the metadata first, so that the page shows a refusal instead of a failed download. */
export async function download(bucket: string, key: string, versionId?: string): Promise<void> {
  await s3('HEAD', bucket, { key, query: { versionId } });
  const link = document.createElement('a');
  link.href = contentUrl(bucket, key, versionId === undefined ? {} : { versionId });
  link.download = '';
  link.click();
}

interface ArchiveChoice {
  /** The folder of the page, which names in the archive leave out. */
  readonly prefix: string;
  readonly keys: readonly string[];
  readonly folders: readonly string[];
}

/** Downloads objects as one zip archive, which the server streams. The browser saves it as it comes. */
export async function downloadArchive(bucket: string, { prefix, keys, folders }: ArchiveChoice): Promise<void> {
  const path = `${bucketPath(bucket)}/archive`;
  const fields = [
    ['prefix', prefix],
    ...keys.map((key) => ['key', key]),
    ...folders.map((folder) => ['folder', folder]),
  ];
  // The page does not see the answer to its form: a refusal is the answer to this call.
  const body = new URLSearchParams(fields.map(([name = '', value = '']) => [name, value]));
  await send(() => fetch(apiUrl(path, { check: '1' }), { method: 'POST', headers: guard, body }));
  const frame = document.createElement('iframe');
  frame.name = 'archive';
  frame.hidden = true;
  const form = document.createElement('form');
  form.method = 'post';
  form.action = apiUrl(path);
  form.target = frame.name;
  for (const [name = '', value = ''] of fields) {
    // A text field would lose line breaks.
    const field = document.createElement('textarea');
    field.name = name;
    field.value = value;
    form.append(field);
  }
  form.hidden = true;
  document.querySelector('iframe[name=archive]')?.remove();
  document.body.append(frame, form);
  form.submit();
  form.remove();
}

export interface Deletion {
  readonly keys: readonly string[];
  /** Prefixes, which end in `/`, with everything below them. */
  readonly folders: readonly string[];
}

/** Deletes objects and folders. It tries all, and then fails with the first refusal. */
export function useDelete(bucket: string, progress: (deleted: number) => void) {
  return useMutation({
    mutationFn: async ({ keys, folders }: Deletion) => {
      let deleted = 0;
      const refused: string[] = [];
      for (const key of keys) {
        const message = await tryDelete(bucket, key);
        if (message === undefined) deleted += 1;
        else refused.push(message);
        progress(deleted);
      }
      for (const folder of folders) {
        for (let after: string | undefined = ''; after !== undefined;) {
          const round: PrefixDeletion = await call('DELETE', `${bucketPath(bucket)}/objects`, {
            query: { prefix: folder, after },
          });
          deleted += round.deleted;
          refused.push(...round.refused.map(({ message }) => message));
          progress(deleted);
          after = round.next;
        }
      }
      if (refused.length > 0) throw new ResponseError('AccessDenied', refusalOf(refused, deleted), { status: 403 });
      return deleted;
    },
    onSettled: () => objectsChanged(bucket),
  });
}

async function tryDelete(bucket: string, key: string): Promise<string | undefined> {
  try {
    await call('DELETE', `${bucketPath(bucket)}/object`, { query: { key } });
    return undefined;
  } catch (error) {
    if (error instanceof ResponseError && error.status === 403) return error.message;
    throw error;
  }
}

function refusalOf(refused: readonly string[], deleted: number): string {
  const [first = ''] = refused;
  if (refused.length === 1 && deleted === 0) return first;
  return say(t.shell.deletedRefused, { deleted, refused: refused.length, first });
}

interface ShareForm {
  readonly key: string;
  readonly versionId?: string | undefined;
  readonly method: 'GET' | 'PUT';
  readonly seconds: string;
}

/** Makes a link with which anybody can download or upload an object, until it expires. */
export function shareLink(bucket: string, form: ShareForm): Promise<ShareAnswer> {
  return call<ShareAnswer>('GET', `${bucketPath(bucket)}/share`, { query: { ...form } });
}
