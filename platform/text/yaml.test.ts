import { describe, expect, it } from 'vitest';
import { parseYaml } from './yaml.ts';

const parse = (text: string, maxAliases = 100) => parseYaml(text, { maxAliases });

describe('parseYaml', () => {
  it('reads a document, with aliases up to the limit', () => {
    expect(parse('a: &x [1]\nb: *x')).toEqual({ a: [1], b: [1] });
    expect(() => parse('a: &x [1]\nb: *x', 0)).toThrow('more aliases than are allowed');
  });

  it.each([
    ['a: b\n  secret: hunter2: c', 'line 1, column 4: Nested mappings are not allowed in compact mappings'],
    ['a: b\na: hunter2', 'line 2, column 1: Map keys must be unique'],
    ['a: |hunter2\n b', 'line 1, column 5: a text that does not belong here'],
    ['a: !hunter2 x', 'line 1, column 4: a tag that does not exist'],
    ['%hunter2\n---\na: b', 'line 1, column 1: a directive that does not exist'],
    ['a: *hunter2', 'an alias of nothing'],
    ['hunter2: &x [*x]', 'an alias of the value that holds it'],
  ])('refuses %j without its text', (text, message) => {
    expect(() => parse(text)).toThrow(message);
    expect(() => parse(text)).toThrow(expect.objectContaining({ message: expect.not.stringContaining('hunter2') }));
  });
});
