import { createElement, Fragment, type ReactNode } from 'react';
import { locale } from './language.ts';
import type { Forms } from './translated.ts';

/** The names in braces of a text. */
type Names<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never;

type Message = string | Forms;

/** The values that a message needs, by their names. */
type Values<M extends Message, Value> = Readonly<Record<Names<M extends Forms ? M['other'] : M & string>, Value>>;

const numbers = new Intl.NumberFormat(locale);
const plurals = new Intl.PluralRules(locale);

/**
 * Puts values into a text: `say(t.buckets.deleted, { name })`. A number is written as the language writes it, and the first number chooses
 * among the forms of a text.
 */
export function say<M extends Message>(message: M, values: Values<M, string | number>): string {
  return parts(message, values)
    .map((part) => (typeof part === 'number' ? numbers.format(part) : part))
    .join('');
}

/** `say`, or a function that renders the same values in another way. */
export type Say<Result> = <M extends Message>(message: M, values: Values<M, string | number>) => Result;

/** As `say`, with elements among the values. */
export function rich<M extends Message>(message: M, values: Values<M, ReactNode>): ReactNode {
  return parts(message, values).map((part, index) =>
    createElement(Fragment, { key: index }, typeof part === 'number' ? numbers.format(part) : part),
  );
}

function parts<Value>(message: Message, values: Readonly<Record<string, Value>>): readonly (Value | string)[] {
  return form(message, values)
    .split(/\{(\w+)\}/)
    .map((part, index) => (index % 2 === 0 ? part : (values[part] ?? '')));
}

function form(message: Message, values: Readonly<Record<string, unknown>>): string {
  if (typeof message === 'string') return message;
  const count = Object.values(values).find((value) => typeof value === 'number');
  return message[plurals.select(count ?? 0)] ?? message.other;
}

const lists = {
  and: new Intl.ListFormat(locale, { type: 'conjunction' }),
  or: new Intl.ListFormat(locale, { type: 'disjunction' }),
} as const;

/** Lists words: `a, b and c`. */
export function listed(words: readonly string[], by: keyof typeof lists): string {
  return lists[by].format(words);
}
