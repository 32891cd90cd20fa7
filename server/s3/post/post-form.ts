import type { IncomingHttpHeaders } from 'node:http';
import { type FormStep, formBoundary, formSteps } from '../../../protocol/s3/post/form-data.ts';
import type { FormFields, SizeRange } from '../../../protocol/s3/post/post-policy.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { parseTagging } from '../../../protocol/s3/tagging.ts';
import { type BodySource, bodyFrom, chunksOf } from '../../objects/contract/body-source.ts';
import type { S3Call } from '../operation.ts';
import { header } from '../request.ts';

/** A form up to its file, whose content is still unread. */
export interface PostForm {
  readonly fields: FormFields;
  /** The rest of the form. The file fails at its end, or before, when its size is not in the range. */
  file(range: SizeRange): BodySource;
  /** Leaves the rest of the body unread. */
  close(): Promise<void>;
}

/** Milliseconds for the fields of a form, whose sender is not known yet. */
const maxMs = 60_000;

/**
 * Reads the fields of a form. Their bytes count as held for an unknown caller until the request is answered.
 *
 * @throws S3Error PreconditionFailed, MalformedPOSTRequest, MaxPostPreDataLengthExceeded, InvalidArgument (no file), RequestTimeout
 */
export async function readPostForm({ request, auth }: S3Call): Promise<PostForm> {
  const boundary = formBoundary(header(request.headers, 'content-type'));
  const fields = new Map<string, { name: string; value: string }>();
  const { body } = auth;
  const began = performance.now();
  let inFile = false;
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of chunksOf(body)) {
      if (!inFile) body.hold?.(chunk.length, 'stranger');
      if (!inFile && performance.now() - began > maxMs) throw new S3Error('RequestTimeout');
      yield chunk;
    }
  }
  const steps = formSteps(counted(), boundary);
  for (;;) {
    const { value: step, done } = await steps.next();
    // The parser refuses a form without a file.
    if (done === true || step.kind === 'data') throw new S3Error('MalformedPOSTRequest');
    if (step.kind === 'field') {
      addField(fields, step.name, step.value);
      continue;
    }
    inFile = true;
    return {
      fields: withFileName(fields, step.filename),
      file: (range) => fileBody(steps, range, body),
      close: async () => {
        await steps.return(undefined);
      },
    };
  }
}

/** Values of one name are joined, as S3 does. */
function addField(fields: Map<string, { name: string; value: string }>, name: string, value: string): void {
  const lower = name.toLowerCase();
  const known = fields.get(lower);
  fields.set(lower, { name: known?.name ?? name, value: known === undefined ? value : `${known.value},${value}` });
}

/**
 * Replaces `${filename}` by the name of the file without its folders. Like S3, it leaves the variable where the form names no file.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-HTTPPOSTForms.html
 */
function withFileName(fields: FormFields, filename: string | undefined): FormFields {
  if (filename === undefined) return fields;
  const base = filename.slice(Math.max(filename.lastIndexOf('/'), filename.lastIndexOf('\\')) + 1);
  return new Map(
    [...fields].map(([lower, { name, value }]) => [
      lower,
      { name, value: value.replaceAll('${filename}', () => base) },
    ]),
  );
}

function fileBody(steps: AsyncGenerator<FormStep>, { min, max }: SizeRange, body: BodySource): BodySource {
  async function* bytes(): AsyncGenerator<Buffer> {
    let size = 0;
    for await (const step of steps) {
      if (step.kind !== 'data') continue;
      size += step.bytes.length;
      if (size > max) throw tooLarge(size, max);
      yield step.bytes;
    }
    if (size >= min) return;
    throw new S3Error('EntityTooSmall', undefined, {
      details: { ProposedSize: String(size), MinSizeAllowed: String(min) },
    });
  }
  return {
    ...bodyFrom(bytes()),
    ...(body.hold && { hold: body.hold.bind(body) }),
    ...(body.senderGone && { senderGone: body.senderGone.bind(body) }),
  };
}

export function tooLarge(size: number, max: number): S3Error {
  return new S3Error('EntityTooLarge', undefined, {
    details: { ProposedSize: String(size), MaxSizeAllowed: String(max) },
  });
}

/** Fields that are headers of PutObject by the same name. */
const sameName =
  /^(?:cache-control|content-(?:disposition|encoding|language|md5|type)|expires|if-(?:none-)?match|x-(?:amz|minio)-.+)$/;
/** Fields that are headers of PutObject by another name. */
const otherName: ReadonlyMap<string, string> = new Map([
  ['acl', 'x-amz-acl'],
  // The field asks that the checksum is given, as the SDKs do by this header.
  ['x-amz-checksum-algorithm', 'x-amz-sdk-checksum-algorithm'],
]);
/** Fields of the signature. */
const ofSignature = /^x-amz-(?:algorithm|credential|date|signature|security-token)$/;

/**
 * Returns the headers by which PutObject would store the same object, so that both treat them alike. Other fields mean nothing to S3, and
 * the policy of the form has allowed them.
 *
 * @throws S3Error InvalidArgument for a value that no header can have
 */
export function headersOfForm(fields: FormFields, request: IncomingHttpHeaders): IncomingHttpHeaders {
  const headers: IncomingHttpHeaders = {};
  // The signature of a request that is signed itself decides about condition keys.
  for (const name of ['host', 'user-agent', 'referer', 'authorization']) {
    const value = request[name];
    if (value !== undefined) headers[name] = value;
  }
  for (const [field, { value }] of fields) {
    const name = otherName.get(field) ?? (sameName.test(field) && !ofSignature.test(field) ? field : undefined);
    if (name === undefined || (name === 'x-amz-acl' && value === '')) continue;
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) throw invalidField(field, 'is not the name of a header');
    headers[name] = headerValue(field, value);
  }
  return headers;
}

function invalidField(field: string, why: string): S3Error {
  const name = field.slice(0, 100);
  return new S3Error('InvalidArgument', `The form field ${name} ${why}.`, { details: { ArgumentName: name } });
}

/** Node keeps headers as one character for each byte. User metadata may have any characters: see docs/decisions/0033. */
function headerValue(field: string, value: string): string {
  const isMetadata = field.startsWith('x-amz-meta-');
  // oxlint-disable-next-line no-control-regex -- they are what no header may hold
  if (!isMetadata && /[\u0000-\u0008\u000A-\u001F\u007F]/.test(value)) {
    throw invalidField(field, 'holds control characters');
  }
  const text = Buffer.from(value).toString('latin1');
  return isMetadata ? text : text.trim();
}

/**
 * Returns the header for the tags of a form; none without any.
 *
 * @throws S3Error MalformedXML, InvalidTag, BadRequest
 */
export function tagsOfForm(fields: FormFields): IncomingHttpHeaders {
  const document = fields.get('tagging')?.value ?? '';
  if (document === '') return {};
  return { 'x-amz-tagging': new URLSearchParams(parseTagging(document, 'object')).toString() };
}
