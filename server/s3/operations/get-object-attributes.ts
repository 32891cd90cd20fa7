import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { element, xmlDocument } from '../../../protocol/s3/xml-writer.ts';
import type { Xml } from '../../../protocol/s3/xml-writer.ts';
import type { ObjectInfo } from '../../objects/object-layer.ts';
import { xmlAnswer } from '../answers.ts';
import { readConditions } from '../conditions.ts';
import { customerKeyOf } from '../customer-key.ts';
import { checksumElement } from '../digest-headers.ts';
import { header } from '../header.ts';
import type { Operation } from '../operation.ts';
import { answerRead } from '../reading.ts';
import { checkVersion } from '../version-id.ts';

const attributes: Readonly<Record<string, (info: ObjectInfo) => Xml | undefined>> = {
  ETag: (info) => element('ETag', info.etag),
  Checksum: ({ checksum }) =>
    checksum === undefined
      ? undefined
      : element('Checksum', [
          element(checksumElement(checksum.algorithm), checksum.value),
          element('ChecksumType', checksum.type),
        ]),
  ObjectParts: ({ parts }) =>
    parts === undefined ? undefined : element('ObjectParts', [element('PartsCount', parts)]),
  StorageClass: (info) => element('StorageClass', info.storageClass ?? 'STANDARD'),
  ObjectSize: (info) => element('ObjectSize', info.size),
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObjectAttributes.html */
export const getObjectAttributes: Operation = {
  name: 'GetObjectAttributes',
  action: 's3:GetObject',
  async handle(call) {
    checkVersion(call.query.get('versionId'));
    const { headers } = call.request;
    const asked = (header(headers, 'x-amz-object-attributes') ?? '').split(',').map((name) => name.trim());
    const unknown = asked.find((name) => !Object.hasOwn(attributes, name));
    if (unknown !== undefined) {
      throw new S3Error('InvalidArgument', `x-amz-object-attributes takes ${Object.keys(attributes).join(', ')}.`, {
        details: { ArgumentName: 'x-amz-object-attributes', ArgumentValue: unknown.slice(0, 100) },
      });
    }
    return answerRead(call, async () => {
      const info = await call.objects.headObject(call.bucket, call.key, readConditions(headers), customerKeyOf(call));
      return xmlAnswer(
        xmlDocument(
          'GetObjectAttributesResponse',
          Object.keys(attributes)
            .filter((name) => asked.includes(name))
            .map((name) => attributes[name]?.(info)),
        ),
        { 'last-modified': info.lastModified.toUTCString() },
      );
    });
  },
};
