type Content = string | number | boolean | readonly Xml[];

/** An element of an XML document, which `xml` makes. */
interface Xml {
  readonly markup: string;
}

/** Writes an element. A text is escaped, so that a name cannot end its element. */
export function xml(name: string, content: Content): Xml {
  const inner = typeof content === 'object' ? content.map(({ markup }) => markup).join('') : escapeText(`${content}`);
  return { markup: `<${name}>${inner}</${name}>` };
}

/** Elements of one name, one for each text. */
export function each(name: string, texts: readonly (string | number)[]): readonly Xml[] {
  return texts.map((text) => xml(name, text));
}

/** The document of a request, in the namespace of S3. */
export function xmlDocument(name: string, content: readonly Xml[]): string {
  const inner = content.map(({ markup }) => markup).join('');
  return `<${name} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${inner}</${name}>`;
}

function escapeText(text: string): string {
  return text.replaceAll(/[&<>"\r\n\t]/g, (character) => `&#${character.charCodeAt(0)};`);
}
