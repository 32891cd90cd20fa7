import { useSyncExternalStore } from 'react';
import { queryClient } from '../api/queries.ts';
import { isUnderWay, UploadQueue, type SendRequest } from './upload-queue.ts';
import { bucketPath } from '../api/buckets.ts';
import { apiUrl, errorOf, guard, unreachable } from '../api/call.ts';

/** The queue of the application. */
export const uploads = new UploadQueue(sendFile, ({ bucket }) => {
  void queryClient.invalidateQueries({ queryKey: ['objects', bucket] });
});

window.addEventListener('beforeunload', (event) => {
  if (uploads.list().some(isUnderWay)) event.preventDefault();
});

export function useUploads() {
  return useSyncExternalStore(uploads.subscribe, uploads.list);
}

/** Files of a folder have a relative path; dropped files have it in `path`. */
export function keyOf(prefix: string, file: File & { readonly path?: string }): string {
  const place = file.webkitRelativePath === '' ? (file.path ?? file.name) : file.webkitRelativePath;
  return `${prefix}${place.replace(/^\.?\/+/, '')}`;
}

/** Uses XMLHttpRequest, because fetch does not report the progress of an upload. */
function sendFile({ bucket, key, file, replace, signal, progress }: SendRequest): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('PUT', apiUrl(`${bucketPath(bucket)}/content`, { key }));
    for (const [name, value] of Object.entries(guard)) request.setRequestHeader(name, value);
    request.setRequestHeader('content-type', file.type === '' ? 'application/octet-stream' : file.type);
    if (!replace) request.setRequestHeader('if-none-match', '*');
    request.upload.addEventListener('progress', ({ loaded }) => progress(loaded));
    request.addEventListener('load', () => {
      if (request.status >= 200 && request.status < 300) resolve();
      else reject(errorOf(request.status, request.responseText));
    });
    request.addEventListener('error', () => reject(unreachable()));
    request.addEventListener('abort', () => reject(new DOMException('cancelled', 'AbortError')));
    signal.addEventListener('abort', () => request.abort(), { once: true });
    request.send(file);
  });
}
