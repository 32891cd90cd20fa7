import { element, xmlDocument, type Xml } from '../../protocol/s3/xml-writer.ts';
import type { S3Client } from './client.ts';
import { eventMessages } from './event-stream.ts';
import type { ObjectHeaders, ObjectRef } from './objects.ts';
import { xmlBody } from './xml-body.ts';
import { ResponseError } from '../../protocol/response-error.ts';

/** One of the formats with its settings; the names are those of the request, for example `FieldDelimiter`. */
export interface SelectFormat {
  readonly format: 'CSV' | 'JSON' | 'Parquet';
  readonly settings: Readonly<Record<string, string>>;
}

interface SelectQuery {
  readonly expression: string;
  readonly input: SelectFormat | undefined;
  readonly output: SelectFormat;
  /** `NONE`, `GZIP`, `BZIP2`, … */
  readonly compression: string;
  /** For an object with a key of the client. */
  readonly headers: ObjectHeaders;
}

/**
 * Yields the records of a query as they come.
 *
 * @throws ResponseError also for an error within the answer
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_SelectObjectContent.html
 */
export async function* selectObject(
  client: S3Client,
  { bucket, key }: ObjectRef,
  query: SelectQuery,
): AsyncGenerator<Buffer, void, undefined> {
  const document = xmlDocument('SelectObjectContentRequest', [
    element('Expression', query.expression),
    element('ExpressionType', 'SQL'),
    element('InputSerialization', [
      element('CompressionType', query.compression),
      query.input && formatElement(query.input),
    ]),
    element('OutputSerialization', [formatElement(query.output)]),
    element('RequestProgress', [element('Enabled', false)]),
  ]);
  const { body, headers } = xmlBody(document);
  const answer = await client.send({
    method: 'POST',
    bucket,
    key,
    query: { select: '', 'select-type': '2' },
    headers: { ...headers, ...query.headers },
    body,
  });
  for await (const { headers: fields, payload } of eventMessages(answer.body)) {
    if (fields[':message-type'] === 'error') {
      throw new ResponseError(fields[':error-code'] ?? 'InternalError', fields[':error-message'] ?? '', {
        status: 200,
      });
    }
    if (fields[':event-type'] === 'Records') yield payload;
    if (fields[':event-type'] === 'End') return;
  }
  throw new Error('The answer of the server ends before its last message');
}

function formatElement({ format, settings }: SelectFormat): Xml {
  return element(
    format,
    Object.entries(settings).map(([name, value]) => element(name, value)),
  );
}
