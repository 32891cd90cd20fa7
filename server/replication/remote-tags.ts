import { parseTagging, type Tags } from '../../protocol/s3/tagging.ts';
import { checkAnswer, type TargetClient } from './target-client.ts';

/** Reads the tags of a version of another server. Rejects with `DeliveryError`. */
export async function tagsOf(client: Pick<TargetClient, 'send'>, key: string, versionId: string): Promise<Tags> {
  const answer = await client.send({ method: 'GET', key, query: { tagging: '', versionId } });
  checkAnswer(answer, `read the tags of version ${versionId} of ${key}`);
  return parseTagging(answer.text, 'object');
}
