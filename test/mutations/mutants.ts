import { parseAst } from 'vite';

/** One planted defect: `text[start, end)` of the file becomes `replacement`. */
export interface Mutant {
  readonly file: string;
  readonly mutator: Mutator;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

/** The mutators, after those of StrykerJS (https://stryker-mutator.io/docs/mutation-testing-elements/supported-mutators/). */
export const mutators = [
  'negated condition',
  'comparison',
  'logical operator',
  'dropped await',
  'dropped call',
  'dropped throw',
  'dropped property',
  'boolean',
  'number',
] as const;
export type Mutator = (typeof mutators)[number];

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

const comparisons: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
};

/**
 * Every defect that the mutators can plant in a file, in the order of the text.
 *
 * @example mutantsOf('a.ts', 'if (a < b) throw e;').map(({ mutator }) => mutator)
 * // ['negated condition', 'comparison', 'dropped throw']
 */
export function mutantsOf(file: string, text: string): Mutant[] {
  const found: Mutant[] = [];
  const add = (mutator: Mutator, node: Node, replacement: string): void => {
    found.push({ file, mutator, start: node.start, end: node.end, replacement });
  };
  const source = (node: Node): string => text.slice(node.start, node.end);
  walk(parseAst(text, { lang: file.endsWith('x') ? 'tsx' : 'ts', astType: 'ts' }) as unknown as Node, (node) => {
    switch (node.type) {
      case 'IfStatement':
      case 'ConditionalExpression':
      case 'WhileStatement': {
        const test = node['test'] as Node;
        // The lint refuses `!(!a)`, whatever the tests say.
        const isNegated = test.type === 'UnaryExpression' && test['operator'] === '!';
        return add('negated condition', test, isNegated ? source(test['argument'] as Node) : `!(${source(test)})`);
      }
      case 'BinaryExpression': {
        const [left, right] = [node['left'] as Node, node['right'] as Node];
        const other = comparisons[node['operator'] as string];
        return other === undefined ? undefined : add('comparison', node, `${source(left)} ${other} ${source(right)}`);
      }
      case 'LogicalExpression': {
        const [left, right] = [node['left'] as Node, node['right'] as Node];
        const other = node['operator'] === '&&' ? '||' : '&&';
        return node['operator'] === '??'
          ? undefined
          : add('logical operator', node, `(${source(left)}) ${other} (${source(right)})`);
      }
      case 'AwaitExpression':
        return add('dropped await', node, source(node['argument'] as Node));
      case 'ThrowStatement':
        return add('dropped throw', node, ';');
      case 'ExpressionStatement': {
        const expression = node['expression'] as Node;
        const called = expression.type === 'AwaitExpression' ? (expression['argument'] as Node) : expression;
        if (called.type === 'CallExpression' && !/\blog\b|\bsuper\(/i.test(source(called).slice(0, 60)))
          add('dropped call', node, ';');
        return;
      }
      case 'ObjectExpression': {
        const properties = node['properties'] as Node[];
        for (const property of properties)
          if (property.type === 'Property') {
            const comma = /^\s*,/.exec(text.slice(property.end));
            add('dropped property', { ...property, end: property.end + (comma?.[0].length ?? 0) }, '');
          }
        return;
      }
      case 'Literal':
        if (typeof node['value'] === 'boolean') add('boolean', node, String(!node['value']));
        else if (typeof node['value'] === 'number') add('number', node, String(node['value'] + 1));
        return;
      default:
    }
  });
  return found.sort((a, b) => a.start - b.start || a.end - b.end);
}

/** The text with the defect in it. */
export function plant(text: string, { start, end, replacement }: Mutant): string {
  return text.slice(0, start) + replacement + text.slice(end);
}

/** Types are not walked: they do nothing when the program runs. */
function walk(node: Node, visit: (node: Node) => void): void {
  if (/^TS(?!AsExpression|NonNullExpression|SatisfiesExpression|ParameterProperty)/.test(node.type)) return;
  visit(node);
  for (const value of Object.values(node))
    for (const child of Array.isArray(value) ? (value as unknown[]) : [value]) if (isNode(child)) walk(child, visit);
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Partial<Node>).type === 'string';
}

/**
 * Picks mutants at random: the mutators take turns, so that rare ones (a dropped flush) come up beside the many conditions.
 * The same seed picks the same mutants from the same files.
 */
export function pickMutants(mutants: readonly Mutant[], count: number, seed: number): Mutant[] {
  const random = mulberry32(seed);
  const left = new Map(mutators.map((mutator) => [mutator, mutants.filter((mutant) => mutant.mutator === mutator)]));
  const picked: Mutant[] = [];
  while (picked.length < count && [...left.values()].some(({ length }) => length > 0))
    for (const candidates of left.values()) {
      const [mutant] = candidates.splice(Math.floor(random() * candidates.length), 1);
      if (mutant !== undefined && picked.length < count) picked.push(mutant);
    }
  return picked;
}

/** Numbers from 0 to 1 by a seed (Tommy Ettinger's Mulberry32). */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
