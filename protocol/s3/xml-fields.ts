import { malformed, type XmlNode } from './xml-reader.ts';

/** The single child of a name; undefined when there is none. */
export function child(node: XmlNode, name: string): XmlNode | undefined {
  const [found, ...more] = node.children.filter((one) => one.name === name);
  if (more.length > 0) throw malformed(`"${node.name}" has "${name}" more than once`);
  return found;
}

/** The text of a child as it is: keys may begin and end with spaces. */
export function textOf(node: XmlNode, name: string): string | undefined {
  return child(node, name)?.text;
}

export function requiredText(node: XmlNode, name: string): string {
  const text = textOf(node, name);
  if (text === undefined) throw malformed(`"${node.name}" lacks "${name}"`);
  return text;
}

/** All children of a name. */
export function childrenOf(node: XmlNode, name: string): XmlNode[] {
  return node.children.filter((one) => one.name === name);
}
