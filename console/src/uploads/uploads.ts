import { useSyncExternalStore } from 'react';
import { objectsChanged } from '../api/changes.ts';
import { queryClient } from '../api/queries.ts';
import type { SessionAnswer } from '../../../protocol/console/answers.ts';
import { coalesce } from './coalesce.ts';
import { abortUpload, sendFile } from './send-file.ts';
import { isUnderWay, UploadQueue } from './upload-queue.ts';
import { uploadRecords } from './upload-records.ts';

/** Milliseconds. The rows of a folder are read again once for many small files. */
const refreshMs = 800;
const changed = new Map<string, ReturnType<typeof setTimeout>>();

/** The queue of the application. */
export const uploads = new UploadQueue(sendFile, {
  finished({ bucket }) {
    if (changed.has(bucket)) return;
    const timer = setTimeout(() => {
      changed.delete(bucket);
      objectsChanged(bucket);
    }, refreshMs);
    changed.set(bucket, timer);
  },
  async begun({ bucket, key }, file, { uploadId, partSize }, replace) {
    if (!(file instanceof File) || uploadId === undefined) return;
    const { name, size, lastModified } = file;
    const by = owner();
    await uploadRecords.put({ uploadId, partSize, bucket, key, replace, owner: by, name, size, lastModified });
  },
  abandoned({ bucket, key }, uploadId) {
    void abortUpload(bucket, key, uploadId);
  },
});

/** The name of the user, by which the browser keeps uploads that a reload interrupts. */
export function owner(): string {
  return queryClient.getQueryData<SessionAnswer>(['session'])?.name ?? '';
}

window.addEventListener('beforeunload', (event) => {
  if (uploads.list().some(isUnderWay)) event.preventDefault();
});

/** Milliseconds between two pictures of the uploads. Of 10,000 small files, each in a few steps, each picture takes a millisecond. */
const pictureMs = 100;

function subscribe(listener: () => void): () => void {
  const { call, stop } = coalesce(listener, pictureMs);
  const unsubscribe = uploads.subscribe(call);
  return () => {
    unsubscribe();
    stop();
  };
}

export function useUploads() {
  return useSyncExternalStore(subscribe, uploads.list);
}

/** Files of a folder have a relative path; dropped files have it in `path`. */
export function keyOf(prefix: string, file: File & { readonly path?: string }): string {
  const place = file.webkitRelativePath === '' ? (file.path ?? file.name) : file.webkitRelativePath;
  return `${prefix}${place.replace(/^\.?\/+/, '')}`;
}
