import { checkPostPolicy, type SizeRange } from '../../../protocol/s3/post/post-policy.ts';
import { checkObjectKey } from '../../../protocol/s3/names.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { element, xmlDocument } from '../../../protocol/s3/xml-writer.ts';
import { type FormSender, missingField } from '../../auth/authenticate-form.ts';
import type { Answer } from '../../http/contract/request.ts';
import { emptyAnswer, xmlAnswer } from '../answers.ts';
import type { Operation, S3Call } from '../operation.ts';
import { headersOfForm, type PostForm, readPostForm, tagsOfForm, tooLarge } from './post-form.ts';
import { storeObject } from '../object/put-object.ts';

/** Bytes of a form around its file, at most: the limits of the parser, and the chunks in which they end. */
const maxAround = 256 * 1_024;
const everySize: SizeRange = { min: 0, max: Number.MAX_SAFE_INTEGER };
const tagKeys = ['s3:requestobjecttag/', 's3:requestobjecttagkeys'];

/**
 * Stores the file of a form. The fields come before the sender is known, so that they are bounded; no byte of the file is read before the
 * form's signature, the permission to put the object, and the policy of the form are checked.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/RESTObjectPOST.html
 */
export const postObject: Operation = {
  name: 'PostObject',
  // The key and the signature are in the body.
  action: undefined,
  async handle(call) {
    if (call.auth.principal.kind !== 'anonymous') {
      await call.requirePossible('s3:PutObject', `${call.bucket}/`, { below: true, keys: tagKeys });
    }
    if (call.request.headers['content-md5'] !== undefined) {
      throw new S3Error(
        'NotImplemented',
        'The header Content-MD5 of a form is not implemented; use the field for its file.',
      );
    }
    if (call.auth.trailing !== undefined) {
      throw new S3Error(
        'NotImplemented',
        'The header x-amz-trailer of a form is not implemented; use a field for the checksum of its file.',
      );
    }
    if (call.auth.size === undefined) throw new S3Error('MissingContentLength');
    const form = await readPostForm(call);
    try {
      return await storeForm(call, form, call.auth.size);
    } finally {
      await form.close();
    }
  },
};

async function storeForm(call: S3Call, form: PostForm, bodySize: number): Promise<Answer> {
  const { fields } = form;
  const sender = await call.authenticateForm(fields);
  if (sender !== undefined && call.auth.principal.kind !== 'anonymous') {
    throw new S3Error('InvalidArgument', 'Only one auth mechanism allowed; the request and its form are both signed.');
  }
  const key = fields.get('key')?.value ?? '';
  if (key === '') throw missingField('key');
  checkObjectKey(key);
  const put = await authorizedPut(call, { key, fields, sender });
  const policy = fields.get('policy')?.value;
  const range = policy === undefined ? everySize : checkPostPolicy(policy, fields, call.bucket, call.now);
  if (bodySize - maxAround > range.max) throw tooLarge(bodySize, range.max);
  const target = put({ body: form.file(range), size: undefined });
  target.checkHeaders('PutObject');
  const stored = await storeObject(target, () => ({ max: bodySize }), 'Post');
  return answerForm(target, fields, stored);
}

type Body = Pick<S3Call['auth'], 'body' | 'size'>;

/** Authorizes the sender of a form. Its tags are condition keys, so that the document is parsed for a caller who may put some. */
async function authorizedPut(
  call: S3Call,
  { key, fields, sender }: { key: string; fields: PostForm['fields']; sender: FormSender | undefined },
): Promise<(body: Body) => S3Call> {
  const headers = headersOfForm(fields, call.request.headers);
  const of = (given: typeof headers, body: Body) => call.ofForm({ key, headers: given, sender, ...body });
  const unread = { body: call.auth.body, size: undefined };
  const resource = `${call.bucket}/${key}`;
  if (fields.has('tagging')) {
    await of(headers, unread).requirePossible('s3:PutObject', resource, { below: false, keys: tagKeys });
    Object.assign(headers, tagsOfForm(fields));
  }
  await of(headers, unread).require('s3:PutObject', resource);
  return (body) => of(headers, body);
}

/** Answers as the fields `success_action_redirect` or `success_action_status` ask for. S3 ignores values that are not valid. */
function answerForm(
  call: S3Call,
  fields: PostForm['fields'],
  stored: Readonly<Record<string, string>> & { readonly etag: string },
): Answer {
  const redirect = redirectOf(fields.get('success_action_redirect') ?? fields.get('redirect'));
  if (redirect !== undefined) return emptyAnswer(303, { ...stored, location: withResult(redirect, call, stored.etag) });
  const location = locationOf(call);
  const headers = { ...stored, location };
  const status = fields.get('success_action_status')?.value;
  if (status !== '201') return emptyAnswer(status === '200' ? 200 : 204, headers);
  const result = [
    element('Location', location),
    element('Bucket', call.bucket),
    element('Key', call.key),
    element('ETag', stored.etag),
  ];
  return xmlAnswer(xmlDocument('PostResponse', result, ''), headers, 201);
}

/** A browser follows the address without asking: it must be one of the web. Others are ignored, as S3 ignores relative ones. */
function redirectOf(field: { readonly value: string } | undefined): URL | undefined {
  const url = field === undefined ? null : URL.parse(field.value);
  return url !== null && (url.protocol === 'https:' || url.protocol === 'http:') ? url : undefined;
}

function withResult({ href, search, hash }: URL, { bucket, key }: S3Call, etag: string): string {
  const result = new URLSearchParams({ bucket, key, etag }).toString();
  return `${href.slice(0, href.length - hash.length)}${search === '' ? '?' : '&'}${result}${hash}`;
}

/** The address of the object. S3 encodes the slashes of the key. */
function locationOf({ bucket, key, request }: S3Call): string {
  const { host = '' } = request.headers;
  const base = host === '' ? '' : `${request.secure ? 'https' : 'http'}://${host}`;
  const path = request.hostStyle?.kind === 'bucket' ? '' : `/${bucket}`;
  return `${base}${path}/${encodeURIComponent(key)}`;
}
