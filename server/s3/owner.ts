import { element } from '../../protocol/s3/xml-writer.ts';
import type { Xml } from '../../protocol/s3/xml-writer.ts';

/** Everything belongs to the one account of this store; the ID is 64 hexadecimal digits, as clients expect. */
export const ownerId = 'c0ffe2'.padEnd(64, '0');
export const ownerName = 'coffer';

export function owner(elementName: 'Owner' | 'Initiator'): Xml {
  return element(elementName, [element('ID', ownerId), element('DisplayName', ownerName)]);
}
