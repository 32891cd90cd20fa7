import { textAt, withAll, without, withText, newElement } from '../../../protocol/s3/xml-edit.ts';
import type { XmlNode } from '../../../protocol/s3/xml-reader.ts';

/** A field of a form whose value is in an element of a configuration document. */
export interface ElementField<Value> {
  readonly read: (element: XmlNode) => Value;
  /** Returns the element with the value; everything else stays. */
  readonly write: (element: XmlNode, value: Value) => XmlNode;
  /** The elements that the field edits, as `Expiration/Days`. All others are unknown to the form. */
  readonly paths: readonly string[];
}

type Fields<Values> = { readonly [Name in keyof Values]: ElementField<Values[Name]> };

/** The part of an element that a form shows, with the element itself, so that the rest of it is kept. */
export type Edited<Values> = Values & { readonly element: XmlNode };

/** The fields of a form. It reads an element, and writes what the user changed into it. */
export class ElementForm<Values extends object> {
  readonly #fields: Fields<Values>;

  constructor(fields: Fields<Values>) {
    this.#fields = fields;
  }

  read(element: XmlNode): Edited<Values> {
    const values = this.#names.map((name) => [name, this.#fields[name].read(element)]);
    return { ...(Object.fromEntries(values) as Values), element };
  }

  /** Returns the element with the fields that differ from it. Without a change it is the element that was read. */
  write({ element, ...values }: Edited<Values>): XmlNode {
    return this.#names.reduce((written, name) => {
      const field = this.#fields[name];
      const value = (values as unknown as Values)[name];
      return isSame(field.read(element), value) ? written : field.write(written, value);
    }, element);
  }

  /** Returns the parts of the element that no field edits, for example `Filter/Tag: team, red`. */
  unknown(element: XmlNode): readonly string[] {
    const known = new Set(this.#names.flatMap((name) => this.#fields[name].paths));
    return element.children.flatMap((child) => unknownIn(child, child.name, known));
  }

  get #names(): readonly (keyof Values)[] {
    return Object.keys(this.#fields) as (keyof Values)[];
  }
}

export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** The largest parts without a known element, so that a tag is one part, not two. */
function unknownIn(node: XmlNode, path: string, known: ReadonlySet<string>): readonly string[] {
  if (known.has(path)) return [];
  if (!hasKnown(node, path, known)) return [describe(node, path)];
  return node.children.flatMap((child) => unknownIn(child, `${path}/${child.name}`, known));
}

function hasKnown(node: XmlNode, path: string, known: ReadonlySet<string>): boolean {
  return known.has(path) || node.children.some((child) => hasKnown(child, `${path}/${child.name}`, known));
}

function describe(node: XmlNode, path: string): string {
  const [only, more] = node.children;
  if (only !== undefined && more === undefined) return describe(only, `${path}/${only.name}`);
  const texts = textsIn(node).filter((text) => text !== '');
  return texts.length === 0 ? path : `${path}: ${texts.join(', ')}`;
}

function textsIn({ text, children }: XmlNode): readonly string[] {
  return children.length === 0 ? [text] : children.flatMap(textsIn);
}

/** A text; the element is absent while it is empty. */
export function textField(...path: readonly string[]): ElementField<string> {
  return {
    read: (element) => textAt(element, path) ?? '',
    write: (element, text) => (text === '' ? without(element, path) : withText(element, path, text)),
    paths: [path.join('/')],
  };
}

/** A whole number; the element is absent while there is none. */
export function numberField(...path: readonly string[]): ElementField<number | undefined> {
  return {
    read: (element) => {
      const text = textAt(element, path);
      return text === undefined ? undefined : Number(text);
    },
    write: (element, value) => (value === undefined ? without(element, path) : withText(element, path, String(value))),
    paths: [path.join('/')],
  };
}

/** An element with the text `true`, which is absent for false. */
export function flagField(...path: readonly string[]): ElementField<boolean> {
  return {
    read: (element) => textAt(element, path) === 'true',
    write: (element, on) => (on ? withText(element, path, 'true') : without(element, path)),
    paths: [path.join('/')],
  };
}

/** An element `Status`, which says `Enabled` or `Disabled`. */
export function statusField(...path: readonly string[]): ElementField<boolean> {
  return {
    read: (element) => textAt(element, path) === 'Enabled',
    write: (element, on) => withText(element, path, on ? 'Enabled' : 'Disabled'),
    paths: [path.join('/')],
  };
}

/** All elements of a name. */
export function listField(name: string): ElementField<readonly string[]> {
  return {
    read: ({ children }) => children.filter((one) => one.name === name).map(({ text }) => text),
    write: (element, texts) =>
      withAll(
        element,
        name,
        texts.map((text) => newElement(name, text)),
      ),
    paths: [name],
  };
}

const prefixPaths = [['Prefix'], ['Filter', 'Prefix'], ['Filter', 'And', 'Prefix']] as const;

/** The prefix of a filter. S3 wants several conditions of a filter in an element `And`, and a single one outside of it. */
export const filterPrefix: ElementField<string> = {
  read: (element) => prefixPaths.map((path) => textAt(element, path)).find((text) => text !== undefined) ?? '',
  write: (element, prefix) => {
    // The older form has the prefix in the rule itself.
    if (textAt(element, ['Prefix']) !== undefined) return withText(element, ['Prefix'], prefix);
    const others = conditionsOf(element).filter(({ name }) => name !== 'Prefix');
    const conditions = [...(prefix === '' && others.length > 0 ? [] : [newElement('Prefix', prefix)]), ...others];
    const content = conditions.length === 1 ? conditions : [newElement('And', conditions)];
    return withAll(element, 'Filter', [newElement('Filter', content)]);
  },
  paths: prefixPaths.map((path) => path.join('/')),
};

/** The conditions of the filter of a rule. */
export function conditionsOf(element: XmlNode): readonly XmlNode[] {
  const filter = element.children.find(({ name }) => name === 'Filter');
  const and = filter?.children.find(({ name }) => name === 'And');
  return (and ?? filter)?.children ?? [];
}
