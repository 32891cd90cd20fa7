import { STATUS_CODES } from 'node:http';
import type { S3Error } from '../../../protocol/s3/s3-error.ts';
import type { Answer, IncomingRequest } from '../../http/contract/request.ts';
import { asS3Error, hostId } from '../../http/contract/error-answer.ts';

/**
 * Returns the answer of a website to a request that failed: a page for people. `ofDocument` is why the bucket's own error document could not
 * be read.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/CustomErrorDocSupport.html
 */
export function answerWebsiteError(
  failure: unknown,
  { method, requestId }: Pick<IncomingRequest, 'method' | 'requestId'>,
  ofDocument?: S3Error,
): Answer {
  const error = asS3Error(failure);
  if (error.status === 304) return { status: 304, headers: error.headers, body: { kind: 'empty' } };
  const headers: Record<string, string> = {
    ...error.headers,
    'content-type': 'text/html; charset=utf-8',
    'x-amz-error-code': error.wireCode,
    'x-amz-error-message': headerText(error.message),
  };
  for (const [name, value] of Object.entries(error.details)) {
    headers[`x-amz-error-detail-${name.toLowerCase()}`] = headerText(value);
  }
  const objectSize = error.details['ActualObjectSize'];
  if (error.code === 'InvalidRange' && objectSize !== undefined) headers['content-range'] = `bytes */${objectSize}`;
  if (method === 'HEAD') return { status: error.status, headers, body: { kind: 'empty' } };
  const bytes = Buffer.from(page(error, requestId, ofDocument));
  return { status: error.status, headers, body: { kind: 'bytes', bytes } };
}

function page(error: S3Error, requestId: string, ofDocument: S3Error | undefined): string {
  const title = `${error.status} ${STATUS_CODES[error.status] ?? 'Error'}`;
  const second =
    ofDocument === undefined
      ? []
      : [
          '<h3>An Error Occurred While Attempting to Retrieve a Custom Error Document</h3>',
          list([['Code', ofDocument.wireCode], ['Message', ofDocument.message], ...Object.entries(ofDocument.details)]),
        ];
  const first = list([
    ['Code', error.wireCode],
    ['Message', error.message],
    ...Object.entries(error.details),
    ['RequestId', requestId],
    ['HostId', hostId],
  ]);
  return [
    '<html>',
    `<head><title>${escapeHtml(title)}</title></head>`,
    '<body>',
    `<h1>${escapeHtml(title)}</h1>`,
    first,
    ...second,
    '<hr/>',
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

function list(facts: readonly (readonly [name: string, value: string])[]): string {
  const lines = facts.map(([name, value]) => `<li>${escapeHtml(name)}: ${escapeHtml(value)}</li>`);
  return `<ul>\n${lines.join('\n')}\n</ul>`;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character);
}

/** Replaces what a header cannot hold. */
function headerText(text: string): string {
  return text.replaceAll(/[^ -~]/g, '?').slice(0, 1_024);
}
