import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { element, type Xml } from '../../../protocol/s3/xml-writer.ts';
import type { ListedObject } from '../../objects/contract/object-layer.ts';
import { readActions, readTagsActions, type S3Call, type VersionActions } from '../operation.ts';
import { descriptionOf } from '../object-headers.ts';
import type { Query } from '../request.ts';

/** Reports whether a listing has metadata and tags, an extension of MinIO: `mc find --metadata`, `--tags` and `mc mirror -a` read them. */
export function asksForMetadata(query: Query): boolean {
  return query.get('metadata') === 'true';
}

type Described = ListedObject & { readonly versionId?: string };

/** Writes the metadata of the objects that the caller may read, and the tags of those whose tags the caller may read. */
export async function metadataElements(
  call: S3Call,
  objects: readonly Described[],
): Promise<ReadonlyMap<ListedObject, readonly Xml[]>> {
  const found = new Map<ListedObject, readonly Xml[]>();
  for (const object of objects) {
    const { details } = object;
    if (details === undefined) continue;
    const tags = new URLSearchParams(details.tags).toString();
    const elements: Xml[] = [];
    if (await mayKnow(call, object, readActions)) elements.push(userMetadata(details));
    if (tags !== '' && (await mayKnow(call, object, readTagsActions))) elements.push(element('UserTags', tags));
    found.set(object, elements);
  }
  return found;
}

const refusals: ReadonlySet<string> = new Set(['AccessDenied', 'NoSuchKey', 'NoSuchVersion']);

/** The decision may depend on the tags or the ACL of an object. It counts for that object, and not for the one before it. */
async function mayKnow(call: S3Call, { key, versionId, details }: Described, actions: VersionActions) {
  try {
    const id = await call.requireVersion(actions, `${call.bucket}/${key}`, versionId);
    return id === undefined || id === details?.id;
  } catch (error) {
    // It may have been removed since it was listed.
    if (error instanceof S3Error && refusals.has(error.code)) return false;
    throw error;
  }
}

type Details = NonNullable<ListedObject['details']>;

const sse = 'X-Amz-Server-Side-Encryption';
const ofSchemes: Readonly<Record<NonNullable<Details['scheme']>, readonly [name: string, value: string]>> = {
  'SSE-S3': [sse, 'AES256'],
  'SSE-KMS': [sse, 'aws:kms'],
  'SSE-C': [`${sse}-Customer-Algorithm`, 'AES256'],
};

/** Each header is an element. Names that no element can have, and values that no header can show, are left out. */
function userMetadata({ headers, scheme }: Details): Xml {
  const described: [string, string][] = Object.entries(descriptionOf(headers));
  for (const [name, value] of Object.entries(headers.metadata)) described.push([metadataName(name), value]);
  if (scheme !== undefined) described.push([...ofSchemes[scheme]]);
  const shown = described.filter(([name, value]) => /^[A-Za-z][\w.-]*$/.test(name) && !hasControl.test(value));
  return element(
    'UserMetadata',
    shown.map(([name, value]) => element(name, value)),
  );
}

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const hasControl = /[\u0000-\u0008\u000A-\u001F\u007F]/;

/** `X-Amz-Meta-Mc-Attrs`: the form of names in MinIO. Clients compare them in any case. */
function metadataName(name: string): string {
  return `X-Amz-Meta-${name.replaceAll(/(?:^|-)[a-z]/g, (first) => first.toUpperCase())}`;
}
