import { bucketPath } from '../api/buckets.ts';
import { apiUrl, errorOf, guard, unreachable } from '../api/call.ts';
import type { SendRequest } from './upload-queue.ts';

/** By XMLHttpRequest, since fetch does not tell how much of a body has left. */
export function sendFile({ bucket, key, file, replace, signal, progress }: SendRequest): Promise<void> {
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
