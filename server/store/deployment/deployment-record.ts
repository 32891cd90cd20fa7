import { z } from 'zod';
import { key } from '../keys.ts';
import { DeploymentError } from './deployment-error.ts';

/** Which deployment the records are of. It moves with them from one engine to another. */
export const deploymentKey = key('system', 'deployment');

/** The format of records that this server writes. One that reads older ones brings them forward before it raises the number. */
export const RECORDS_FORMAT = 1;

const schema = z.object({
  format: z.int().min(1),
  deploymentId: z.uuid(),
  /** Whether the blobs carry the deployment's marker since: from then on blobs without it are others. */
  marked: z.boolean(),
});

export type DeploymentRecord = Omit<z.infer<typeof schema>, 'format'>;

export function encodeDeployment(record: DeploymentRecord): Buffer {
  return Buffer.from(JSON.stringify({ format: RECORDS_FORMAT, ...record }));
}

/** Throws `DeploymentError` for what a newer server wrote. */
export function decodeDeployment(value: Buffer, place: string): DeploymentRecord {
  const read: unknown = JSON.parse(value.toString('utf8'));
  const { format } = z.object({ format: z.int().min(1) }).parse(read);
  if (format > RECORDS_FORMAT) {
    throw new DeploymentError(
      `the records at ${place} have format ${format}, this server knows formats up to ${RECORDS_FORMAT}: start the newer server that wrote them`,
    );
  }
  return schema.parse(read);
}
