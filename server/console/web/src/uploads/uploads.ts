import { useSyncExternalStore } from 'react';
import { queryClient } from '../api/query-client.ts';
import { sendFile } from './send-file.ts';
import { isUnderWay, UploadQueue } from './upload-queue.ts';

/** The one queue of this page. */
export const uploads = new UploadQueue(sendFile, ({ bucket }) => {
  void queryClient.invalidateQueries({ queryKey: ['objects', bucket] });
});

window.addEventListener('beforeunload', (event) => {
  if (uploads.list().some(isUnderWay)) event.preventDefault();
});

export function useUploads() {
  return useSyncExternalStore(uploads.subscribe, uploads.list);
}

/** Files of a folder carry their place in it; `path` is how dropped ones do. */
export function keyOf(prefix: string, file: File & { readonly path?: string }): string {
  const place = file.webkitRelativePath === '' ? (file.path ?? file.name) : file.webkitRelativePath;
  return `${prefix}${place.replace(/^\.?\/+/, '')}`;
}
