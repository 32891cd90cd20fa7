/** One element of an answer: `element('Name', 'text')` or `element('Owner', [element(…), …])`. Absent children are left out. */
export function element(_name: string, _content: XmlContent, _attributes?: Readonly<Record<string, string>>): Xml {
  throw new Error('not yet');
}

declare const xml: unique symbol;
/** Finished markup: only `element` makes it, so that no text gets in unescaped. */
export type Xml = string & { readonly [xml]: true };
export type XmlContent = string | number | boolean | Date | undefined | readonly (Xml | undefined)[];

/** A whole answer with its declaration, and the S3 namespace on the root element. */
export function xmlDocument(_root: string, _children: readonly (Xml | undefined)[]): string {
  throw new Error('not yet');
}

/** What `encoding-type=url` asks for: keys percent-encoded except for `/` and unreserved characters. */
export function urlEncodeKey(_key: string): string {
  throw new Error('not yet');
}
