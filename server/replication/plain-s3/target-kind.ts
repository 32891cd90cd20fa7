import { readErrorDocument } from '../../../protocol/s3/responses.ts';
import { randomUUID } from 'node:crypto';
import type { ReplicationRule } from '../../../protocol/s3/bucket-replication.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { isMarkedAsS3 } from '../../../protocol/s3/s3-answer.ts';
import { DeliveryError } from '../../outbox/delivery-error.ts';
import type { RemoteTarget } from '../../../protocol/admin/remote-target.ts';
import { checkAnswer, type TargetAnswer, type TargetClient } from '../target-client.ts';

/**
 * Finds out whether a server knows the extensions of MinIO. Their servers name the error of a HEAD in a header, since its answer has no
 * document; AWS and others do not. The answer passes through proxies, unlike the name of the server and paths outside of buckets.
 */
export async function kindOfTarget(client: Pick<TargetClient, 'send'>): Promise<Pick<RemoteTarget, 'kind'>> {
  const answer = await client.send({ method: 'HEAD', key: randomUUID() });
  const { status, headers } = answer;
  const doing = 'find out the kind of the server';
  if (status >= 500) checkAnswer(answer, doing);
  // A proxy answers in place of the server.
  if (!isMarkedAsS3(headers))
    throw new DeliveryError('unavailable', `could not ${doing}: ${status}, and no header of S3`, { status });
  return headers['x-minio-error-code'] === undefined ? { kind: 's3' } : {};
}

/** Returns the region that a server names where the target has none, or another one. AWS names it also with a refusal. */
export function regionOfBucket(
  { region }: Pick<RemoteTarget, 'region'>,
  { headers, text }: TargetAnswer,
): string | undefined {
  const named = headers['x-amz-bucket-region'] ?? readErrorDocument(text)?.fields['Region'];
  return region === '' && typeof named === 'string' && /^[a-z0-9-]{1,64}$/.test(named) ? named : undefined;
}

/** The storage classes that MinIO and Coffer take. */
const classesOfMinio = new Set(['STANDARD', 'REDUCED_REDUNDANCY']);

/** Refuses a rule that asks for what its target cannot do. Throws `InvalidRequest` and `NotImplemented`. */
export function checkRuleOf(
  { id, deletes, storageClass }: Pick<ReplicationRule, 'id' | 'deletes' | 'storageClass'>,
  { kind, endpoint, targetBucket }: Pick<RemoteTarget, 'kind' | 'endpoint' | 'targetBucket'>,
): void {
  const place = `${endpoint}/${targetBucket}`;
  if (kind === undefined && storageClass !== undefined && !classesOfMinio.has(storageClass)) {
    throw new S3Error(
      'NotImplemented',
      `"StorageClass" ${storageClass} is not implemented for replication to a Coffer or MinIO: ${place} takes STANDARD or REDUCED_REDUNDANCY.`,
    );
  }
  if (kind === 's3' && deletes) {
    throw new S3Error(
      'InvalidRequest',
      `The rule ${id} replicates removals of versions, but ${place} is no Coffer or MinIO: versions have other ids there. Leave out DeleteReplication ("--replicate" of mc without "delete").`,
    );
  }
}
