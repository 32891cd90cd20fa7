import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { QueryProcesses } from '../../select/query-processes.ts';
import { maxSelectDocument, parseSelectRequest } from '../../select/select-request.ts';
import { parseQuery } from '../../select/sql/parse-query.ts';
import { customerKeyOf } from '../encryption-headers.ts';
import { describingHeaders } from '../object-headers.ts';
import type { S3Call } from '../operation.ts';
import type { Answer } from '../../http/contract/request.ts';
import { readDocument } from '../request-body.ts';
import { hideAbsence } from './read-object.ts';

const queries = new QueryProcesses();

/** Headers of the object that its answer has: how it is encrypted, and its version. */
const kept = /^x-amz-(?:server-side-encryption|version-id)/;

/**
 * Answers SelectObjectContent. The first message of the query decides the status: an error before it is an S3 error.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_SelectObjectContent.html
 */
export async function selectObject(call: S3Call): Promise<Answer> {
  const type = call.query.get('select-type');
  if (type !== '2') throw new S3Error('InvalidArgument', 'select-type must be 2.');
  if (call.request.headers.range !== undefined) throw new S3Error('UnsupportedRangeHeader');
  const customerKey = customerKeyOf(call);
  const request = parseSelectRequest(await readDocument(call, maxSelectDocument));
  // A query that is not valid needs no process.
  parseQuery(request.expression);
  return hideAbsence(call, async () => {
    const versionId = call.query.get('versionId');
    const read = (conditions: { readonly ifMatch?: readonly string[] }, version: string | undefined) =>
      call.objects.getObject(call.bucket, call.key, {
        conditions,
        customerKey,
        versionId: version,
        onlyId: call.grantedObject,
        parts: undefined,
        accept: undefined,
        // Of the reads of a query the first one is the event.
        access: conditions.ifMatch === undefined ? 'Get' : undefined,
        by: call,
      });
    let first: Awaited<ReturnType<typeof read>> | undefined = await read({}, versionId);
    const { info } = first;
    const object = {
      size: info.size,
      async read(start: number, end: number) {
        // An object is read once. Each further range is of the same content, or fails.
        const opened = first ?? (await read({ ifMatch: [info.etag] }, info.versionId ?? versionId));
        first = undefined;
        return opened.read({ start, end });
      },
    };
    const messages = await queries.run(request, object, {
      now: call.now,
      budget: call.queryBudget,
      account: call.canonicalId() ?? '',
      gone: () => call.request.body.senderGone?.() === true,
    });
    const headers: Record<string, string> = { 'content-type': 'application/octet-stream' };
    for (const [name, value] of Object.entries(describingHeaders(info, { checksum: undefined, customerKey }))) {
      if (kept.test(name)) headers[name] = value;
    }
    return { status: 200, headers, body: { kind: 'stream', chunks: messages } };
  });
}
