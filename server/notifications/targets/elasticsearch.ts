import { hash } from 'node:crypto';
import type { EventMessage } from '../event-message.ts';
import { DeliveryError } from '../../outbox/delivery-error.ts';
import { type NotificationTarget, rowAfter, type TargetValues, textOf } from '../target.ts';
import { basicAuthorization, openWebService } from '../web-service.ts';

const timeoutMs = 10_000;

/**
 * Keeps the last event of each object in a document (`namespace`), or indexes a document for each event (`access`), in Elasticsearch from
 * version 7 on, or in OpenSearch. The index is created where it is missing.
 *
 * @see https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-index
 */
export function openElasticsearch(values: TargetValues): NotificationTarget {
  const index = `/${encodeURIComponent(textOf(values, 'index') ?? '')}`;
  const isNamespace = textOf(values, 'format') !== 'access';
  const [user, password] = [textOf(values, 'username'), textOf(values, 'password')];
  const headers = {
    'content-type': 'application/json',
    ...(user !== undefined && password !== undefined && basicAuthorization(user, password)),
  };
  const service = openWebService(textOf(values, 'url') ?? '', values, timeoutMs);
  let hasIndex: Promise<void> | undefined;
  const createIndex = async () => {
    const { status } = await service.request({ method: 'HEAD', path: index, headers });
    if (status === 404) {
      const created = await service.request({ method: 'PUT', path: index, headers });
      // Another server may have been faster.
      if (!created.text.includes('resource_already_exists_exception')) checkIndex(created);
    } else checkIndex({ status, text: '' });
  };
  const probe = async () => {
    const { status } = await service.request({ method: 'HEAD', path: index, headers });
    // An index that is missing is created with the next event.
    if (status !== 404) checkIndex({ status, text: '' });
  };
  return {
    async send(message) {
      const used = (hasIndex ??= createIndex());
      try {
        await used;
        const row = isNamespace ? rowAfter(message) : message.record;
        // The event changes no document, so that the target was not asked for it.
        if (message.record === undefined || row === 'unchanged') return await probe();
        const body = JSON.stringify({ Records: [row] });
        const document = `${index}/_doc/${idOf(message)}`;
        if (!isNamespace) checkResult(await service.request({ method: 'POST', path: `${index}/_doc`, headers, body }));
        else if (row === 'removed') {
          const removed = await service.request({ method: 'DELETE', path: document, headers });
          if (!saysAbsent(removed)) checkResult(removed);
        } else {
          checkResult(await service.request({ method: 'PUT', path: document, headers, body }));
        }
      } catch (error) {
        if (hasIndex === used) hasIndex = undefined;
        throw error;
      }
    },
    reach: probe,
    close: () => service.close(),
    isSeparate: true,
  };
}

/** An id has at most 512 bytes, so that it is a digest of the object's name. */
function idOf({ key }: EventMessage): string {
  return hash('sha256', key, 'base64url');
}

interface Answered {
  readonly status: number;
  readonly text: string;
}

/** A proxy answers 404 too, without the words of Elasticsearch: the document may still be there. */
function saysAbsent({ status, text }: Answered): boolean {
  return status === 404 && /"result"\s*:\s*"not_found"|"type"\s*:\s*"index_not_found_exception"/.test(text);
}

/** Elasticsearch says what it did to the document. The page of a proxy with the status 200 does not. */
function checkResult(answer: Answered): void {
  check(answer);
  if (/"result"\s*:/.test(answer.text)) return;
  throw new DeliveryError('unavailable', `it answered ${answer.status}, and not what it did`);
}

/** What is wrong with the index is of all events. */
function checkIndex(answer: Answered): void {
  try {
    check(answer);
  } catch (error) {
    throw error instanceof DeliveryError ? new DeliveryError('unavailable', error.message, { cause: error }) : error;
  }
}

function check({ status, text }: Answered): void {
  if (status >= 200 && status < 300) return;
  const reason = /"reason"\s*:\s*"((?:[^"\\]|\\.){1,200})/.exec(text)?.[1];
  const isRejected = status === 400 || status === 413;
  throw new DeliveryError(
    isRejected ? 'rejected' : 'unavailable',
    `it answered ${status}${reason ? `: ${reason}` : ''}`,
    { status },
  );
}
