import { element, xmlDocument, type Xml } from './xml-writer.ts';
import { XmlScanner, type XmlNode } from './xml-reader.ts';

/**
 * Reads a configuration document of a server to edit it. It keeps every element, also those that the caller does not know. The server writes
 * no attributes but the namespace, and no text next to elements.
 *
 * @throws S3Error MalformedXML
 */
export function readEditable(document: string): XmlNode {
  return new XmlScanner(document).read();
}

/** Writes an edited document, in the namespace of S3. */
export function writeEdited(root: XmlNode): string {
  return xmlDocument(root.name, root.children.map(writeElement));
}

function writeElement({ name, text, children }: XmlNode): Xml {
  return element(name, children.length === 0 ? text : children.map(writeElement));
}

/** Makes an element with a text or with other elements. */
export function newElement(name: string, content: string | readonly XmlNode[]): XmlNode {
  return typeof content === 'string' ? { name, text: content, children: [] } : { name, text: '', children: content };
}

/** Returns the first element at a path of names; undefined without one. */
export function elementAt(node: XmlNode, path: readonly string[]): XmlNode | undefined {
  return path.reduce<XmlNode | undefined>((at, name) => at?.children.find((one) => one.name === name), node);
}

/** Returns the text of the first element at a path; undefined without one. */
export function textAt(node: XmlNode, path: readonly string[]): string | undefined {
  return elementAt(node, path)?.text;
}

/** Returns the element with a text at a path, and with everything else as it was. It makes the elements of the path that are absent. */
export function withText(node: XmlNode, path: readonly string[], text: string): XmlNode {
  const [name, ...rest] = path;
  if (name === undefined) return { ...node, text };
  const found = elementAt(node, [name]);
  const next = withText(found ?? newElement(name, ''), rest, text);
  if (found === undefined) return { ...node, children: [...node.children, next] };
  return { ...node, children: node.children.map((one) => (one === found ? next : one)) };
}

/** Returns the element without the one at a path, and without the parents of that one that have nothing else. */
export function without(node: XmlNode, path: readonly string[]): XmlNode {
  const [name, ...rest] = path;
  const found = name === undefined ? undefined : elementAt(node, [name]);
  if (found === undefined) return node;
  const next = rest.length === 0 ? undefined : without(found, rest);
  if (next === found) return node;
  return {
    ...node,
    children: node.children.flatMap((one) => {
      if (one !== found) return [one];
      return next === undefined || next.children.length === 0 ? [] : [next];
    }),
  };
}

/** Returns the element with these ones in the place of all children of a name; the other children stay in their order. */
export function withAll(node: XmlNode, name: string, elements: readonly XmlNode[]): XmlNode {
  const at = node.children.findIndex((one) => one.name === name);
  const others = node.children.filter((one) => one.name !== name);
  const place = at < 0 ? others.length : at;
  return { ...node, children: [...others.slice(0, place), ...elements, ...others.slice(place)] };
}
