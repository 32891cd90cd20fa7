import { useQuery } from '@tanstack/react-query';
import { newElement, textAt, withAll, withText, writeEdited } from '../../../protocol/s3/xml-edit.ts';
import type { XmlNode } from '../../../protocol/s3/xml-reader.ts';
import { configuration, subresources } from './configuration.ts';

export interface BucketVersioning {
  readonly status: 'Enabled' | 'Suspended' | 'Off';
  /** Keys that begin with one of them keep no versions. */
  readonly excludedPrefixes: readonly string[];
  /** Keys that end with a slash keep no versions. */
  readonly excludeFolders: boolean;
}

export function useVersioning(bucket: string, enabled = true) {
  return useQuery({
    queryKey: ['versioning', bucket],
    queryFn: async () => {
      const found = await configuration(bucket, subresources.versioning);
      return versioningOf(found?.root ?? newElement('VersioningConfiguration', []));
    },
    enabled,
  });
}

/** Reads an element `VersioningConfiguration`. */
export function versioningOf(root: XmlNode): BucketVersioning {
  const status = textAt(root, ['Status']);
  return {
    status: status === 'Enabled' || status === 'Suspended' ? status : 'Off',
    excludedPrefixes: root.children
      .filter(({ name }) => name === 'ExcludedPrefixes')
      .map((one) => textAt(one, ['Prefix']) ?? ''),
    excludeFolders: textAt(root, ['ExcludeFolders']) === 'true',
  };
}

/** The document of PutBucketVersioning: that which was read, with the status. A suspended versioning cannot have excluded prefixes. */
export function versioningDocument(root: XmlNode, on: boolean): string {
  const next = withText(root, ['Status'], on ? 'Enabled' : 'Suspended');
  return writeEdited(on ? next : withAll(next, 'ExcludedPrefixes', []));
}
