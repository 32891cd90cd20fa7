import type { MountedFile } from '../workload.ts';

/**
 * Whether a file is renewed even in what is paused: a certificate or the value of a Secret that its program re-reads. Configuration is
 * not, though it is re-read too: a program that ends by itself must come back as it was paused.
 */
export function isRenewed({ content, reloads }: MountedFile): boolean {
  return reloads && (content.kind === 'certificate' || content.kind === 'secret');
}
