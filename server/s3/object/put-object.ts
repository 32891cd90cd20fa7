import { createdVersion, emptyAnswer, quoted } from '../answers.ts';
import { writeConditions, storedHeaders } from '../object-headers.ts';
import { checksumHeaders, expectedDigests, uploadSize } from '../request-body.ts';
import { encryptionHeaders, givenKey, requestedEncryption } from '../encryption-headers.ts';
import type { Operation } from '../operation.ts';

/** The limit of MinIO. AWS limits a single upload to 5 GiB. */
const maxObject = 5 * 1024 ** 4;

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html */
export const putObject: Operation = {
  name: 'PutObject',
  action: 's3:PutObject',
  async handle(call) {
    const { headers } = call.request;
    const encryption = requestedEncryption(call);
    const info = await call.objects.putObject({
      bucket: call.bucket,
      key: call.key,
      size: uploadSize(call, maxObject),
      digests: expectedDigests(headers, call.auth.trailing),
      headers: storedHeaders(headers),
      encryption,
      conditions: writeConditions(headers),
      body: call.auth.body,
      tags: undefined,
      lock: undefined,
    });
    return emptyAnswer(200, {
      etag: quoted(info.etag),
      ...createdVersion(info),
      ...encryptionHeaders(info.encryption, givenKey(encryption)),
      ...checksumHeaders(info.checksum),
    });
  },
};
