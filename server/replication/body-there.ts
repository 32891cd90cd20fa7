import type { ObjectInfo } from '../objects/contract/object-layer.ts';
import { sourceVersionId } from './replica-request.ts';
import type { TargetClient } from './target-client.ts';

/** Reports whether the target has a version with its body. */
export async function isThere(
  { client }: { readonly client: Pick<TargetClient, 'send'> },
  { key, etag }: Pick<ObjectInfo, 'key' | 'etag'>,
  versionId: string,
): Promise<boolean> {
  const answer = await client.send({ method: 'HEAD', key, query: { versionId: sourceVersionId(versionId) } });
  return answer.status === 200 && answer.headers['etag'] === `"${etag}"`;
}
