import { isDeepStrictEqual } from 'node:util';
import { newElement, withAll } from '../../protocol/s3/xml-edit.ts';
import type { XmlNode } from '../../protocol/s3/xml-reader.ts';

/** The fields that a command shows of an element, in the JSON of other clients. Their names are those of the child elements. */
type Fields = Readonly<Record<string, unknown>>;

/**
 * Applies the difference of two sets of fields to the element that the first one was read from. Children whose field did not change stay as
 * they are, with all that no field shows.
 *
 * @param write - returns the elements of a field
 */
export function withFields(
  node: XmlNode,
  before: Fields,
  after: Fields,
  write: (name: string, value: unknown) => readonly XmlNode[],
): XmlNode {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].reduce((edited, name) => {
    const [was, is] = [before[name], after[name]];
    if (isDeepStrictEqual(was, is)) return edited;
    // Not all fields of a filter are elements: `Tags` is several of the name `Tag`.
    if (name === 'Filter')
      return withAll(
        edited,
        name,
        write(name, is).map((filter) => withOthers(filter, edited)),
      );
    const [only, ...more] = edited.children.filter((one) => one.name === name);
    if (only !== undefined && more.length === 0 && isFields(was) && isFields(is)) {
      return withAll(edited, name, [withFields(only, was, is, write)]);
    }
    return withAll(edited, name, is === undefined ? [] : write(name, is));
  }, node);
}

const knownInFilters = new Set(['And', 'Prefix', 'Tag', 'ObjectSizeGreaterThan', 'ObjectSizeLessThan']);

/** Returns a written filter with the elements of the filter before it that no field is made from. */
function withOthers(filter: XmlNode, { children }: XmlNode): XmlNode {
  const before = children.filter(({ name }) => name === 'Filter');
  const and = before.flatMap((one) => one.children).filter(({ name }) => name === 'And');
  const others = [...before, ...and].flatMap((one) => one.children).filter(({ name }) => !knownInFilters.has(name));
  const written = new Set(filter.children.flatMap((one) => [one, ...one.children]).map(({ name }) => name));
  return { ...filter, children: [...filter.children, ...others.filter(({ name }) => !written.has(name))] };
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The elements of a field. Several values are several elements, and what is undefined is none. */
export function elementsOf(name: string, value: unknown): readonly XmlNode[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((one) => elementsOf(name, one));
  if (isFields(value)) {
    return [
      newElement(
        name,
        Object.entries(value).flatMap(([inner, of]) => elementsOf(inner, of)),
      ),
    ];
  }
  return [newElement(name, typeof value === 'string' ? value : JSON.stringify(value))];
}
