import { S3Error } from './s3-error.ts';
import { checkChildren, childrenOf, malformed, readXml, requiredText, textOf, type XmlNode } from './xml-reader.ts';
import { element, xmlDocument } from './xml-writer.ts';

/** The versioning of a bucket. The excluded keys are an extension of MinIO. */
export interface VersioningConfiguration {
  readonly status: 'Enabled' | 'Suspended';
  readonly excludedPrefixes?: readonly string[];
  readonly excludeFolders?: boolean;
}

/** Bytes of the document. */
export const maxVersioningDocument = 64 * 1_024;
/** The limit of MinIO. */
const maxExcludedPrefixes = 10;
/** Bytes. A key is not longer. */
const maxPrefix = 1_024;

/**
 * Reads a VersioningConfiguration.
 *
 * @throws S3Error MalformedXML, IllegalVersioningConfigurationException (no status, excluded prefixes that MinIO refuses too),
 * NotImplemented (MFA delete)
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutBucketVersioning.html
 */
export function parseVersioning(body: string | Buffer): VersioningConfiguration {
  const root = readXml(body, { maxBytes: maxVersioningDocument, root: 'VersioningConfiguration' });
  checkChildren(root, ['Status', 'MfaDelete', 'MFADelete', 'ExcludeFolders'], ['ExcludedPrefixes']);
  const status = oneText(root, 'Status') ?? '';
  if (status === '') throw illegal('The Versioning element must be specified');
  if (status !== 'Enabled' && status !== 'Suspended') throw malformed('"Status" is Enabled or Suspended');
  refuseMfaDelete(oneText(root, 'MfaDelete') ?? oneText(root, 'MFADelete') ?? '');
  const excludedPrefixes = excludedPrefixesOf(root);
  if (status === 'Suspended' && excludedPrefixes.length > 0) {
    throw illegal('Excluded prefixes need the status Enabled');
  }
  return {
    status,
    ...(excludedPrefixes.length > 0 && { excludedPrefixes }),
    ...(excludesFolders(root) && { excludeFolders: true }),
  };
}

/** Returns the status in the answer of any server; undefined where versioning was never set, and for a document of another kind. */
export function readVersioningStatus(answer: string | Buffer): VersioningConfiguration['status'] | undefined {
  try {
    const status = textOf(
      readXml(answer, { maxBytes: maxVersioningDocument, root: 'VersioningConfiguration' }),
      'Status',
    );
    return status === 'Enabled' || status === 'Suspended' ? status : undefined;
  } catch {
    return undefined;
  }
}

/** A client that turns MFA delete on relies on it, so it is refused instead of ignored. */
function refuseMfaDelete(state: string): void {
  if (state === '' || state === 'Disabled') return;
  if (state !== 'Enabled') throw malformed('"MfaDelete" is Enabled or Disabled');
  throw new S3Error('NotImplemented', 'MfaDelete is not implemented: a second factor is not checked.');
}

function excludedPrefixesOf(root: XmlNode): readonly string[] {
  const prefixes = childrenOf(root, 'ExcludedPrefixes').map((node) => {
    checkChildren(node, ['Prefix']);
    return requiredText(node, 'Prefix');
  });
  if (prefixes.length > maxExcludedPrefixes) {
    throw illegal(`There are ${prefixes.length} excluded prefixes; at most ${maxExcludedPrefixes} are allowed`);
  }
  for (const prefix of prefixes) {
    const bytes = Buffer.byteLength(prefix);
    if (bytes === 0 || bytes > maxPrefix) throw illegal(`An excluded prefix has 1 to ${maxPrefix} bytes`);
  }
  return prefixes;
}

function excludesFolders(root: XmlNode): boolean {
  const text = oneText(root, 'ExcludeFolders') ?? 'false';
  if (text !== 'true' && text !== 'false') throw malformed('"ExcludeFolders" is true or false');
  return text === 'true';
}

function oneText(node: XmlNode, name: string): string | undefined {
  const [first, more] = childrenOf(node, name);
  if (more !== undefined) throw malformed(`there are several "${name}"`);
  return first?.text.trim();
}

function illegal(message: string): S3Error {
  return new S3Error('IllegalVersioningConfigurationException', message);
}

/** Writes the document that GetBucketVersioning answers: an empty one for a bucket that never had versions. */
export function writeVersioning(versioning: VersioningConfiguration | undefined): string {
  if (versioning === undefined) return xmlDocument('VersioningConfiguration', []);
  const { status, excludedPrefixes = [], excludeFolders } = versioning;
  return xmlDocument('VersioningConfiguration', [
    element('Status', status),
    ...excludedPrefixes.map((prefix) => element('ExcludedPrefixes', [element('Prefix', prefix)])),
    excludeFolders === true ? element('ExcludeFolders', true) : undefined,
  ]);
}
