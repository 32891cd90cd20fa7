import { emptyAnswer, quoted } from '../answers.ts';
import { customerKeyOf } from '../customer-key.ts';
import { checksumHeader, expectedDigests } from '../digest-headers.ts';
import { encryptionHeaders } from '../encryption-headers.ts';
import { partNumberOf, uploadIdOf } from '../multipart-parameters.ts';
import type { Operation } from '../operation.ts';
import { uploadContext } from '../upload-context.ts';
import { uploadSize } from '../upload-size.ts';

const maxPart = 5 * 1024 ** 3;

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_UploadPart.html */
export const uploadPart: Operation = {
  name: 'UploadPart',
  action: 's3:PutObject',
  context: uploadContext,
  async handle(call) {
    const customerKey = customerKeyOf(call);
    const part = await call.objects.putPart({
      bucket: call.bucket,
      key: call.key,
      uploadId: uploadIdOf(call),
      partNumber: partNumberOf(call),
      size: uploadSize(call, maxPart),
      digests: expectedDigests(call.request.headers, call.auth.trailing),
      body: call.auth.body,
      customerKey,
    });
    return emptyAnswer(200, {
      etag: quoted(part.etag),
      ...encryptionHeaders(part.encryption, customerKey),
      ...(part.checksum === undefined ? {} : { [checksumHeader(part.checksum.algorithm)]: part.checksum.value }),
    });
  },
};
