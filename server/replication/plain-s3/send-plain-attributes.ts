import { createHash } from 'node:crypto';
import { element, xmlDocument } from '../../../protocol/s3/xml-writer.ts';
import { compareInstants } from '../../objects/contract/instant.ts';
import type { ObjectInfo } from '../../objects/contract/object-layer.ts';
import { checkAnswer, type TargetClient } from '../target-client.ts';
import type { Copy } from './find-copy.ts';

type Client = Pick<TargetClient, 'send'>;

/** Gives the copy of a version the tags and the lock that the version has now, each by its own request, as AWS takes them. */
export async function sendPlainAttributes(
  client: Client,
  info: Pick<ObjectInfo, 'key' | 'tags' | 'lock' | 'changes' | 'lastModified'>,
  copy: Copy,
  now = Date.now(),
): Promise<void> {
  const { key, tags = {}, lock } = info;
  const hadTags = copy.headers['x-amz-tagging-count'] !== undefined;
  if (Object.keys(tags).length > 0) {
    const set = Object.entries(tags).map(([name, value]) =>
      element('Tag', [element('Key', name), element('Value', value)]),
    );
    await put(client, { key, copy, name: 'tagging', document: xmlDocument('Tagging', [element('TagSet', set)]) });
  } else if (hadTags) {
    const answer = await client.send({ method: 'DELETE', key, query: { tagging: '', versionId: copy.versionId } });
    checkAnswer(answer, `remove the tags of ${key}`);
  }
  const retention = lock?.retention;
  // Attributes that the target alone has set stay.
  const hasEnded = compareInstants(info.changes?.retention ?? 0, info.lastModified.getTime()) > 0;
  const isSent =
    retention === undefined
      ? hasEnded && copy.headers['x-amz-object-lock-mode'] !== undefined
      : retention.until.getTime() > now;
  if (isSent) {
    const content =
      retention === undefined
        ? []
        : [element('Mode', retention.mode), element('RetainUntilDate', retention.until.toISOString())];
    await put(client, { key, copy, name: 'retention', document: xmlDocument('Retention', content) });
  }
  if (lock?.legalHold !== undefined) await putLegalHold(client, key, copy, lock.legalHold);
}

/** Releases the legal hold of the copy of a version that is removed here. */
export function releaseLegalHold(client: Client, key: string, copy: Copy): Promise<void> {
  return putLegalHold(client, key, copy, false);
}

function putLegalHold(client: Client, key: string, copy: Copy, on: boolean): Promise<void> {
  const document = xmlDocument('LegalHold', [element('Status', on ? 'ON' : 'OFF')]);
  return put(client, { key, copy, name: 'legal-hold', document });
}

interface Change {
  readonly key: string;
  readonly copy: Copy;
  readonly name: 'tagging' | 'retention' | 'legal-hold';
  readonly document: string;
}

async function put(client: Client, { key, copy, name, document }: Change): Promise<void> {
  const body = Buffer.from(document);
  const answer = await client.send({
    method: 'PUT',
    key,
    query: { [name]: '', versionId: copy.versionId },
    headers: {
      'content-md5': createHash('md5').update(body).digest('base64'),
      // The source has bypassed GOVERNANCE. COMPLIANCE holds on both sides.
      ...(name === 'retention' && { 'x-amz-bypass-governance-retention': 'true' }),
    },
    body,
  });
  checkAnswer(answer, `change the ${name} of ${key}`);
}
