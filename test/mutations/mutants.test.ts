import { describe, expect, it } from 'vitest';
import { mutantsOf, pickMutants, plant } from './mutants.ts';

function planted(text: string): string[] {
  return mutantsOf('file.ts', text).map((mutant) => `${mutant.mutator}: ${plant(text, mutant)}`);
}

describe('mutantsOf', () => {
  it('negates conditions, shifts comparisons and drops what is thrown', () => {
    expect(planted('if (a < b) throw e;')).toEqual([
      'negated condition: if (!(a < b)) throw e;',
      'comparison: if (a <= b) throw e;',
      'dropped throw: if (a < b) ;',
    ]);
  });

  it('takes the negation off a negated condition', () => {
    expect(planted('if (!a) b();')).toContain('negated condition: if (a) b();');
  });

  it('drops the await, and the whole call', () => {
    expect(planted('await file.datasync();')).toEqual(['dropped await: file.datasync();', 'dropped call: ;']);
  });

  it('drops a property with its comma', () => {
    expect(planted('commit({ expect: revision, put });')).toContain('dropped property: commit({  put });');
  });

  it('swaps logical operators without changing what binds first', () => {
    expect(planted('x = a && b || c;')).toContain('logical operator: x = (a && b) && (c);');
  });

  it('changes booleans and numbers of the program, not of its types', () => {
    expect(planted('const x: 1 | true = f(2, false);')).toEqual([
      'number: const x: 1 | true = f(3, false);',
      'boolean: const x: 1 | true = f(2, true);',
    ]);
  });
});

describe('pickMutants', () => {
  const mutants = mutantsOf('file.ts', `${'if (a) b(1);\n'.repeat(50)}throw await c({ d: true });`);

  it('picks the same mutants for the same seed', () => {
    expect(pickMutants(mutants, 10, 7)).toEqual(pickMutants(mutants, 10, 7));
    expect(pickMutants(mutants, 10, 7)).not.toEqual(pickMutants(mutants, 10, 8));
  });

  it('picks rare kinds beside frequent ones, and none twice', () => {
    const picked = pickMutants(mutants, 20, 1);
    expect(picked.map(({ mutator }) => mutator)).toEqual(
      expect.arrayContaining(['dropped throw', 'dropped await', 'boolean']),
    );
    expect(new Set(picked)).toHaveLength(20);
  });

  it('picks all when there are not enough', () => {
    expect(pickMutants(mutants, 10_000, 1)).toHaveLength(mutants.length);
  });
});
