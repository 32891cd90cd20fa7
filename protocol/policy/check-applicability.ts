import { S3Error } from '../s3/s3-error.ts';
import type { PolicyDocument, PolicyStatement } from './document.ts';
import { matchesText, textMatcher } from './glob.ts';
import { knownActions } from './known-names.ts';

const words = (text: string) =>
  text
    .trim()
    .split(/\s+/)
    .map((word) => `s3:${word}`.toLowerCase());

const objectActions: readonly string[] = words(`
  AbortMultipartUpload BypassGovernanceRetention DeleteObject DeleteObjectTagging DeleteObjectVersion DeleteObjectVersionTagging
  GetObject GetObjectAcl GetObjectAttributes GetObjectLegalHold GetObjectRetention GetObjectTagging GetObjectTorrent GetObjectVersion
  GetObjectVersionAcl GetObjectVersionAttributes GetObjectVersionForReplication GetObjectVersionTagging GetObjectVersionTorrent
  InitiateReplication ListMultipartUploadParts ObjectOwnerOverrideToBucketOwner PutObject PutObjectAcl PutObjectFanOut PutObjectLegalHold
  PutObjectRetention PutObjectTagging PutObjectVersionAcl PutObjectVersionTagging ReplicateDelete ReplicateObject ReplicateTags
  RestoreObject UpdateObjectEncryption
`);
const ofObjects: ReadonlySet<string> = new Set(objectActions);

const listings = words('ListBucket ListBucketVersions ListBucketMultipartUploads');
const writes = words('PutObject PutObjectFanOut ReplicateObject');
const aclWrites = [...writes, ...words('CreateBucket PutBucketAcl PutObjectAcl PutObjectVersionAcl')];
const tagWrites = [...writes, ...words('PutObjectTagging PutObjectVersionTagging ReplicateTags')];
const locks = [...writes, ...words('PutObjectRetention BypassGovernanceRetention')];
/** Reads of objects under a customer key have these headers too. */
const encrypted = objectActions;

/**
 * The actions whose requests can have a condition key, in AWS, in MinIO or in this server. All actions have the keys that are absent here. A
 * `/` or a `-` at the end of a key matches any suffix.
 *
 * @see https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazons3.html
 */
const actionsOfKey: Readonly<Record<string, readonly string[]>> = {
  's3:prefix': listings,
  's3:delimiter': listings,
  's3:max-keys': listings,
  's3:locationconstraint': words('CreateBucket'),
  's3:x-amz-bucket-namespace': words('CreateBucket'),
  's3:x-amz-object-ownership': words('CreateBucket PutBucketOwnershipControls'),
  's3:inventoryaccessibleoptionalfields': words('PutInventoryConfiguration'),
  's3:existingobjecttag/': objectActions,
  's3:requestobjecttag/': tagWrites,
  's3:requestobjecttagkeys': tagWrites,
  's3:objectcreationoperation': writes,
  's3:object-lock-mode': locks,
  's3:object-lock-retain-until-date': locks,
  's3:object-lock-remaining-retention-days': locks,
  's3:object-lock-legal-hold': [...writes, ...words('PutObjectLegalHold BypassGovernanceRetention')],
  's3:x-amz-acl': aclWrites,
  's3:x-amz-grant-': aclWrites,
  's3:x-amz-copy-source': writes,
  's3:x-amz-metadata-directive': writes,
  's3:x-amz-storage-class': writes,
  's3:x-amz-website-redirect-location': writes,
  's3:x-amz-server-side-encryption': encrypted,
  's3:x-amz-server-side-encryption-aws-kms-key-id': encrypted,
  's3:x-amz-server-side-encryption-customer-algorithm': encrypted,
};
const families = Object.keys(actionsOfKey).filter((key) => /[/-]$/.test(key));

/**
 * Refuses a new policy of a bucket with a statement that cannot mean what its author wants, as AWS does: an action on objects without objects
 * among the resources, or the other way round, and a condition key that requests of an action never have. A pattern of actions needs one
 * action that fits. Policies that are stored or imported are not checked.
 *
 * @throws S3Error `MalformedPolicy` with the text of AWS
 */
export function checkApplicability({ statements }: PolicyDocument): void {
  for (const [index, statement] of statements.entries()) {
    // NotAction means all other actions, so that something always fits.
    if (statement.actions.kind !== 'only') continue;
    for (const pattern of statement.actions.patterns) checkAction(pattern, statement, `Statement[${index}]`);
  }
}

function checkAction(pattern: string, { resources, conditions }: PolicyStatement, path: string): void {
  const actions = actionsOf(pattern);
  if (!actions.some((action) => reaches(resources, ofObjects.has(action)))) {
    throw malformed('Action does not apply to any resource(s) in statement', `${path}.Action "${pattern}"`);
  }
  for (const { operator, key } of conditions) {
    const having = actionsWith(key.toLowerCase());
    if (having === undefined || actions.some((action) => having.includes(action))) continue;
    const what = `no request of "${pattern}" has ${path}.Condition.${operator} "${key}"`;
    throw malformed('Conditions do not apply to combination of actions and resources in statement', what);
  }
}

/** Returns the actions of S3 that the pattern names, in lower case. */
export function actionsOf(pattern: string): readonly string[] {
  const matcher = textMatcher(pattern.toLowerCase());
  const named = knownActions.map((action) => action.toLowerCase()).filter((action) => action.startsWith('s3:'));
  return named.filter((action) => matchesText(matcher, action));
}

/** Reports whether the resources have objects, or the bucket. A `*` in the name of the bucket may stand for both. */
function reaches(resources: PolicyStatement['resources'], objects: boolean): boolean {
  if (resources === undefined || resources.kind !== 'only') return true;
  return resources.patterns.some((pattern) => {
    const [bucket = '', ...key] = pattern.split('/');
    return bucket.includes('*') || key.length > 0 === objects;
  });
}

/** Returns the actions whose requests can have the key; undefined if all can. `key` is in lower case. */
export function actionsWith(key: string): readonly string[] | undefined {
  const family = families.find((one) => key.startsWith(one));
  return actionsOfKey[family ?? key];
}

function malformed(text: string, detail: string): S3Error {
  return new S3Error('MalformedPolicy', `${text}: ${detail.slice(0, 256)}`);
}
