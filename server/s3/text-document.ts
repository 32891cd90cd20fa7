import { element } from '../../protocol/s3/xml-writer.ts';

/** A document whose root holds text alone, which only GetBucketLocation needs. */
export function textDocument(root: string, text: string): string {
  const xmlns = 'http://s3.amazonaws.com/doc/2006-03-01/';
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element(root, text, { xmlns })}`;
}
