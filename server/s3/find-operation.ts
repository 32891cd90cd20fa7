import { S3Error } from '../../protocol/s3/s3-error.ts';
import type { Operation } from './operation.ts';
import type { Query } from './query.ts';
import { routes } from './routes.ts';
import type { Level } from './routes.ts';

/** Query parameters that choose an operation, those without a row in the table too: they must never be taken for a plain read. */
const subresources: ReadonlySet<string> = new Set(
  (
    'abac accelerate acl analytics annotation append attributes cors delete encryption events intelligent-tiering inventory lambdaArn legal-hold ' +
    'lifecycle list-type location logging metadataAnnotationTable metadataConfiguration metadataInventoryTable ' +
    'metadataJournalTable metadataTable metrics notification object-lock ownershipControls ' +
    'policy policyStatus publicAccessBlock renameObject replication replication-check replication-metrics replication-reset ' +
    'replication-reset-status requestPayment restore retention select session tagging torrent uploadId uploads versioning versions ' +
    'website'
  ).split(' '),
);

/** Parameters that may come without a value. */
const parameters: ReadonlySet<string> = new Set(
  (
    'continuation-token delimiter encoding-type fetch-owner key-marker marker max-buckets max-keys max-parts max-uploads metadata ' +
    'partNumber part-number-marker prefix start-after upload-id-marker version-id-marker versionId x-id bucket-region'
  ).split(' '),
);

const table = new Map<string, Operation>(
  routes.map(([method, level, flags, operation]) => [`${method} ${level} ${flags}`, operation]),
);

/**
 * The operation that a request asks for.
 *
 * @throws S3Error NotImplemented where a subresource is asked for that is not served that way, MethodNotAllowed for other methods
 */
export function findOperation(method: string, level: Level, query: Query, isCopy: boolean): Operation {
  const flags = flagsOf(query, isCopy && method === 'PUT' && level === 'object');
  const operation = table.get(`${method} ${level} ${flags}`);
  if (operation !== undefined) return operation;
  if (flags === '' && !(method === 'POST' && level === 'bucket')) throw new S3Error('MethodNotAllowed');
  const asked = flags === '' ? 'uploading by form' : flags.replaceAll(' ', ', ');
  throw new S3Error('NotImplemented', `${method} of a ${level} with ${asked} is not implemented.`);
}

function flagsOf(query: Query, isCopy: boolean): string {
  if (query.size === 0) return isCopy ? 'copy' : '';
  const flags = isCopy ? ['copy'] : [];
  for (const [name, value] of query) {
    if (subresources.has(name)) flags.push(name);
    else if (value === '' && isUnknown(name)) throw new S3Error('NotImplemented', unknown(name));
  }
  return flags.length > 1 ? flags.sort().join(' ') : (flags[0] ?? '');
}

/** A name without a value looks like a subresource; one with a value is a parameter that S3, too, would ignore. */
function isUnknown(name: string): boolean {
  return !parameters.has(name) && !/^(?:x-amz-|response-)/i.test(name);
}

function unknown(name: string): string {
  return `The subresource "${name.slice(0, 100)}" is not implemented.`;
}
