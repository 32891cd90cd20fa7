/** An element of a request body or an answer. */
export interface XmlNode {
  readonly name: string;
  readonly text: string;
  readonly children: readonly XmlNode[];
}

/** Throws S3Error MalformedXML. `maxBytes` bounds the document; DOCTYPE and entities other than the predefined are refused. */
export function readXml(
  _document: string | Buffer,
  _limits: { readonly maxBytes: number; readonly root?: string },
): XmlNode {
  throw new Error('not yet');
}
