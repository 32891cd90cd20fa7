import { z } from 'zod';
import { StoreUnavailable } from '../record-store.ts';

const schema = z.object({ deploymentId: z.uuid() });

export function markerText(deploymentId: string): string {
  return `${JSON.stringify({ deploymentId })}\n`;
}

/** Throws `StoreUnavailable`: a person may mend it while the server waits. */
export function readMarkerText(text: string, place: string): string {
  try {
    return schema.parse(JSON.parse(text)).deploymentId;
  } catch (error) {
    throw new StoreUnavailable(
      'unreachable',
      `${place} does not say which deployment the blobs belong to: it should be {"deploymentId": "…"}`,
      { cause: error },
    );
  }
}
