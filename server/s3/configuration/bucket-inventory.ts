import {
  isInventoryId,
  maxInventoryDocument,
  parseInventory,
  writeInventories,
  writeInventory,
} from '../../../protocol/s3/bucket-inventory.ts';
import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { unsupportedMechanism } from '../../auth/access.ts';
import { inventoryRights } from '../../auth/deferred-rights.ts';
import { signatureKind } from '../../auth/condition-keys.ts';
import { emptyAnswer, xmlAnswer } from '../answers.ts';
import { authorizedDocument } from '../authorized-document.ts';
import { encryptionContext } from '../encryption-headers.ts';
import type { Operation, PolicyContext, S3Call } from '../operation.ts';
import { checkOwner } from '../owner.ts';

const putAction = 's3:PutInventoryConfiguration';
const getAction = 's3:GetInventoryConfiguration';
/** Configurations of a page, as in AWS. */
const PAGE = 100;

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetBucketInventoryConfiguration.html */
export const getBucketInventory: Operation = {
  name: 'GetBucketInventoryConfiguration',
  setting: 'inventory',
  action: getAction,
  async handle(call) {
    const all = await call.objects.getBucketInventories(call.bucket);
    const wanted = idOf(call);
    const found = all.find(({ id }) => id === wanted);
    if (found === undefined) throw new S3Error('NoSuchConfiguration');
    return xmlAnswer(writeInventory(found));
  },
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListBucketInventoryConfigurations.html */
export const listBucketInventories: Operation = {
  name: 'ListBucketInventoryConfigurations',
  action: getAction,
  async handle(call) {
    const token = call.query.get('continuation-token');
    const after = token === undefined ? '' : idAfter(token);
    const all = await call.objects.getBucketInventories(call.bucket);
    const rest = all.filter(({ id }) => id > after);
    const page = rest.slice(0, PAGE);
    const last = page.at(-1)?.id;
    const next = rest.length > PAGE && last !== undefined ? Buffer.from(last).toString('base64url') : undefined;
    return xmlAnswer(writeInventories(page, { token, next }));
  },
};

/**
 * The caller must be allowed to write every object of the reports, and to list the objects that they name: else a report would be a way to
 * write into any bucket, or to read the names of its objects.
 *
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketInventoryConfiguration.html
 */
export const putBucketInventory: Operation = {
  name: 'PutBucketInventoryConfiguration',
  setting: 'inventory',
  action: undefined,
  async handle(call) {
    const configuration = await authorizedDocument(call, {
      actions: { action: putAction, versionAction: putAction },
      keys: ['s3:inventoryaccessibleoptionalfields'],
      maxBytes: maxInventoryDocument,
      parse: (document) => parseInventory(document, idOf(call)),
      context: ({ fields }): PolicyContext =>
        fields.length === 0 ? {} : { 's3:InventoryAccessibleOptionalFields': fields },
    });
    const { accountId, encryption } = configuration.destination;
    if (accountId !== undefined) checkOwner(accountId);
    const context = encryption === undefined ? {} : encryptionContext(encryption);
    await call.requireAll(inventoryRights(call.bucket, configuration, context));
    await call.objects.putBucketInventory(call.bucket, configuration);
    return emptyAnswer(200);
  },
};

/** @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteBucketInventoryConfiguration.html */
export const deleteBucketInventory: Operation = {
  name: 'DeleteBucketInventoryConfiguration',
  setting: 'inventory',
  action: putAction,
  async handle(call) {
    await call.objects.headBucket(call.bucket);
    await call.objects.deleteBucketInventory(call.bucket, idOf(call));
    return emptyAnswer(204);
  },
};

/** Version 2 does not sign the ID: the URL of one configuration would be good for another. */
function idOf(call: S3Call): string {
  if (signatureKind(call.request.headers, call.query)?.version === 'SigV2') {
    throw new S3Error('InvalidRequest', unsupportedMechanism);
  }
  const id = call.query.get('id') ?? '';
  if (!isInventoryId(id)) throw new S3Error('InvalidConfigurationId');
  return id;
}

function idAfter(token: string): string {
  const id = Buffer.from(token, 'base64url').toString();
  if (isInventoryId(id)) return id;
  throw new S3Error('InvalidArgument', 'The continuation token provided is incorrect', {
    details: { ArgumentName: 'continuation-token' },
  });
}
